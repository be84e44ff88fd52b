// SPDX-License-Identifier: MIT
// Contexts and links: who reads and writes the cache, what becomes of binaries that are not what
// they should be.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "row.h"

namespace conformance {
namespace {

constexpr EGLint kResize = EGL_PROGRAM_CACHE_RESIZE_ANGLE;
constexpr EGLint kEnabled = EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE;
constexpr EGLint kLarge = 1 << 24;

void attribute_value(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const EGLint value : {2, -1, 0x3038}) {
        verdict.expect(create_context(display, {kEnabled, value}) == EGL_NO_CONTEXT, "a context");
        verdict.expect_error(EGL_BAD_ATTRIBUTE, "value " + std::to_string(value));
    }
}

EGLint error_of(EGLDisplay display, EGLConfig config, EGLContext share, EGLint value) {
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, kEnabled, value, EGL_NONE};
    const EGLContext context = egl.CreateContext(display, config, share, attributes);
    const EGLint error = egl.GetError();
    if (context != EGL_NO_CONTEXT) {
        egl.DestroyContext(display, context);
    }
    return error;
}

// A mistake before the attributes is reported, as it is beside an attribute that is right.
void attribute_beside_errors(Verdict &verdict) {
    int object = 0;
    const EGLDisplay display = fresh_display();
    verdict.expect(error_of(display, &object, EGL_NO_CONTEXT, 2) == EGL_BAD_CONFIG, "a bad config");
    const EGLint share_error = error_of(display, EGL_NO_CONFIG_KHR, &object, EGL_TRUE);
    verdict.expect(share_error != EGL_SUCCESS && share_error != EGL_BAD_ATTRIBUTE &&
                       error_of(display, EGL_NO_CONFIG_KHR, &object, 2) == share_error,
                   "a bad context to share with");
    egl.Terminate(display);
    verdict.expect(error_of(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, 2) == EGL_NOT_INITIALIZED,
                   "not initialised");
    verdict.expect(error_of(EGL_NO_DISPLAY, &object, EGL_NO_CONTEXT, 2) == EGL_BAD_DISPLAY,
                   "no display");
}

void attribute_twice(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const EGLint last : {EGL_TRUE, EGL_FALSE}) {
        for (const EGLint first : {EGL_TRUE, EGL_FALSE, 2}) {
            const EGLContext context = create_context(display, {kEnabled, first, kEnabled, last});
            verdict.expect_error(EGL_SUCCESS, "a right one at the end");
            egl.MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
            verdict.expect(context != EGL_NO_CONTEXT && is_enabled() == (last == EGL_TRUE),
                           "not the last one counts");
            release_current(display);
            egl.DestroyContext(display, context);
        }
    }
    const EGLContext context = create_context(display, {kEnabled, EGL_TRUE, kEnabled, 2});
    verdict.expect(context == EGL_NO_CONTEXT, "a context, for the first one");
    verdict.expect_error(EGL_BAD_ATTRIBUTE, "a bad one at the end");
}

void attribute_accepted(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const EGLint value : {EGL_TRUE, EGL_FALSE}) {
        const EGLContext context = create_context(display, {kEnabled, value});
        verdict.expect_error(EGL_SUCCESS, "value " + std::to_string(value));
        verdict.expect(context != EGL_NO_CONTEXT, "no context");
        egl.DestroyContext(display, context);
    }
}

void attribute_absent(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    verdict.expect(is_enabled(), "not enabled");
    verdict.expect(link_once({}), "it does not link");
    verdict.expect(programs(display).size() == 1, "it is not kept");
}

void disabled_context(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    {
        const Context context(display, {kEnabled, EGL_FALSE});
        verdict.expect(!is_enabled(), "enabled");
        verdict.expect(link_once({}), "it does not link");
        verdict.expect(programs(display).empty(), "it writes");
    }
    Key key = {};
    {
        const Context context(display);
        link_once({});
        key = programs(display).at(0).key;
    }
    // A reader would find this to be nonsense, and replace it.
    const Bytes nonsense(100, 0x42);
    egl.Populate(display, key.data(), 20, nonsense.data(), 100);
    const Context context(display, {kEnabled, EGL_FALSE});
    verdict.expect(link_once({}), "it does not link the second time");
    verdict.expect(programs(display).at(0).binary == nonsense, "it reads");
}

void maximum_0_at_creation(Verdict &verdict) {
    const EGLDisplay display = fresh_display(0);
    const Context context(display, {kEnabled, EGL_TRUE});
    verdict.expect(!is_enabled(), "enabled");
    egl.Resize(display, kLarge, kResize);
    verdict.expect(!is_enabled(), "enabled later");
    verdict.expect(link_once({}), "it does not link");
    verdict.expect(programs(display).empty(), "it writes");
}

// Such a context may come to have functions for blobs: for ANGLE it always caches where it can.
void maximum_0_without_attribute(Verdict &verdict) {
    const EGLDisplay display = fresh_display(0);
    const Context context(display);
    verdict.expect(is_enabled(), "not enabled");
    verdict.expect(link_once({}), "it does not link");
    verdict.expect(programs(display).empty(), "it writes without room");
    egl.Resize(display, kLarge, kResize);
    verdict.expect(is_enabled(), "not enabled later");
    verdict.expect(link_once({}), "it does not link later");
    verdict.expect(programs(display).size() == 1, "it does not write later");
}

void maximum_0_later(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    egl.Resize(display, 0, kResize);
    verdict.expect(link_once({}), "it does not link");
    verdict.expect(programs(display).empty(), "it writes");
    egl.Resize(display, kLarge, kResize);
    verdict.expect(link_once({.variant = 3}), "it does not link later");
    verdict.expect(programs(display).size() == 1, "it does not write later");
}

void contexts_share(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    {
        const Context one(display);
        link_once({});
    }
    verdict.expect(programs(display).size() == 1, "destroying a context empties the cache");
    const Context other(display);
    verdict.expect(link_once({}), "it does not link");
    verdict.expect(programs(display).size() == 1, "the second context has its own");
}

bool lists_once(const std::vector<std::string> &words, const char *word) {
    return std::count(words.begin(), words.end(), word) == 1;
}

void extension_strings(Verdict &verdict) {
    const Context context(fresh_display());
    const char *name = "GL_ANGLE_program_cache_control";
    const std::string all =
        std::string(" ") + reinterpret_cast<const char *>(gl.GetString(GL_EXTENSIONS)) + " ";
    const std::string word = std::string(" ") + name + " ";
    verdict.expect(all.find(word) != std::string::npos && all.find(word) == all.rfind(word),
                   "glGetString does not name it once");
    GLint extensions = 0;
    gl.GetIntegerv(GL_NUM_EXTENSIONS, &extensions);
    std::vector<std::string> words;
    for (GLint i = 0; i < extensions; ++i) {
        const auto *text = gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
        words.emplace_back(text == nullptr ? "" : reinterpret_cast<const char *>(text));
    }
    verdict.expect(lists_once(words, name), "glGetStringi does not name it once");
    verdict.expect(std::count(words.begin(), words.end(), "") == 0, "a number has no name");
    verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
    gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(extensions));
    verdict.expect(gl.GetError() == GL_INVALID_VALUE, "there is one more than their number");
    GLint64 many = 0;
    GLfloat number = 0;
    gl.GetInteger64v(GL_NUM_EXTENSIONS, &many);
    gl.GetFloatv(GL_NUM_EXTENSIONS, &number);
    verdict.expect(many == extensions && number == static_cast<GLfloat>(extensions),
                   "their number is told differently");
}

void state(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const EGLint enabled : {EGL_TRUE, EGL_FALSE}) {
        const Context context(display, {kEnabled, enabled});
        const GLenum name = GL_PROGRAM_CACHE_ENABLED_ANGLE;
        GLboolean truth = 7;
        GLint number = 7;
        GLint64 large = 7;
        GLfloat real = 7;
        gl.GetBooleanv(name, &truth);
        gl.GetIntegerv(name, &number);
        gl.GetInteger64v(name, &large);
        gl.GetFloatv(name, &real);
        verdict.expect(truth == enabled, "glGetBooleanv");
        verdict.expect(number == enabled, "glGetIntegerv");
        verdict.expect(large == enabled, "glGetInteger64v");
        verdict.expect(real == static_cast<GLfloat>(enabled), "glGetFloatv");
        verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
    }
}

// Objects that are shared by contexts which compile differently are not cached.
void state_of_unlike_contexts(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    const Context context(display);
    verdict.expect(is_enabled(), "not enabled when alone");
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE,
                                 EGL_NONE};
    const EGLContext other =
        egl.CreateContext(display, EGL_NO_CONFIG_KHR, context.handle(), attributes);
    verdict.expect(other != EGL_NO_CONTEXT, "no context");
    verdict.expect(link_once({}) && programs(display).empty(), "it writes");
    verdict.expect(!is_enabled(), "enabled, and nothing is cached");
    egl.MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, other);
    verdict.expect(link_once({}) && programs(display).empty(), "the other one writes");
    verdict.expect(!is_enabled(), "the other one is enabled");
    release_current(display);
    egl.DestroyContext(display, other);
}

void state_is_enabled(Verdict &verdict) {
    const EGLDisplay display = fresh_display();
    for (const EGLint enabled : {EGL_TRUE, EGL_FALSE}) {
        const Context context(display, {kEnabled, enabled});
        verdict.expect(gl.IsEnabled(GL_PROGRAM_CACHE_ENABLED_ANGLE) == enabled, "glIsEnabled");
        verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
    }
}

bool names_control() {
    GLint extensions = 0;
    gl.GetIntegerv(GL_NUM_EXTENSIONS, &extensions);
    int found = 0;
    for (GLint i = 0; i < extensions; ++i) {
        const auto *text = gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
        found += text != nullptr && std::strcmp(reinterpret_cast<const char *>(text),
                                                "GL_ANGLE_program_cache_control") == 0;
    }
    return found == 1;
}

// Desktop OpenGL has one more form of state, and in the core profile one less of extensions.
void desktop(Verdict &verdict) {
    constexpr EGLint kProfile = EGL_CONTEXT_OPENGL_PROFILE_MASK;
    const auto get_double =
        reinterpret_cast<void (*)(GLenum, double *)>(egl.GetProcAddress("glGetDoublev"));
    const EGLDisplay display = fresh_display();
    if (egl.BindAPI(EGL_OPENGL_API) == EGL_FALSE) {
        return verdict.cannot("there is no OpenGL, but only OpenGL ES");
    }
    for (const EGLint profile :
         {EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT}) {
        const EGLContext context =
            create_context(display, {EGL_CONTEXT_MINOR_VERSION, 3, kProfile, profile});
        egl.MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
        double value = 7;
        double number = 0;
        GLint extensions = 0;
        get_double(GL_PROGRAM_CACHE_ENABLED_ANGLE, &value);
        get_double(GL_NUM_EXTENSIONS, &number);
        gl.GetIntegerv(GL_NUM_EXTENSIONS, &extensions);
        verdict.expect(value == 1.0, "glGetDoublev");
        verdict.expect(number == extensions, "glGetDoublev of GL_NUM_EXTENSIONS");
        verdict.expect(names_control(), "glGetStringi does not name it once");
        verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
        const bool is_core = profile == EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT;
        const auto *text = reinterpret_cast<const char *>(gl.GetString(GL_EXTENSIONS));
        verdict.expect(gl.GetError() == (is_core ? GL_INVALID_ENUM : GL_NO_ERROR), "glGetString");
        const bool is_named =
            text != nullptr && std::strstr(text, " GL_ANGLE_program_cache_control") != nullptr;
        verdict.expect(is_named == !is_core, "glGetString gives something else");
        release_current(display);
        egl.DestroyContext(display, context);
    }
    egl.BindAPI(EGL_OPENGL_ES_API);
}

// An application can populate every entry that it enumerates: a shader alone is no use to a link.
void programs_only(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    link_once({.variant = 21});
    verdict.expect(count(display) == 1, "there is more than the program");
}

void state_is_not_settable(Verdict &verdict) {
    const Context context(fresh_display(), {kEnabled, EGL_FALSE});
    gl.Enable(GL_PROGRAM_CACHE_ENABLED_ANGLE);
    verdict.expect(gl.GetError() == GL_INVALID_ENUM, "no GL error");
    verdict.expect(!is_enabled(), "it was set");
}

void failed_links(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    verdict.expect(!link_once({.is_broken = true}), "it links");
    verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
    verdict.expect(programs(display).empty(), "it is kept");
}

void hit_moves_to_front(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    link_once({});
    const Key key = programs(display).at(0).key;
    populate(display, 1, 40);
    verdict.expect(programs(display).at(0).key == key_of(1), "the newest is not in front");
    link_once({});
    verdict.expect(programs(display).at(0).key == key, "a hit is not in front");
}

// Links a program, changes what is kept of it, and links it again.
template <typename Change>
void expect_replaced(Verdict &verdict, const std::string &what, Change change) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    const Source source = {.variant = 77};
    verdict.expect(link_once(source), what + ": it does not link");
    const Entry good = programs(display).at(0);
    Bytes bad = good.binary;
    change(bad);
    egl.Populate(display, good.key.data(), 20, bad.data(), static_cast<EGLint>(bad.size()));
    verdict.expect(programs(display).at(0).binary == bad, what + ": it is not kept as it is");
    const GLuint program = link(source);
    GLint linked = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    verdict.expect(linked == GL_TRUE, what + ": it does not link again");
    verdict.expect(drawn_by(program) == 77, what + ": another picture");
    verdict.expect(gl.GetError() == GL_NO_ERROR, what + ": a GL error");
    gl.DeleteProgram(program);
    verdict.expect(programs(display).size() == 1, what + ": the count is another");
    const std::vector<Entry> now = programs(display);
    verdict.expect(now.size() == 1 && now[0].key == good.key && now[0].binary != bad,
                   what + ": it is not replaced");
}

void flipped(Verdict &verdict) {
    for (const size_t place : {size_t{0}, size_t{10}, size_t{30}, size_t{60}}) {
        expect_replaced(verdict, "byte " + std::to_string(place),
                        [place](Bytes &bytes) { bytes.at(place) ^= 0x10; });
    }
    expect_replaced(verdict, "the last byte", [](Bytes &bytes) { bytes.back() ^= 0x10; });
    expect_replaced(verdict, "the middle", [](Bytes &bytes) { bytes[bytes.size() / 2] ^= 0x10; });
}

void truncated(Verdict &verdict) {
    expect_replaced(verdict, "one byte less", [](Bytes &bytes) { bytes.pop_back(); });
    expect_replaced(verdict, "half", [](Bytes &bytes) { bytes.resize(bytes.size() / 2); });
    expect_replaced(verdict, "one byte", [](Bytes &bytes) { bytes.resize(1); });
}

void garbage(Verdict &verdict) {
    expect_replaced(verdict, "zeros", [](Bytes &bytes) { bytes.assign(1000, 0); });
    expect_replaced(verdict, "noise", [](Bytes &bytes) {
        uint32_t state = 1;
        for (uint8_t &byte : bytes) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<uint8_t>(state >> 24);
        }
    });
}

// Another program's binary is whole, and not what the key names.
void of_another_program(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    link_once({.variant = 1});
    const Bytes other = programs(display).at(0).binary;
    expect_replaced(verdict, "another program's", [&](Bytes &bytes) { bytes = other; });
}

void comes_back(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    const Source source = {.variant = 55};
    link_once(source);
    const Entry entry = programs(display).at(0);
    egl.Resize(display, kLarge, kResize);
    egl.Populate(display, entry.key.data(), 20, entry.binary.data(),
                 static_cast<EGLint>(entry.binary.size()));
    const GLuint program = link(source);
    verdict.expect(drawn_by(program) == 55, "another picture");
    gl.DeleteProgram(program);
    const std::vector<Entry> now = programs(display);
    verdict.expect(now.size() == 1 && now[0].binary == entry.binary, "it was replaced");
}

constexpr Row kRows[] = {
    {"context.attribute-value", Reference::same, attribute_value},
    {"context.attribute-beside-errors", Reference::same, attribute_beside_errors},
    {"context.attribute-twice", Reference::same, attribute_twice},
    {"context.attribute-accepted", Reference::same, attribute_accepted},
    {"context.attribute-absent", Reference::same, attribute_absent},
    {"context.disabled", Reference::same, disabled_context},
    {"context.maximum-0-at-creation", Reference::same, maximum_0_at_creation},
    {"context.maximum-0-without-attribute", Reference::same, maximum_0_without_attribute},
    {"context.maximum-0-later", Reference::same, maximum_0_later},
    {"context.shared-by-display", Reference::same, contexts_share},
    {"gl.extension-strings", Reference::same, extension_strings},
    {"gl.enabled", Reference::same, state},
    {"gl.enabled-unlike", Reference::differs, state_of_unlike_contexts},
    {"gl.desktop", Reference::absent, desktop},
    // The extension of GL says so, and ANGLE's own validation does not know it.
    {"gl.is-enabled", Reference::differs, state_is_enabled},
    {"gl.not-settable", Reference::same, state_is_not_settable},
    // Since 2023 ANGLE keeps compiled shaders in the same cache.
    {"link.programs-only", Reference::differs, programs_only},
    {"link.failed", Reference::same, failed_links},
    {"link.hit-moves-to-front", Reference::same, hit_moves_to_front},
    {"link.populated", Reference::same, comes_back},
    {"invalid.flipped", Reference::same, flipped},
    {"invalid.truncated", Reference::same, truncated},
    {"invalid.garbage", Reference::same, garbage},
    // ANGLE draws the other program.
    {"invalid.another-program", Reference::differs, of_another_program},
};

}  // namespace

std::span<const Row> context_rows() {
    return kRows;
}

}  // namespace conformance
