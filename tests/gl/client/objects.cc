// SPDX-License-Identifier: MIT
// Calls on shader and program objects before, between and after links, as applications make them.
#include <array>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr const char *kTwoAttributes = R"(#version 300 es
in vec2 corner;
in vec2 other;
out vec2 place;
void main() { place = other; gl_Position = vec4(corner, 0.0, 1.0); }
)";

void set_source(GLuint shader, const char *source) {
    gl.ShaderSource(shader, 1, &source, nullptr);
}

// GL keeps one error until it is asked for.
void make_error() {
    gl.UseProgram(0xfffffff0);
}

}  // namespace

void pending_errors() {
    const Context context(Api::es3);
    make_error();
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const GLuint program = make_program({vertex, fragment});
    GLint linked = 0;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    note("linked %d", linked);
    note_errors("made before the compile");
    make_error();
    gl.LinkProgram(program);
    note_errors("made before the second link");
    draw("as ever", program);
}

void invalid_calls() {
    const Context context(Api::es3);
    const GLuint shader = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint program = make_program(kVertex, kFragment);
    gl.CompileShader(0);
    note_errors("compile 0");
    gl.CompileShader(9999);
    note_errors("compile 9999");
    gl.CompileShader(program);
    note_errors("compile a program");
    gl.LinkProgram(0);
    note_errors("link 0");
    gl.LinkProgram(9999);
    note_errors("link 9999");
    gl.LinkProgram(shader);
    note_errors("link a shader");
    GLint value = -5;
    gl.GetShaderiv(program, GL_COMPILE_STATUS, &value);
    gl.GetShaderiv(9999, GL_COMPILE_STATUS, &value);
    gl.GetShaderiv(shader, GL_LINK_STATUS, &value);
    note("value %d", value);
    note_errors("shader queries");
    gl.GetProgramiv(shader, GL_LINK_STATUS, &value);
    gl.GetProgramiv(9999, GL_INFO_LOG_LENGTH, &value);
    gl.GetProgramiv(program, GL_COMPILE_STATUS, &value);
    note("value %d", value);
    note_errors("program queries");
    gl.AttachShader(program, shader);
    note_errors("a second vertex shader");
    gl.BindAttribLocation(program, 9999, "corner");
    gl.BindAttribLocation(program, 1, "gl_corner");
    gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, 5);
    gl.ProgramParameteri(program, GL_RGBA, 1);
    note_errors("settings");
    note("created %u", gl.CreateShader(GL_RGBA));
    note_errors("a shader of no type");
    gl.DeleteShader(9999);
    gl.DeleteProgram(9999);
    gl.DeleteShader(0);
    note_errors("deletes");
    // The refused calls have changed nothing.
    gl.LinkProgram(program);
    note_program("after it all", program);
}

void relink_new_source() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const GLuint program = make_program({vertex, fragment});
    draw("first source", program);
    set_source(fragment, kOtherFragment);
    note_shader("with a new source", fragment);
    gl.CompileShader(fragment);
    note_shader("compiled", fragment);
    draw("not linked yet", program);
    gl.LinkProgram(program);
    draw("second source", program);
    note_program("second source", program);
    set_source(fragment, "not a shader");
    gl.CompileShader(fragment);
    gl.LinkProgram(program);
    note_program("broken", program);
    set_source(fragment, kFragment);
    gl.CompileShader(fragment);
    gl.LinkProgram(program);
    draw("first source again", program);
}

void relink_in_use() {
    const Context context(Api::es3);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const GLuint program = make_program({make_shader(GL_VERTEX_SHADER, kVertex), fragment});
    gl.UseProgram(program);
    gl.Uniform4f(gl.GetUniformLocation(program, "tint"), 0.5f, 0.5f, 0.0f, 0.0f);
    draw_current("tinted");
    set_source(fragment, kOtherFragment);
    gl.CompileShader(fragment);
    // A program in use has the new executable at once, with its uniforms at zero.
    gl.LinkProgram(program);
    draw_current("linked while in use");
    note_program("linked while in use", program);
    // A failed link leaves the executable in use.
    set_source(fragment, "not a shader");
    gl.CompileShader(fragment);
    gl.LinkProgram(program);
    draw_current("after a failed link");
    note_errors("failed link");
}

void last_compiled_source() {
    const Context context(Api::es3);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    set_source(fragment, kOtherFragment);
    // The first source is linked, the second is what can be read back.
    const GLuint program = make_program({make_shader(GL_VERTEX_SHADER, kVertex), fragment});
    draw("compiled, then given another source", program);
    note_shader("given another source", fragment);
    note_program("of what was compiled", program);
    // A link that nobody has made before, so that the source must be compiled after all.
    const GLuint other = make_unlinked({make_shader(GL_VERTEX_SHADER, kVertex), fragment});
    gl.BindAttribLocation(other, 2, "corner");
    gl.LinkProgram(other);
    draw("the same, bound elsewhere", other);
    note_shader("still the other source", fragment);
    gl.CompileShader(fragment);
    gl.LinkProgram(program);
    draw("compiled again", program);
}

void deleted_shaders() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const GLuint program = make_unlinked({vertex, fragment});
    // Flagged, and alive as long as the program holds them.
    gl.DeleteShader(vertex);
    gl.DeleteShader(fragment);
    note_shader("deleted before the link", fragment);
    gl.LinkProgram(program);
    note_program("of deleted shaders", program);
    gl.CompileShader(fragment);
    note_shader("compiled although deleted", fragment);
    gl.DetachShader(program, fragment);
    note_shader("gone", fragment);
    gl.CompileShader(fragment);
    note_errors("compile of what is gone");
    draw("without its shaders", program);
    note_program("without its shaders", program);
    gl.UseProgram(program);
    gl.DeleteProgram(program);
    note_program("deleted in use", program);
    gl.LinkProgram(program);
    note_program("linked although deleted", program);
    gl.UseProgram(0);
    note("exists %d, its shader %d", gl.IsProgram(program), gl.IsShader(vertex));
    gl.LinkProgram(program);
    note_errors("link of what is gone");
}

void shared_shader() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint first = make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kFragment)});
    const GLuint second = make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kOtherFragment)});
    gl.DetachShader(first, vertex);
    const GLuint third = make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kPlainFragment)});
    gl.DeleteShader(vertex);
    draw("first", first);
    draw("second", second);
    draw("third", third);
    note_program("first", first);
    note_program("third", third);
}

void attribute_bindings() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kTwoAttributes);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    for (GLuint index = 0; index < 4; ++index) {
        const GLuint program = make_unlinked({vertex, fragment});
        gl.BindAttribLocation(program, index, "corner");
        gl.BindAttribLocation(program, 3 - index, "other");
        gl.LinkProgram(program);
        note_program("bound", program);
        // Without effect until the next link.
        gl.BindAttribLocation(program, 7, "corner");
        note("corner is at %d", gl.GetAttribLocation(program, "corner"));
        gl.LinkProgram(program);
        note("corner is at %d", gl.GetAttribLocation(program, "corner"));
        // Refused: the binding before stays.
        gl.BindAttribLocation(program, 5000, "corner");
        note_errors("too large an index");
        gl.LinkProgram(program);
        note("corner is at %d", gl.GetAttribLocation(program, "corner"));
    }
}

// The second program of two is set as the first one was in the end, and linked from its binary.
void detours_to_settings() {
    const Context context(Api::es3);
    constexpr std::array kVaryings = {"place", "gl_Position"};
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kTwoAttributes);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    for (const GLsizei varyings : {2, 0}) {
        for (const bool takes_detour : {false, true}) {
            const GLuint first = takes_detour ? fragment : vertex;
            const GLuint program = make_unlinked({first, takes_detour ? vertex : fragment});
            if (takes_detour) {
                gl.BindAttribLocation(program, 5, "other");
                gl.BindAttribLocation(program, 6, "corner");
                gl.TransformFeedbackVaryings(program, 1, kVaryings.data(), GL_SEPARATE_ATTRIBS);
                gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
            }
            gl.BindAttribLocation(program, 0, "corner");
            gl.BindAttribLocation(program, 3, "other");
            gl.TransformFeedbackVaryings(program, varyings, kVaryings.data(),
                                         GL_INTERLEAVED_ATTRIBS);
            gl.LinkProgram(program);
            note_program(takes_detour ? "after a detour" : "set at once", program);
            draw("set", program);
            gl.LinkProgram(program);
            note_program("linked again", program);
        }
    }
}

void names_used_again() {
    const Context context(Api::es3);
    for (int round = 0; round < 200; ++round) {
        const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
        const GLuint fragment =
            make_shader(GL_FRAGMENT_SHADER, round % 2 == 0 ? kFragment : kOtherFragment);
        const GLuint program = make_program({vertex, fragment});
        gl.DeleteShader(vertex);
        gl.DeleteShader(fragment);
        if (round % 50 == 49) {
            draw("late", program);
            note("names %u %u %u", vertex, fragment, program);
            gl.UseProgram(0);
        }
        gl.DeleteProgram(program);
        note("lives %d %d %d", gl.IsShader(vertex), gl.IsShader(fragment), gl.IsProgram(program));
    }
    note_errors("many rounds");
}

}  // namespace client
