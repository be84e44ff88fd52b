// SPDX-License-Identifier: MIT
// Programs that are made once and used.
#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr const char *kBlocks = R"(#version 310 es
precision highp float;
layout(binding = 3) uniform Bound { vec4 first; mat4 second; };
layout(std140) uniform Unbound { vec4 third; float fourth[5]; } unbound;
layout(std430, binding = 2) readonly buffer Stored { vec4 fifth; float rest[]; } stored;
layout(binding = 4) uniform sampler2D picture;
uniform sampler2D pictures[2];
uniform int number;
uniform bool flag;
struct Inner { vec3 a; mat2 b; };
uniform Inner inner[2];
in vec2 place;
layout(location = 0) out vec4 color;
void main() {
    color = first + second[2] + unbound.third * unbound.fourth[3] + stored.fifth;
    color += texture(picture, place) + texture(pictures[1], place) + vec4(number) + vec4(flag);
    color += vec4(inner[1].a, inner[0].b[1][0]) + vec4(0.3, 0.6, place.x, 1.0);
}
)";

// Linked once only: where the other uniforms go at a second link, Mesa makes depend on the first.
constexpr const char *kPlaced = R"(#version 310 es
precision highp float;
layout(location = 30) uniform vec4 placed;
layout(location = 7) uniform vec4 array[3];
uniform vec4 anywhere;
in vec2 place;
out vec4 color;
void main() { color = placed + anywhere + array[2] + vec4(place, 0.0, 1.0); }
)";

constexpr const char *kVertex310 = R"(#version 310 es
in vec2 corner;
out vec2 place;
void main() { place = corner; gl_Position = vec4(corner, 0.0, 1.0); }
)";

// Each is refused: by the compiler, or by the linker.
constexpr const char *kSyntaxError = "#version 300 es\nvoid main() { gl_Position = vec4(1.0) }\n";
constexpr const char *kTypeError = R"(#version 300 es
precision highp float;
out vec4 color;
void main() { color = vec3(1.0); undeclared += 1; }
)";
constexpr const char *kMissingVarying = R"(#version 300 es
precision highp float;
in vec4 nowhere;
out vec4 color;
void main() { color = nowhere; }
)";

// Mesa warns of the unused extension.
constexpr const char *kWarned = R"(#version 300 es
#extension GL_OES_an_extension_that_nobody_has : warn
precision highp float;
in vec2 place;
out vec4 color;
void main() { color = vec4(place, 0.0, 1.0); }
)";

}  // namespace

void simple() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    note_shader("vertex", vertex);
    note_shader("fragment", fragment);
    const GLuint program = make_program({vertex, fragment});
    note_program("linked", program);
    draw("first", program);
    gl.Uniform4f(gl.GetUniformLocation(program, "tint"), 0.25f, 0.0f, 0.5f, 0.0f);
    draw("tinted", program);
    note_program("tinted", program);
}

void old_language() {
    const Context context(Api::es2);
    const GLuint program = make_program(
        "attribute vec2 corner; varying vec2 place;\n"
        "void main() { place = corner; gl_Position = vec4(corner, 0.0, 1.0); }\n",
        "precision mediump float; varying vec2 place; uniform float level;\n"
        "void main() { gl_FragColor = vec4(place, level, 1.0); }\n");
    note_program("linked", program);
    draw("old", program);
}

void uniforms_and_blocks() {
    const Context context(Api::es3);
    const GLuint program = make_program(kVertex310, kBlocks);
    note_program("linked", program);
    gl.UseProgram(program);
    gl.Uniform1i(gl.GetUniformLocation(program, "number"), 7);
    gl.Uniform1i(gl.GetUniformLocation(program, "pictures[1]"), 3);
    gl.UniformBlockBinding(program, gl.GetUniformBlockIndex(program, "Unbound"), 5);
    gl.UniformBlockBinding(program, gl.GetUniformBlockIndex(program, "Bound"), 6);
    note_program("changed", program);
    // All of it goes back to what the shaders say.
    gl.LinkProgram(program);
    note_program("linked again", program);
    note_program("with explicit locations", make_program(kVertex310, kPlaced));
}

void logs_of_failures() {
    const Context context(Api::es3);
    const GLuint good = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint syntax = make_shader(GL_VERTEX_SHADER, kSyntaxError);
    const GLuint type = make_shader(GL_FRAGMENT_SHADER, kTypeError);
    const GLuint missing = make_shader(GL_FRAGMENT_SHADER, kMissingVarying);
    note_shader("good", good);
    note_shader("syntax", syntax);
    note_shader("type", type);
    note_shader("missing", missing);
    note_program("of a shader that did not compile", make_program({good, type}));
    note_program("of two that did not compile", make_program({syntax, type}));
    note_program("without a vertex shader", make_program({missing}));
    note_program("that does not fit", make_program({good, missing}));
    note_program("of nothing", make_program({}));
    const GLuint uncompiled = gl.CreateShader(GL_FRAGMENT_SHADER);
    note_shader("without source", uncompiled);
    gl.CompileShader(uncompiled);
    note_shader("compiled without source", uncompiled);
    note_program("with a shader without source", make_program({good, uncompiled}));
    // The good one is unharmed by all this.
    draw("good", make_program({good, make_shader(GL_FRAGMENT_SHADER, kFragment)}));
}

void logs_of_successes() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint warned = make_shader(GL_FRAGMENT_SHADER, kWarned);
    note_shader("warned", warned);
    const GLuint program = make_program({vertex, warned});
    note_program("warned", program);
    GLint size = 0;
    gl.GetShaderiv(warned, GL_INFO_LOG_LENGTH, &size);
    note("size of the log: %d", size);
    gl.GetShaderInfoLog(warned, 0, &size, nullptr);
    note("size in nothing: %d", size);
    gl.GetShaderInfoLog(warned, -1, &size, nullptr);
    gl.GetProgramInfoLog(program, -1, &size, nullptr);
    note_errors("negative capacity");
    draw("warned", program);
}

void validation() {
    const Context context(Api::es3);
    const GLuint program = make_program(kVertex, kFragment);
    gl.ValidateProgram(program);
    note_program("validated", program);
    gl.LinkProgram(program);
    note_program("linked again", program);
    // Two kinds of sampler on one unit cannot be drawn with.
    const GLuint conflict = make_program(kVertex, R"(#version 300 es
precision highp float;
uniform sampler2D flat_one;
uniform samplerCube cube;
in vec2 place;
out vec4 color;
void main() { color = texture(flat_one, place) + texture(cube, vec3(place, 1.0)); }
)");
    gl.UseProgram(conflict);
    gl.ValidateProgram(conflict);
    note_program("in conflict", conflict);
    gl.LinkProgram(conflict);
    note_program("linked after a conflict", conflict);
}

}  // namespace client
