// SPDX-License-Identifier: MIT
// The calls of the first draft, which nobody but Cairn offers, and its display attribute.
#include <algorithm>
#include <cstring>

#include "row.h"

namespace conformance {
namespace {

constexpr EGLAttrib kMaximum = EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE;

EGLDisplay with_one_entry() {
    const EGLDisplay display = fresh_display();
    populate(display, 1, 8);
    return display;
}

void display_checks(Verdict &verdict) {
    EGLint value = 5;
    Key key = key_of(1);
    Bytes binary(8);
    EGLint key_size = 20;
    EGLint size = 8;
    const EGLDisplay terminated = fresh_display();
    egl.Terminate(terminated);
    for (const auto &[display, error] : {std::pair<EGLDisplay, EGLint>{nullptr, EGL_BAD_DISPLAY},
                                         {&value, EGL_BAD_DISPLAY},
                                         {terminated, EGL_NOT_INITIALIZED}}) {
        egl.DraftGetAttrib(display, EGL_PROGRAM_CACHE_SIZE_ANGLE, &value);
        verdict.expect_error(error, "GetProgramCacheAttrib");
        egl.DraftQuery(display, 0, key.data(), &key_size, binary.data(), &size);
        verdict.expect_error(error, "QueryProgramCache");
        egl.DraftPopulate(display, key.data(), 20, binary.data(), 8);
        verdict.expect_error(error, "PopulateProgramCache");
        verdict.expect(egl.DraftTrim(display, 0) == 0, "TrimProgramCache returns something");
        verdict.expect_error(error, "TrimProgramCache");
    }
    verdict.expect(value == 5, "a value is written");
}

void attributes(Verdict &verdict) {
    const EGLDisplay display = with_one_entry();
    EGLint value = 5;
    egl.DraftGetAttrib(display, EGL_PROGRAM_CACHE_SIZE_ANGLE, &value);
    verdict.expect_error(EGL_SUCCESS, "size");
    verdict.expect(value == 1, "not one entry");
    egl.DraftGetAttrib(display, EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE, &value);
    verdict.expect(value == 20, "not 20 bytes");
}

void other_attribute(Verdict &verdict) {
    const EGLDisplay display = with_one_entry();
    EGLint value = 5;
    egl.DraftGetAttrib(display, EGL_PROGRAM_CACHE_RESIZE_ANGLE, &value);
    verdict.expect_error(EGL_BAD_ATTRIBUTE, "another attribute");
    verdict.expect(value == 5, "a value is written");
    egl.DraftGetAttrib(display, EGL_PROGRAM_CACHE_SIZE_ANGLE, nullptr);
    verdict.expect_error(EGL_BAD_PARAMETER, "no place for the value");
}

void query_errors(Verdict &verdict) {
    const EGLDisplay display = with_one_entry();
    Key key = {};
    Bytes binary(8);
    EGLint key_size = 20;
    EGLint size = 8;
    for (const EGLint index : {-1, 1}) {
        egl.DraftQuery(display, index, key.data(), &key_size, binary.data(), &size);
        verdict.expect_error(EGL_BAD_PARAMETER, "index " + std::to_string(index));
    }
    egl.DraftQuery(display, 0, key.data(), nullptr, binary.data(), &size);
    verdict.expect_error(EGL_BAD_PARAMETER, "no key size");
    egl.DraftQuery(display, 0, key.data(), &key_size, binary.data(), nullptr);
    verdict.expect_error(EGL_BAD_PARAMETER, "no size");
    egl.DraftQuery(display, 0, nullptr, &key_size, binary.data(), &size);
    verdict.expect_error(EGL_BAD_PARAMETER, "no key");
    egl.DraftQuery(display, 0, key.data(), &key_size, nullptr, &size);
    verdict.expect_error(EGL_BAD_PARAMETER, "no binary");
    verdict.expect(key == Key{}, "a key is written");
}

void query_too_small(Verdict &verdict) {
    const EGLDisplay display = with_one_entry();
    for (const auto &[key_size, size] :
         {std::pair<EGLint, EGLint>{20, 7}, {19, 8}, {-1, 8}, {20, -1}}) {
        Key key = {};
        Bytes binary(8, 0xee);
        EGLint key_room = key_size;
        EGLint room = size;
        egl.DraftQuery(display, 0, key.data(), &key_room, binary.data(), &room);
        verdict.expect_error(EGL_BAD_ACCESS, "too small");
        verdict.expect(key == Key{} && binary == Bytes(8, 0xee), "something is written");
        verdict.expect(key_room == key_size && room == size, "a size is written");
    }
}

void query_works(Verdict &verdict) {
    const EGLDisplay display = with_one_entry();
    std::array<uint8_t, 40> key = {};
    Bytes binary(20);
    EGLint key_size = 40;
    EGLint size = 20;
    egl.DraftQuery(display, 0, key.data(), &key_size, binary.data(), &size);
    verdict.expect_error(EGL_SUCCESS, "larger buffers");
    verdict.expect(key_size == 20 && size == 8, "other sizes");
    verdict.expect(std::memcmp(key.data(), key_of(1).data(), 20) == 0, "another key");
    verdict.expect(binary[7] == 1 && binary[8] == 0, "another binary");
    key_size = size = -3;
    egl.DraftQuery(display, 0, nullptr, &key_size, nullptr, &size);
    verdict.expect(key_size == 20 && size == 8, "sizes alone are others");
}

void populate_errors(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    Key key = key_of(1);
    Bytes binary(8);
    egl.DraftPopulate(display, key.data(), 19, binary.data(), 8);
    verdict.expect_error(EGL_BAD_PARAMETER, "key size");
    egl.DraftPopulate(display, nullptr, 20, binary.data(), 8);
    verdict.expect_error(EGL_BAD_PARAMETER, "no key");
    egl.DraftPopulate(display, key.data(), 20, nullptr, 8);
    verdict.expect_error(EGL_BAD_PARAMETER, "no binary");
    for (const EGLint size : {-1, 0x4000001}) {
        egl.DraftPopulate(display, key.data(), 20, binary.data(), size);
        verdict.expect_error(EGL_BAD_PARAMETER, "size " + std::to_string(size));
    }
    verdict.expect(count(display) == 0, "something is kept");
}

void populate_empty(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    Key key = key_of(1);
    egl.DraftPopulate(display, key.data(), 20, key.data(), 0);
    verdict.expect_error(EGL_SUCCESS, "no bytes");
    verdict.expect(count(display) == 1, "it is not kept");
    EGLint key_size = 0;
    EGLint size = 5;
    egl.DraftQuery(display, 0, nullptr, &key_size, nullptr, &size);
    verdict.expect(size == 0, "it has a size");
    verdict.expect(egl.Resize(display, 100, EGL_PROGRAM_CACHE_RESIZE_ANGLE) == 0, "it has bytes");
    verdict.expect(count(display) == 0, "it is not discarded");
}

void trim(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    populate(display, 1, 20);
    populate(display, 2, 20);
    verdict.expect(egl.DraftTrim(display, -1) == 0, "a value for a limit below 0");
    verdict.expect_error(EGL_BAD_PARAMETER, "a limit below 0");
    verdict.expect(egl.DraftTrim(display, 40) == 0, "40 of 40 are too many");
    verdict.expect(egl.DraftTrim(display, 39) == 20, "not 20 bytes are freed");
    verdict.expect_error(EGL_SUCCESS, "trim");
    verdict.expect(order(display) == std::vector<int>{2}, "not the oldest went");
}

void display_attribute(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    verdict.expect(get_display({kMaximum, 100}) == display, "it is another display");
    egl.Initialize(display, nullptr, nullptr);
    populate(display, 1, 101);
    verdict.expect(count(display) == 0, "101 bytes in 100");
    populate(display, 1, 100);
    verdict.expect(count(display) == 1, "not 100 bytes in 100");
    get_display({kMaximum, 0});
    populate(display, 1, 1);
    verdict.expect(count(display) == 0, "0 does not switch it off");
    {
        const Context context(display, {EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE, EGL_TRUE});
        verdict.expect(!is_enabled(), "0 leaves contexts enabled");
    }
    const Context context(display);
    verdict.expect(link_once({}) && count(display) == 0, "a program is kept");
}

void display_attribute_errors(Verdict &verdict) {
    fresh_display(1234);
    verdict.expect(get_display({kMaximum, -1}) == EGL_NO_DISPLAY, "a display");
    verdict.expect_error(EGL_BAD_ATTRIBUTE, "a maximum below 0");
    verdict.expect(egl.GetError() == EGL_SUCCESS, "the error stays");
}

constexpr Row kRows[] = {
    {"draft.display", Reference::absent, display_checks},
    {"draft.get-attrib", Reference::absent, attributes},
    {"draft.get-attrib-other", Reference::absent, other_attribute},
    {"draft.query-errors", Reference::absent, query_errors},
    {"draft.query-too-small", Reference::absent, query_too_small},
    {"draft.query", Reference::absent, query_works},
    {"draft.populate-errors", Reference::absent, populate_errors},
    {"draft.populate-empty", Reference::absent, populate_empty},
    {"draft.trim", Reference::absent, trim},
    {"draft.display-maximum", Reference::absent, display_attribute},
    {"draft.display-maximum-errors", Reference::absent, display_attribute_errors},
};

}  // namespace

std::span<const Row> draft_rows() {
    return kRows;
}

}  // namespace conformance
