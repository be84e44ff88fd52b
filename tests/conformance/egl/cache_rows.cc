// SPDX-License-Identifier: MIT
// The entries of a display's cache, their order, and how their bytes are counted.
#include <cstring>

#include "row.h"

namespace conformance {
namespace {

constexpr EGLint kResize = EGL_PROGRAM_CACHE_RESIZE_ANGLE;
constexpr EGLint kTrim = EGL_PROGRAM_CACHE_TRIM_ANGLE;

using Order = std::vector<int>;

void newest_first(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const int number : {1, 2, 3}) {
        populate(display, number, 40);
    }
    verdict.expect(order(display) == Order({3, 2, 1}), "another order");
}

void query_leaves_order(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const int number : {1, 2, 3}) {
        populate(display, number, 40);
    }
    Key key = {};
    Bytes binary(40);
    EGLint key_size = 20;
    EGLint size = 40;
    egl.Query(display, 2, key.data(), &key_size, binary.data(), &size);
    verdict.expect(order(display) == Order({3, 2, 1}), "another order");
    verdict.expect(egl.Resize(display, 80, kTrim) == 40, "another entry goes");
    verdict.expect(order(display) == Order({3, 2}), "not the oldest went");
}

void replace(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    populate(display, 1, 40);
    populate(display, 2, 40);
    populate(display, 1, 10);
    verdict.expect(order(display) == Order({1, 2}), "it is not in front");
    verdict.expect(contents(display).at(0).binary.size() == 10, "it is not replaced");
    populate(display, 3, 50);
    verdict.expect(count(display) == 3, "it is not counted anew");
}

void counts_values_only(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    for (const int number : {1, 2, 3}) {
        populate(display, number, 40);
    }
    verdict.expect(order(display) == Order({3, 2}), "three of 40 bytes in 100 do not keep two");
    verdict.expect(egl.Resize(display, 100, kResize) == 80, "not 80 bytes");
}

void as_large_as_the_limit(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    populate(display, 1, 40);
    populate(display, 2, 40);
    populate(display, 3, 100);
    verdict.expect_error(EGL_SUCCESS, "100 bytes in 100");
    verdict.expect(order(display) == Order({3}), "it is not alone");
}

void larger_than_the_limit(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    populate(display, 1, 40);
    populate(display, 2, 40);
    populate(display, 1, 101);
    verdict.expect_error(EGL_SUCCESS, "101 bytes in 100");
    verdict.expect(order(display) == Order({2, 1}), "the older entries are not as they were");
    verdict.expect(contents(display).at(1).binary.size() == 40, "the entry is another");
}

void switched_off(Verdict &verdict) {
    const EGLDisplay display = fresh_display(0);
    populate(display, 1, 1);
    verdict.expect_error(EGL_SUCCESS, "populate");
    verdict.expect(count(display) == 0, "it is kept");
}

void resize_discards(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    populate(display, 1, 40);
    populate(display, 2, 30);
    verdict.expect(egl.Resize(display, 1000, kResize) == 70, "not the bytes held before");
    verdict.expect(count(display) == 0, "entries are left");
    populate(display, 3, 1000);
    verdict.expect(count(display) == 1, "the maximum is not the new one");
    verdict.expect(egl.Resize(display, 10, kResize) == 1000, "not the bytes held before");
    populate(display, 3, 11);
    verdict.expect(count(display) == 0, "the maximum is not the new one");
}

void trim_frees_the_oldest(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    for (const int number : {1, 2}) {
        populate(display, number, 20);
    }
    verdict.expect(egl.Resize(display, 40, kTrim) == 0, "40 of 40 bytes are too many");
    verdict.expect(egl.Resize(display, 39, kTrim) == 20, "not 20 bytes are freed");
    verdict.expect(order(display) == Order({2}), "not the oldest went");
    verdict.expect(egl.Resize(display, 0, kTrim) == 20, "not all is freed");
    verdict.expect(count(display) == 0, "something is left");
}

void trim_keeps_the_limit(Verdict &verdict) {
    const EGLDisplay display = fresh_display(100);
    populate(display, 1, 50);
    egl.Resize(display, 0, kTrim);
    populate(display, 1, 100);
    verdict.expect(count(display) == 1, "the maximum is lower");
    egl.Resize(display, 5000, kTrim);
    populate(display, 2, 101);
    verdict.expect(order(display) == Order({1}), "the maximum is higher");
}

void terminate_empties(Verdict &verdict) {
    EGLDisplay display = fresh_display(100);
    populate(display, 1, 50);
    egl.Terminate(display);
    egl.Initialize(display, nullptr, nullptr);
    verdict.expect(count(display) == 0, "entries are left");
    populate(display, 1, 100);
    populate(display, 2, 101);
    verdict.expect(order(display) == Order({1}), "the maximum is another");
}

bool is_initialised(EGLDisplay display) {
    const bool is = egl.QueryString(display, EGL_VERSION) != nullptr;
    egl.GetError();
    return is;
}

// The display ends when it is terminated or, with some drivers, when nothing is current any more.
void terminate_while_current(Verdict &verdict) {
    const EGLDisplay display = fresh_display(1 << 20);
    {
        const Context context(display);
        link_once({});
        egl.Terminate(display);
        // Kept or not, it is of the display that has ended.
        link_once({.variant = 1});
        release_current(display);
    }
    verdict.expect(!is_initialised(display), "it has not ended");
    egl.Initialize(display, nullptr, nullptr);
    verdict.expect(count(display) == 0, "entries are left");
    populate(display, 1, 1 << 20);
    populate(display, 2, (1 << 20) + 1);
    verdict.expect(order(display) == Order({1}), "the maximum is another");
}

// ANGLE's displays go on until then.
void terminate_ends_at_once(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    const Context context(display);
    populate(display, 1, 50);
    egl.Terminate(display);
    if (subject == Subject::cairn && is_initialised(display)) {
        const bool is_kept = count(display) == 1;
        verdict.expect(is_kept, "the driver's display is there, its entries are not");
        return verdict.cannot(is_kept ? "the driver says that it is initialised" : "");
    }
    verdict.expect(count(display) == 0, "there are entries");
    verdict.expect_error(EGL_NOT_INITIALIZED, "after eglTerminate");
}

void bounds_entries(Verdict &verdict) {
    constexpr int kMost = 65536;
    const EGLDisplay display = fresh_display(1 << 20);
    Key key = {};
    for (int number = 0; number <= kMost; ++number) {
        std::memcpy(key.data(), &number, sizeof number);
        egl.Populate(display, key.data(), 20, key.data(), 1);
    }
    verdict.expect(count(display) == kMost, "there are " + std::to_string(count(display)));
    EGLint key_size = 20;
    EGLint size = 20;
    Bytes binary(20);
    egl.Query(display, kMost - 1, key.data(), &key_size, binary.data(), &size);
    int oldest = 0;
    std::memcpy(&oldest, key.data(), sizeof oldest);
    verdict.expect(oldest == 1, "not the oldest went");
}

constexpr Row kRows[] = {
    {"order.newest-first", Reference::same, newest_first},
    {"order.query-leaves-it", Reference::same, query_leaves_order},
    {"populate.replace", Reference::same, replace},
    {"bytes.values-only", Reference::same, counts_values_only},
    {"bytes.equal-to-maximum", Reference::same, as_large_as_the_limit},
    {"bytes.above-maximum", Reference::same, larger_than_the_limit},
    {"bytes.maximum-0", Reference::same, switched_off},
    {"resize.discards", Reference::same, resize_discards},
    {"trim.oldest-first", Reference::same, trim_frees_the_oldest},
    {"trim.keeps-maximum", Reference::same, trim_keeps_the_limit},
    {"entries.maximum", Reference::differs, bounds_entries},
    {"terminate.empties", Reference::same, terminate_empties},
    {"terminate.while-current", Reference::same, terminate_while_current},
    {"terminate.at-once", Reference::differs, terminate_ends_at_once},
};

}  // namespace

std::span<const Row> cache_rows() {
    return kRows;
}

}  // namespace conformance
