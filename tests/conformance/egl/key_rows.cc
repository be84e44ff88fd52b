// SPDX-License-Identifier: MIT
// Changes that make a program another one for the cache, and changes that do not.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "row.h"

namespace conformance {
namespace {

constexpr EGLint kLarge = 1 << 24;

void keys(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    const std::vector<std::pair<const char *, Source>> kinds = {
        {"a program", {}},
        {"another source", {.variant = 9}},
        {"a comment", {.comment = "x"}},
        {"an attribute binding", {.bound = "corner"}},
        {"another attribute's binding", {.bound = "other"}},
        {"an output location", {.output = 1}},
        {"a varying for transform feedback", {.has_varying = true}},
    };
    size_t entries = 0;
    for (const auto &[what, source] : kinds) {
        verdict.expect(link_once(source), std::string(what) + " does not link");
        verdict.expect(programs(display).size() == ++entries,
                       std::string(what) + " gives no new key");
    }
    for (const auto &[what, source] : kinds) {
        link_once(source);
        verdict.expect(programs(display).size() == entries,
                       std::string(what) + ", again, gives a new key");
    }
}

struct Described {
    const char *what;
    Source source;
};

// These are one program: linking them one after the other makes one entry, and each is right.
void expect_one_program(Verdict &verdict, const std::vector<Described> &all) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    for (const auto &[what, source] : all) {
        const GLuint program = link(source);
        verdict.expect(drawn_by(program) == source.variant, std::string(what) + ": other picture");
        gl.DeleteProgram(program);
        verdict.expect(programs(display).size() == 1, std::string(what) + ": not one entry");
    }
    verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
}

// These differ: each has an entry of its own.
void expect_different_programs(Verdict &verdict, const std::vector<Described> &all) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    size_t entries = 0;
    for (const auto &[what, source] : all) {
        verdict.expect(link_once(source), std::string(what) + " does not link");
        verdict.expect(programs(display).size() == ++entries,
                       std::string(what) + " gives no new key");
    }
}

// In OpenGL ES nothing can be included, whatever a source says.
void include_in_comment(Verdict &verdict) {
    for (const char *comment :
         {"includes", "#include <x>", "#extension GL_ARB_shading_language_include"}) {
        expect_one_program(verdict,
                           {{comment, {.comment = comment}}, {"again", {.comment = comment}}});
    }
}

void superseded_binding(Verdict &verdict) {
    const auto other_first = [](GLuint program) {
        gl.BindAttribLocation(program, 5, "corner");
        gl.BindAttribLocation(program, 1, "other");
        gl.BindAttribLocation(program, 3, "corner");
        gl.BindAttribLocation(program, 2, "other");
        gl.BindAttribLocation(program, 1, "other");
    };
    const auto once = [](GLuint program) {
        gl.BindAttribLocation(program, 1, "other");
        gl.BindAttribLocation(program, 3, "corner");
    };
    const auto elsewhere = [](GLuint program) {
        gl.BindAttribLocation(program, 3, "corner");
        gl.BindAttribLocation(program, 1, "other");
        gl.BindAttribLocation(program, 5, "corner");
    };
    expect_one_program(verdict, {{"bound once", {.prepare = once}},
                                 {"bound elsewhere before", {.prepare = other_first}}});
    expect_different_programs(
        verdict, {{"bound", {.prepare = once}}, {"bound elsewhere later", {.prepare = elsewhere}}});
}

// A call that is refused takes nothing back.
void refused_binding(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    const auto refused = [](GLuint program) { gl.BindAttribLocation(program, 5000, "corner"); };
    for (const char *name : {static_cast<const char *>(nullptr), "corner"}) {
        const GLuint program = link({.bound = name, .prepare = refused});
        verdict.expect(gl.GetError() == GL_INVALID_VALUE, "location 5000 is accepted");
        const bool is_bound = gl.GetAttribLocation(program, "corner") == 3;
        verdict.expect(is_bound == (name != nullptr), "the binding before is lost or invented");
        gl.DeleteProgram(program);
    }
    verdict.expect(programs(display).size() == 2, "bound and not bound are one program");
}

void set_varyings(GLuint program, const std::vector<const char *> &names, GLenum mode) {
    gl.TransformFeedbackVaryings(program, static_cast<GLsizei>(names.size()), names.data(), mode);
}

void varyings_reset(Verdict &verdict) {
    const auto to_none = [](GLuint program) {
        set_varyings(program, {"varying_value", "gl_Position"}, GL_SEPARATE_ATTRIBS);
        set_varyings(program, {}, GL_INTERLEAVED_ATTRIBS);
    };
    const auto to_one = [](GLuint program) {
        set_varyings(program, {"gl_Position"}, GL_SEPARATE_ATTRIBS);
        set_varyings(program, {"varying_value"}, GL_INTERLEAVED_ATTRIBS);
    };
    const auto to_no_separate = [](GLuint program) {
        set_varyings(program, {}, GL_SEPARATE_ATTRIBS);
    };
    const auto refused = [](GLuint program) {
        set_varyings(program, {}, GL_RGBA);
        (void)gl.GetError();
    };
    expect_one_program(verdict, {{"none", {}}, {"reset to none", {.prepare = to_none}}});
    expect_one_program(verdict, {{"one", {.has_varying = true}},
                                 {"reset to one", {.prepare = to_one}},
                                 {"a mode refused", {.has_varying = true, .prepare = refused}}});
    expect_different_programs(verdict,
                              {{"interleaved", {}}, {"separate", {.prepare = to_no_separate}}});
}

void attach_order(Verdict &verdict) {
    expect_one_program(verdict, {{"vertex shader first", {}},
                                 {"fragment shader first", {.fragment_first = true}}});
}

bool link_in_order(const std::vector<GLuint> &shaders) {
    const GLuint program = gl.CreateProgram();
    for (const GLuint shader : shaders) {
        gl.AttachShader(program, shader);
    }
    gl.LinkProgram(program);
    GLint linked = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    gl.DeleteProgram(program);
    return linked != GL_FALSE;
}

// A linker may number what it finds in this order.
void attach_order_of_one_type(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    if (egl.BindAPI(EGL_OPENGL_API) == EGL_FALSE) {
        return verdict.cannot("there is no OpenGL, but only OpenGL ES");
    }
    const EGLContext context = create_context(display, {EGL_CONTEXT_MINOR_VERSION, 3});
    egl.MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
    std::vector<GLuint> shaders;
    for (const char *source : {"#version 330 core\nvec4 one(); vec4 two();\n"
                               "void main() { gl_Position = one() + two(); }\n",
                               "#version 330 core\nvec4 one() { return vec4(1.0); }\n",
                               "#version 330 core\nvec4 two() { return vec4(2.0); }\n"}) {
        shaders.push_back(gl.CreateShader(GL_VERTEX_SHADER));
        gl.ShaderSource(shaders.back(), 1, &source, nullptr);
        gl.CompileShader(shaders.back());
    }
    for (size_t turn = 1; turn <= shaders.size(); ++turn) {
        verdict.expect(link_in_order(shaders), "it does not link");
        verdict.expect(programs(display).size() == turn, "another order gives no new key");
        std::rotate(shaders.begin(), shaders.begin() + 1, shaders.end());
    }
    verdict.expect(link_in_order(shaders) && programs(display).size() == shaders.size(),
                   "the first order again gives a new key");
    release_current(display);
    egl.DestroyContext(display, context);
    egl.BindAPI(EGL_OPENGL_ES_API);
}

void hint(Verdict &verdict) {
    const auto set = [](GLuint program) {
        gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    };
    const auto reset = [](GLuint program) {
        gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
        gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_FALSE);
    };
    expect_one_program(verdict, {{"no hint", {}},
                                 {"the hint", {.prepare = set}},
                                 {"the hint, taken back", {.prepare = reset}}});
}

GLint hint_of(GLuint program) {
    GLint value = 7;
    gl.GetProgramiv(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, &value);
    return value;
}

// Each program has the hint that it was linked with, whichever program made the entry.
void hint_of_a_hit(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    for (const GLint value : {GL_TRUE, GL_FALSE, GL_TRUE}) {
        const auto set = [](GLuint program) {
            gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
        };
        const GLuint program = link({.prepare = value == GL_TRUE ? +set : nullptr});
        verdict.expect(hint_of(program) == value, "another hint");
        gl.DeleteProgram(program);
    }
    verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
}

// ANGLE leaves it to the application to keep a program for which it has the hint.
void hint_first(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    const auto set = [](GLuint program) {
        gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    };
    verdict.expect(link_once({.prepare = set}), "it does not link");
    verdict.expect(programs(display).size() == 1, "it is not kept");
}

// Programs for pipelines, which OpenGL ES has from 3.1 on.
void separable(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display, {EGL_CONTEXT_MINOR_VERSION, 1});
    const auto set = [](GLuint program) {
        gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
    };
    verdict.expect(link_once({.language = 310, .prepare = set}), "it does not link");
    verdict.expect(programs(display).size() == 1, "it is not kept");
    const char *source =
        "#version 310 es\nprecision mediump float; out vec4 color;\n"
        "void main() { color = vec4(1.0); }\n";
    gl.DeleteProgram(gl.CreateShaderProgramv(GL_FRAGMENT_SHADER, 1, &source));
    verdict.expect(programs(display).size() == 2, "that of glCreateShaderProgramv is not kept");
}

void separable_reset(Verdict &verdict) {
    const auto reset = [](GLuint program) {
        gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
        gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_FALSE);
    };
    expect_one_program(verdict, {{"never separable", {}}, {"no longer", {.prepare = reset}}});
}

constexpr Row kRows[] = {
    {"link.keys", Reference::same, keys},
    {"link.include-in-comment", Reference::same, include_in_comment},
    {"link.superseded-binding", Reference::same, superseded_binding},
    {"link.refused-binding", Reference::same, refused_binding},
    {"link.varyings-reset", Reference::same, varyings_reset},
    {"link.attach-order", Reference::same, attach_order},
    {"link.attach-order-of-one-type", Reference::absent, attach_order_of_one_type},
    {"link.hint", Reference::same, hint},
    {"link.hint-of-a-hit", Reference::same, hint_of_a_hit},
    {"link.hint-first", Reference::differs, hint_first},
    {"link.separable", Reference::differs, separable},
    {"link.separable-reset", Reference::same, separable_reset},
};

}  // namespace

std::span<const Row> key_rows() {
    return kRows;
}

}  // namespace conformance
