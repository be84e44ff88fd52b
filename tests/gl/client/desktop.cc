// SPDX-License-Identifier: MIT
// Desktop OpenGL, with what OpenGL ES does not have.
#include <array>
#include <cstdint>
#include <cstring>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr GLenum kSpirvFormat = 0x9551;
constexpr GLenum kNamedString = 0x8DAE;
constexpr GLenum kFragmentProgram = 0x8804;
constexpr GLenum kAsciiFormat = 0x8875;
constexpr GLenum kProgramLength = 0x8627;

constexpr const char *kTwoOutputs = R"(#version 430 core
in vec2 place;
out vec4 first;
out vec4 second;
void main() { first = vec4(place, 0.25, 1.0); second = vec4(0.75, place, 1.0); }
)";

// Of the word's two halves, the first is the number of words of an instruction.
constexpr uint32_t op(uint32_t words, uint32_t code) {
    return words << 16 | code;
}
constexpr uint32_t kMain = 0x6e69616d;  // "main"
constexpr uint32_t kMagic = 0x07230203;
constexpr uint32_t kHalf = 0x3f000000;
constexpr uint32_t kOne = 0x3f800000;

// void main() { gl_Position = in0; }
constexpr std::array kSpirvVertex = {
    kMagic,     0x00010000u, 0u,        16u,        0u,                       // header
    op(2, 17),  1u,                                                           // Shader
    op(3, 14),  0u,          1u,                                              // GLSL450
    op(7, 15),  0u,          4u,        kMain,      0u,        9u,  13u,      // Vertex main
    op(4, 71),  9u,          11u,       0u,                                   // Position
    op(4, 71),  13u,         30u,       0u,                                   // location 0
    op(2, 19),  2u,                                                           // void
    op(3, 33),  3u,          2u,                                              // void()
    op(3, 22),  6u,          32u,                                             // float
    op(4, 23),  7u,          6u,        4u,                                   // vec4
    op(4, 32),  8u,          3u,        7u,                                   // out vec4 *
    op(4, 32),  15u,         1u,        7u,                                   // in vec4 *
    op(4, 59),  8u,          9u,        3u,         op(4, 59), 15u, 13u, 1u,  // variables
    op(5, 54),  2u,          4u,        0u,         3u,                       // main
    op(2, 248), 5u,          op(4, 61), 7u,         14u,       13u,           // load
    op(3, 62),  9u,          14u,       op(1, 253), op(1, 56)};               // store, return

// void main() { out0 = vec4(0.5, 1, 0.5, 1); }
constexpr std::array kSpirvFragment = {
    kMagic,     0x00010000u, 0u,        13u,   0u,             // header
    op(2, 17),  1u,                                            // Shader
    op(3, 14),  0u,          1u,                               // GLSL450
    op(6, 15),  4u,          4u,        kMain, 0u,        9u,  // Fragment main
    op(3, 16),  4u,          8u,                               // lower left
    op(4, 71),  9u,          30u,       0u,                    // location 0
    op(2, 19),  2u,                                            // void
    op(3, 33),  3u,          2u,                               // void()
    op(3, 22),  6u,          32u,                              // float
    op(4, 23),  7u,          6u,        4u,                    // vec4
    op(4, 32),  8u,          3u,        7u,                    // out vec4 *
    op(4, 59),  8u,          9u,        3u,                    // variable
    op(4, 43),  6u,          10u,       kHalf, op(4, 43), 6u,         11u,      kOne,  // 0.5, 1.0
    op(7, 44),  7u,          12u,       10u,   11u,       10u,        11u,             // vec4
    op(5, 54),  2u,          4u,        0u,    3u,                                     // main
    op(2, 248), 5u,          op(3, 62), 9u,    12u,       op(1, 253), op(1, 56)};  // store, return

template <size_t kSize>
GLuint make_spirv(GLenum type, const std::array<uint32_t, kSize> &words) {
    const GLuint shader = gl.CreateShader(type);
    gl.ShaderBinary(1, &shader, kSpirvFormat, words.data(), sizeof words);
    gl.SpecializeShader(shader, "main", 0, nullptr, nullptr);
    return shader;
}

GLuint make_including(const char *fragment) {
    return make_program(
        {make_shader(GL_VERTEX_SHADER, kCoreVertex), make_shader(GL_FRAGMENT_SHADER, fragment)});
}

}  // namespace

void core_outputs() {
    const Context context(Api::core);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kCoreVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kTwoOutputs);
    for (GLuint first = 0; first < 3; ++first) {
        const GLuint program = make_unlinked({vertex, fragment});
        gl.BindFragDataLocation(program, first, "first");
        gl.BindFragDataLocation(program, (first + 1) % 3, "second");
        gl.LinkProgram(program);
        note_program("outputs", program);
        note("first at %d, second at %d", gl.GetFragDataLocation(program, "first"),
             gl.GetFragDataLocation(program, "second"));
        // Without an output at 0 the picture is undefined.
        if (first != 1) {
            draw("outputs", program);
        }
    }
    const GLuint moved = make_unlinked({vertex, fragment});
    gl.BindFragDataLocation(moved, 1, "first");
    gl.BindFragDataLocation(moved, 9999, "first");
    gl.BindFragDataLocation(moved, 1, "second");
    gl.BindFragDataLocation(moved, 0, "first");
    note_errors("refused output");
    gl.LinkProgram(moved);
    note("first at %d, second at %d", gl.GetFragDataLocation(moved, "first"),
         gl.GetFragDataLocation(moved, "second"));
    const GLuint dual = make_unlinked({vertex, fragment});
    gl.BindFragDataLocationIndexed(dual, 0, 1, "first");
    gl.BindFragDataLocationIndexed(dual, 0, 0, "second");
    gl.LinkProgram(dual);
    note("first at %d index %d, second at %d index %d", gl.GetFragDataLocation(dual, "first"),
         gl.GetFragDataIndex(dual, "first"), gl.GetFragDataLocation(dual, "second"),
         gl.GetFragDataIndex(dual, "second"));
    draw("dual", dual);
    gl.BindFragDataLocation(dual, 9999, "first");
    gl.BindFragDataLocation(dual, 0, "gl_first");
    note_errors("refused outputs");
}

void core_initial_values() {
    const Context context(Api::core);
    const GLuint program = make_including(R"(#version 430 core
in vec2 place;
uniform vec4 tint = vec4(0.25, 0.5, 0.0, 1.0);
uniform int number = 3;
uniform float levels[3] = float[3](0.1, 0.2, 0.3);
layout(binding = 5) uniform sampler2D picture;
out vec4 color;
void main() { color = tint + vec4(place, levels[number - 1], 0.0) * texture(picture, place); }
)");
    note_program("linked", program);
    gl.UseProgram(program);
    gl.Uniform4f(gl.GetUniformLocation(program, "tint"), 1.0f, 1.0f, 1.0f, 1.0f);
    gl.Uniform1i(gl.GetUniformLocation(program, "number"), 1);
    gl.Uniform1i(gl.GetUniformLocation(program, "picture"), 2);
    note_program("changed", program);
    gl.LinkProgram(program);
    note_program("linked again", program);
    draw("linked again", program);
}

// Their key has the order in which they were attached.
void several_of_one_type() {
    const Context context(Api::core);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kCoreVertex);
    const GLuint main_part = make_shader(GL_FRAGMENT_SHADER, R"(#version 430 core
vec4 light(vec2 at);
vec4 shade(vec2 at);
in vec2 place;
uniform vec4 tint;
out vec4 color;
void main() { color = tint + light(place) + shade(place); }
)");
    const GLuint light = make_shader(GL_FRAGMENT_SHADER, R"(#version 430 core
uniform vec4 lamp;
vec4 light(vec2 at) { return lamp + vec4(at, 0.5, 1.0); }
)");
    const GLuint shade = make_shader(GL_FRAGMENT_SHADER, R"(#version 430 core
uniform float screen[2];
vec4 shade(vec2 at) { return vec4(screen[1], at, 0.0); }
)");
    note_program("lit first", make_program({vertex, main_part, light, shade}));
    note_program("shaded first", make_program({vertex, main_part, shade, light}));
    note_program("main last", make_program({light, shade, vertex, main_part}));
    draw("vertex shader last", make_program({main_part, light, shade, vertex}));
}

void old_objects() {
    const Context context(Api::compatibility);
    const char *vertex_source =
        "attribute vec2 corner; void main() { gl_Position = vec4(corner, 0.0, 1.0); }";
    const char *fragment_source =
        "uniform float level; void main() { gl_FragColor = vec4(0.5, level, 1.0, 1.0); }";
    const GLuint vertex = gl.CreateShaderObjectARB(GL_VERTEX_SHADER);
    const GLuint fragment = gl.CreateShaderObjectARB(GL_FRAGMENT_SHADER);
    gl.ShaderSourceARB(vertex, 1, &vertex_source, nullptr);
    gl.ShaderSourceARB(fragment, 1, &fragment_source, nullptr);
    gl.CompileShaderARB(vertex);
    gl.CompileShaderARB(fragment);
    const GLuint program = gl.CreateProgramObjectARB();
    gl.AttachObjectARB(program, vertex);
    gl.AttachObjectARB(program, fragment);
    gl.LinkProgramARB(program);
    for (const GLuint object : {vertex, fragment, program}) {
        GLint value = -7;
        gl.GetObjectParameterivARB(object, GL_COMPILE_STATUS, &value);
        note("compiled %d", value);
        gl.GetObjectParameterivARB(object, GL_LINK_STATUS, &value);
        note("linked %d", value);
        GLfloat number = -7.0f;
        gl.GetObjectParameterfvARB(object, GL_INFO_LOG_LENGTH, &number);
        gl.GetObjectParameterivARB(object, GL_INFO_LOG_LENGTH, &value);
        note("log has %d, %g", value, static_cast<double>(number));
        std::array<char, 512> log = {};
        gl.GetInfoLogARB(object, log.size(), nullptr, log.data());
        note("log %s", log.data());
        note_errors("object");
    }
    note_shader("old vertex", vertex);
    note_program("old", program);
    gl.UseProgramObjectARB(program);
    draw_current("old");
    gl.ValidateProgramARB(program);
    note_program("validated", program);
    gl.DeleteObjectARB(fragment);
    note_shader("deleted", fragment);
    gl.DeleteObjectARB(program);
    gl.UseProgramObjectARB(0);
    note("lives %d %d", gl.IsShader(fragment), gl.IsProgram(program));
    // New-style calls on old-style objects.
    draw("mixed", make_program({vertex, make_shader(GL_FRAGMENT_SHADER, fragment_source)}));
}

// The same source, but what it includes changes.
void included_source() {
    const Context context(Api::core);
    constexpr const char *kIncluding = R"(#version 430 core
#extension GL_ARB_shading_language_include : require
#include "/level.h"
in vec2 place;
out vec4 color;
void main() { color = vec4(place, LEVEL, 1.0); }
)";
    constexpr const char *kHidden =
        "#version 430 core\n"
        "#extension GL_ARB_shading_language_include : require\n"
        "# /* a comment */ include \"/level.h\"\n"
        "out vec4 color;\n"
        "void main() { color = vec4(LEVEL); }\n";
    constexpr const char *kSplit =
        "#version 430 core\n"
        "#extension GL_ARB_shading_language_include : require\n"
        "#inc\\\nlude \"/level.h\"\n"
        "out vec4 color;\n"
        "void main() { color = vec4(LEVEL); }\n";
    for (const char *level : {"#define LEVEL 0.25\n", "#define LEVEL 0.75\n"}) {
        gl.NamedStringARB(kNamedString, -1, "/level.h", -1, level);
        draw("included", make_including(kIncluding));
        gl.DeleteNamedStringARB(-1, "/level.h");
    }
    // Once only: for these Mesa's own cache may give what was included before, or not, as it has
    // time to write it. That Cairn passes them by is shown by shader_test.cc.
    gl.NamedStringARB(kNamedString, -1, "/level.h", -1, "#define LEVEL 0.25\n");
    draw("hidden", make_including(kHidden));
    draw("split", make_including(kSplit));
    const GLuint fragment = gl.CreateShader(GL_FRAGMENT_SHADER);
    const char *source = kIncluding, *path = "/";
    gl.ShaderSource(fragment, 1, &source, nullptr);
    gl.CompileShaderIncludeARB(fragment, 1, &path, nullptr);
    draw("by a path", make_program({make_shader(GL_VERTEX_SHADER, kCoreVertex), fragment}));
    gl.DeleteNamedStringARB(-1, "/level.h");
    note_program("including nothing", make_including(kIncluding));
}

void spirv() {
    const Context context(Api::core);
    if (!has_extension("GL_ARB_gl_spirv")) {
        note("no SPIR-V");
        return;
    }
    const GLuint vertex = make_spirv(GL_VERTEX_SHADER, kSpirvVertex);
    const GLuint fragment = make_spirv(GL_FRAGMENT_SHADER, kSpirvFragment);
    note_shader("of words", fragment);
    const GLuint program = make_program({vertex, fragment});
    note("log %s", program_log(program).c_str());
    draw("of words", program);
    // From words back to a source, and the other way round.
    const char *source =
        "#version 430 core\n"
        "layout(location = 0) out vec4 color;\n"
        "void main() { color = vec4(1.0, 0.0, 0.5, 1.0); }\n";
    gl.ShaderSource(fragment, 1, &source, nullptr);
    gl.CompileShader(fragment);
    note_shader("of source", fragment);
    const GLuint turned = make_shader(GL_FRAGMENT_SHADER, source);
    gl.ShaderBinary(1, &turned, kSpirvFormat, kSpirvFragment.data(), sizeof kSpirvFragment);
    note_shader("given words", turned);
    gl.SpecializeShader(turned, "main", 0, nullptr, nullptr);
    note_shader("made of words", turned);
    draw("turned", make_program({vertex, turned}));
    note_errors("words");
}

// Programs that are not linked.
void assembly() {
    const Context context(Api::compatibility);
    gl.Enable(kFragmentProgram);
    for (const char *source : {kAssembly, "!!ARBfp1.0\nMOV nothing\n"}) {
        GLuint program = 0;
        gl.GenProgramsARB(1, &program);
        gl.BindProgramARB(kFragmentProgram, program);
        gl.ProgramStringARB(kFragmentProgram, kAsciiFormat,
                            static_cast<GLsizei>(std::strlen(source)), source);
        note_errors("assembled");
        GLint size = 0;
        gl.GetProgramivARB(kFragmentProgram, kProgramLength, &size);
        note("length %d", size);
        draw_current("of assembly");
        gl.DeleteProgramsARB(1, &program);
    }
    gl.Disable(kFragmentProgram);
    draw("of a shader", make_program(kOldestVertex, kOldestFragment));
}

}  // namespace client
