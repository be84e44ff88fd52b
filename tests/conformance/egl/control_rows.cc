// SPDX-License-Identifier: MIT
// The arguments of the four calls that ANGLE ships: what is refused, with which error, in which
// order.
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <string>

#include "row.h"

namespace conformance {
namespace {

constexpr EGLint kResize = EGL_PROGRAM_CACHE_RESIZE_ANGLE;
constexpr EGLint kTrim = EGL_PROGRAM_CACHE_TRIM_ANGLE;

// All four calls with arguments that are right but for the display.
void expect_all(Verdict &verdict, EGLDisplay display, EGLint error, const std::string &what) {
    Key key = key_of(1);
    Bytes binary(8);
    EGLint key_size = 20;
    EGLint size = 8;
    verdict.expect(egl.GetAttrib(display, EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE) == 0,
                   what + ": GetAttrib returns something");
    verdict.expect_error(error, what + ": GetAttrib");
    egl.Query(display, 0, key.data(), &key_size, binary.data(), &size);
    verdict.expect_error(error, what + ": Query");
    egl.Populate(display, key.data(), 20, binary.data(), 8);
    verdict.expect_error(error, what + ": Populate");
    for (const EGLint mode : {kResize, kTrim}) {
        verdict.expect(egl.Resize(display, 100, mode) == 0, what + ": Resize returns something");
        verdict.expect_error(error, what + ": Resize");
    }
}

void no_display(Verdict &verdict) {
    expect_all(verdict, EGL_NO_DISPLAY, EGL_BAD_DISPLAY, "no display");
}

void not_a_display(Verdict &verdict) {
    int object = 0;
    expect_all(verdict, &object, EGL_BAD_DISPLAY, "another pointer");
}

void not_initialised(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    egl.Terminate(display);
    expect_all(verdict, display, EGL_NOT_INITIALIZED, "terminated");
}

void order_of_checks(Verdict &verdict) {
    // The display goes before everything else that is wrong.
    egl.GetAttrib(EGL_NO_DISPLAY, 0);
    verdict.expect_error(EGL_BAD_DISPLAY, "attribute");
    egl.Query(EGL_NO_DISPLAY, -1, nullptr, nullptr, nullptr, nullptr);
    verdict.expect_error(EGL_BAD_DISPLAY, "query");
    const EGLDisplay display = fresh_display();
    egl.Terminate(display);
    egl.Populate(display, nullptr, -1, nullptr, -1);
    verdict.expect_error(EGL_NOT_INITIALIZED, "populate");
    egl.Resize(display, -1, 0);
    verdict.expect_error(EGL_NOT_INITIALIZED, "resize");
}

void success_is_told(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    egl.GetAttrib(display, 0);  // an error that is not fetched
    count(display);
    verdict.expect_error(EGL_SUCCESS, "GetAttrib");
    egl.GetAttrib(display, 0);
    populate(display, 1, 8);
    verdict.expect_error(EGL_SUCCESS, "Populate");
    egl.GetAttrib(display, 0);
    EGLint key_size = 0;
    EGLint size = 0;
    egl.Query(display, 0, nullptr, &key_size, nullptr, &size);
    verdict.expect_error(EGL_SUCCESS, "Query");
    egl.GetAttrib(display, 0);
    egl.Resize(display, 100, kResize);
    verdict.expect_error(EGL_SUCCESS, "Resize");
}

void offered(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    const std::string words = std::string(" ") + egl.QueryString(display, EGL_EXTENSIONS) + " ";
    const std::string name = " EGL_ANGLE_program_cache_control ";
    verdict.expect(words.find(name) != std::string::npos, "the extension is not named");
    verdict.expect(words.find(name) == words.rfind(name), "it is named twice");
}

void attribute_size(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    verdict.expect(count(display) == 0, "a fresh cache has entries");
    populate(display, 1, 40);
    populate(display, 2, 40);
    verdict.expect(count(display) == 2, "two entries are not two");
}

void attribute_key_length(Verdict &verdict) {
    verdict.expect(egl.GetAttrib(fresh_display(), EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE) == 20,
                   "not 20");
}

void attribute_other(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const EGLenum name : {0u, 0x3457u, 0x3458u, 0x3459u, 0xffffffffu}) {
        verdict.expect(egl.GetAttrib(display, name) == 0, "a value");
        verdict.expect_error(EGL_BAD_PARAMETER, "attribute " + std::to_string(name));
    }
}

// A display with one entry of 8 bytes, and a query of it.
struct Query {
    EGLDisplay display = fresh_display();
    Key key = {};
    Bytes binary = Bytes(16, 0xee);
    EGLint key_size = 20;
    EGLint size = 16;

    Query() { populate(display, 1, 8); }
    void ask(EGLint index) {
        egl.Query(display, index, key.data(), &key_size, binary.data(), &size);
    }
    bool is_untouched() const { return key == Key{} && binary == Bytes(16, 0xee); }
};

void query_index(Verdict &verdict) {
    for (const EGLint index : {-1, 1, 1000, INT32_MIN, INT32_MAX}) {
        Query query;
        query.ask(index);
        verdict.expect_error(EGL_BAD_PARAMETER, "index " + std::to_string(index));
        verdict.expect(query.is_untouched() && query.size == 16, "something is written");
    }
}

void query_without_sizes(Verdict &verdict) {
    Query query;
    egl.Query(query.display, 0, nullptr, nullptr, nullptr, &query.size);
    verdict.expect_error(EGL_BAD_PARAMETER, "no key size");
    egl.Query(query.display, 0, nullptr, &query.key_size, nullptr, nullptr);
    verdict.expect_error(EGL_BAD_PARAMETER, "no binary size");
    egl.Query(query.display, 0, query.key.data(), nullptr, query.binary.data(), &query.size);
    verdict.expect_error(EGL_BAD_PARAMETER, "no key size, with buffers");
    verdict.expect(query.is_untouched(), "something is written");
}

void query_key_size(Verdict &verdict) {
    for (const EGLint size : {0, 19, 21, -1, INT32_MAX}) {
        Query query;
        query.key_size = size;
        query.ask(0);
        verdict.expect_error(EGL_BAD_PARAMETER, "key size " + std::to_string(size));
        verdict.expect(query.is_untouched(), "something is written");
    }
}

void query_one_buffer(Verdict &verdict) {
    Query query;
    egl.Query(query.display, 0, query.key.data(), &query.key_size, nullptr, &query.size);
    verdict.expect_error(EGL_BAD_PARAMETER, "key alone");
    egl.Query(query.display, 0, nullptr, &query.key_size, query.binary.data(), &query.size);
    verdict.expect_error(EGL_BAD_PARAMETER, "binary alone");
    verdict.expect(query.is_untouched(), "something is written");
}

void query_sizes(Verdict &verdict) {
    Query query;
    query.key_size = -5;
    query.size = -5;
    egl.Query(query.display, 0, nullptr, &query.key_size, nullptr, &query.size);
    verdict.expect_error(EGL_SUCCESS, "both null");
    verdict.expect(query.key_size == 20 && query.size == 8, "other sizes");
}

void query_too_small(Verdict &verdict) {
    Query query;
    query.size = 7;
    query.ask(0);
    verdict.expect_error(EGL_BAD_ACCESS, "7 of 8 bytes");
    verdict.expect(query.key == key_of(1), "the key is not written");
    verdict.expect(query.binary == Bytes(16, 0xee), "the binary is written");
    verdict.expect(query.size == 7, "the size is written");
}

void query_negative_size(Verdict &verdict) {
    Query query;
    query.size = -1;
    query.ask(0);
    verdict.expect_error(EGL_BAD_ACCESS, "size -1");
    verdict.expect(query.binary == Bytes(16, 0xee), "the binary is written");
}

void query_success(Verdict &verdict) {
    Query query;
    query.ask(0);
    verdict.expect_error(EGL_SUCCESS, "query");
    Bytes expected(16, 0xee);
    std::fill_n(expected.begin(), 8, uint8_t{1});
    verdict.expect(query.key == key_of(1), "another key");
    verdict.expect(query.binary == expected, "another binary, or more than it");
    verdict.expect(query.size == 8 && query.key_size == 20, "other sizes");
}

void populate_key_size(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    const Key key = key_of(1);
    const Bytes binary(8);
    for (const EGLint size : {0, 19, 21, -1, INT32_MAX}) {
        egl.Populate(display, key.data(), size, binary.data(), 8);
        verdict.expect_error(EGL_BAD_PARAMETER, "key size " + std::to_string(size));
    }
    verdict.expect(count(display) == 0, "something is kept");
}

void populate_null(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    const Key key = key_of(1);
    const Bytes binary(8);
    egl.Populate(display, nullptr, 20, binary.data(), 8);
    verdict.expect_error(EGL_BAD_PARAMETER, "no key");
    egl.Populate(display, key.data(), 20, nullptr, 8);
    verdict.expect_error(EGL_BAD_PARAMETER, "no binary");
    verdict.expect(count(display) == 0, "something is kept");
}

void populate_size(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    const Key key = key_of(1);
    const Bytes binary(8);
    for (const EGLint size : {0, -1, INT32_MIN, 0x4000001, INT32_MAX}) {
        egl.Populate(display, key.data(), 20, binary.data(), size);
        verdict.expect_error(EGL_BAD_PARAMETER, "binary size " + std::to_string(size));
    }
    verdict.expect(count(display) == 0, "something is kept");
}

void populate_largest(Verdict &verdict) {
    const EGLDisplay display = fresh_display(INT32_MAX);
    populate(display, 1, 0x4000000);
    verdict.expect_error(EGL_SUCCESS, "64 MiB");
    verdict.expect(count(display) == 1, "it is not kept");
    egl.Resize(display, 0, kResize);
}

size_t address_space() {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * 4096;
}

void populate_without_memory(Verdict &verdict) {
    const EGLDisplay display = fresh_display(INT32_MAX);
    const Key key = key_of(1);
    const Bytes binary(0x4000000);
    populate(display, 1, 8);
    rlimit before = {};
    getrlimit(RLIMIT_AS, &before);
    rlimit tight = before;
    tight.rlim_cur = address_space() + (8u << 20);
    setrlimit(RLIMIT_AS, &tight);
    egl.Populate(display, key.data(), 20, binary.data(), 0x4000000);
    const EGLint error = egl.GetError();
    setrlimit(RLIMIT_AS, &before);
    verdict.expect(error == EGL_BAD_ACCESS, "error " + std::to_string(error));
    verdict.expect(contents(display).at(0).binary.size() == 8, "the older entry is gone");
}

void resize_negative(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    populate(display, 1, 8);
    for (const EGLint mode : {kResize, kTrim}) {
        for (const EGLint limit : {-1, INT32_MIN}) {
            verdict.expect(egl.Resize(display, limit, mode) == 0, "a value");
            verdict.expect_error(EGL_BAD_PARAMETER, "limit " + std::to_string(limit));
        }
    }
    verdict.expect(count(display) == 1, "entries are gone");
}

void resize_mode(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    populate(display, 1, 8);
    for (const EGLint mode : {0, 0x3455, 0x3456, 0x3459, -1}) {
        verdict.expect(egl.Resize(display, 0, mode) == 0, "a value");
        verdict.expect_error(EGL_BAD_PARAMETER, "mode " + std::to_string(mode));
    }
    verdict.expect(count(display) == 1, "entries are gone");
}

void resize_largest(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    egl.Resize(display, INT32_MAX, kResize);
    verdict.expect_error(EGL_SUCCESS, "the largest limit");
    populate(display, 1, 8);
    verdict.expect(count(display) == 1, "it does not hold");
}

constexpr Row kRows[] = {
    {"all.no-display", Reference::same, no_display},
    {"all.not-a-display", Reference::same, not_a_display},
    {"all.not-initialised", Reference::same, not_initialised},
    {"all.order-of-checks", Reference::same, order_of_checks},
    {"all.success-is-told", Reference::same, success_is_told},
    {"all.offered", Reference::same, offered},
    {"get-attrib.size", Reference::same, attribute_size},
    {"get-attrib.key-length", Reference::same, attribute_key_length},
    {"get-attrib.other", Reference::same, attribute_other},
    {"query.index", Reference::same, query_index},
    {"query.size-pointer-null", Reference::same, query_without_sizes},
    {"query.key-size", Reference::same, query_key_size},
    {"query.one-buffer", Reference::same, query_one_buffer},
    {"query.both-null", Reference::same, query_sizes},
    {"query.too-small", Reference::same, query_too_small},
    {"query.negative-size", Reference::absent, query_negative_size},
    {"query.success", Reference::same, query_success},
    {"populate.key-size", Reference::same, populate_key_size},
    {"populate.null", Reference::same, populate_null},
    {"populate.size", Reference::same, populate_size},
    {"populate.largest", Reference::same, populate_largest},
    {"populate.no-memory", Reference::absent, populate_without_memory},
    {"resize.negative", Reference::same, resize_negative},
    {"resize.mode", Reference::same, resize_mode},
    {"resize.largest", Reference::same, resize_largest},
};

}  // namespace

void Verdict::expect_error(EGLint error, const std::string &what) {
    const EGLint got = egl.GetError();
    if (got != error) {
        char text[64];
        std::snprintf(text, sizeof text, ": error %#x, not %#x", static_cast<unsigned>(got),
                      static_cast<unsigned>(error));
        expect(false, what + text);
    }
    expect(egl.GetError() == EGL_SUCCESS, what + ": the error stays");
}

std::span<const Row> control_rows() {
    return kRows;
}

}  // namespace conformance
