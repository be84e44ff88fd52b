// SPDX-License-Identifier: MIT
// One program, drawn with in several states.
#include <array>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr const char *kTextured = R"(#version 300 es
precision highp float;
in vec2 place;
uniform sampler2D picture;
out vec4 color;
void main() { color = texture(picture, place * 0.5 + 0.5) * 0.5 + 0.25; }
)";

// Each member of each element of a block's array is a uniform: 8,192, and then the sampler.
constexpr const char *kLit = R"(#version 300 es
precision highp float;
in vec2 place;
struct Lamp { float red, green, blue, alpha; };
layout(std140) uniform First { Lamp first[1024]; };
layout(std140) uniform Second { Lamp second[1024]; };
uniform sampler2D picture;
out vec4 color;
void main() {
    int at = int(place.x * 3.0 + 4.0);
    color = texture(picture, place) * 0.5 + first[at].red + second[at].green + 0.25;
}
)";

constexpr const char *kOldestTextured = R"(
varying vec2 place;
uniform sampler2D picture;
void main() { gl_FragColor = texture2D(picture, place * 0.5 + 0.5) * 0.5 + 0.25; }
)";

// Of glNewList.
constexpr GLenum kCompile = 0x1300;
constexpr GLenum kCompileAndExecute = 0x1301;

// GL_EXT_texture_filter_anisotropic.
constexpr GLenum kMaxAnisotropy = 0x84FE;
// GL_EXT_texture_sRGB_decode.
constexpr GLenum kDecoding = 0x8A48;
constexpr GLint kSkipped = 0x8A4A;

GLuint make_texture(GLint format, GLsizei size, GLint filter) {
    GLuint texture = 0;
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexImage2D(GL_TEXTURE_2D, 0, format, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    return texture;
}

void attach_depth() {
    GLuint depth = 0;
    gl.GenRenderbuffers(1, &depth);
    gl.BindRenderbuffer(GL_RENDERBUFFER, depth);
    gl.RenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT16, kPictureSize, kPictureSize);
    gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
}

}  // namespace

// Seven states of one program; each is drawn in more than once, with other objects.
void states() {
    const Context context(Api::es3);
    const GLuint program = make_program(kVertex, kTextured);
    const GLuint first = make_texture(GL_RGBA8, 16, GL_LINEAR);
    draw("first", program);
    // Of the same kind: no new state.
    const GLuint second = make_texture(GL_RGBA8, 16, GL_LINEAR);
    draw("another texture", program);
    make_texture(GL_RGBA8, 64, GL_LINEAR);
    draw("another size", program);
    make_texture(GL_RGBA8, 16, GL_NEAREST);
    draw("another filter", program);
    make_texture(GL_RGBA8, 24, GL_LINEAR);
    draw("no power of two", program);
    gl.BindTexture(GL_TEXTURE_2D, first);
    gl.Enable(GL_BLEND);
    gl.BlendFuncSeparate(GL_ONE, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
    draw("blended", program);
    gl.BindTexture(GL_TEXTURE_2D, second);
    draw("blended again", program);
    gl.Disable(GL_BLEND);
    attach_depth();
    gl.Enable(GL_DEPTH_TEST);
    gl.DepthFunc(GL_LEQUAL);
    draw("with depth", program);
    gl.Disable(GL_DEPTH_TEST);
    gl.DepthFunc(GL_LESS);
    draw("without the test", program);
    constexpr std::array<GLubyte, 3> kIndices = {0, 1, 2};
    gl.BindVertexArray(0);
    gl.BindBuffer(GL_ARRAY_BUFFER, 0);
    constexpr std::array<float, 6> kCorners = {-0.9f, -0.8f, 0.9f, -0.7f, 0.1f, 0.9f};
    gl.VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, kCorners.data());
    gl.EnableVertexAttribArray(0);
    for (int i = 0; i < 100; ++i) {
        gl.DrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, kIndices.data());
    }
    note_picture("from memory");
    // The application's error stays its own, also when it asks late.
    gl.Enable(GL_TEXTURE_2D + 0x5000);
    gl.Enable(GL_CULL_FACE);
    gl.DrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, kIndices.data());
    note("error %x, then %x", gl.GetError(), gl.GetError());
    note_picture("culled");
}

// A program with thousands of uniforms that name no unit.
void many_uniforms() {
    const Context context(Api::es3);
    const GLuint program = make_program(kVertex, kLit);
    GLuint block = 0;
    gl.GenBuffers(1, &block);
    gl.BindBuffer(GL_UNIFORM_BUFFER, block);
    gl.BufferData(GL_UNIFORM_BUFFER, 16384, nullptr, GL_STATIC_DRAW);
    for (const GLuint index : {0u, 1u}) {
        gl.UniformBlockBinding(program, index, index);
        gl.BindBufferBase(GL_UNIFORM_BUFFER, index, block);
    }
    make_texture(GL_RGBA8, 16, GL_LINEAR);
    draw("lit", program);
}

// A vertex array that has the name of a deleted one, and nothing else of it.
void array_names_again() {
    const Context context(Api::es3);
    const GLuint program = make_program(kVertex, kPlainFragment);
    GLuint array = 0;
    for (int i = 0; i < 2; ++i) {
        gl.GenVertexArrays(1, &array);
        gl.BindVertexArray(array);
        if (i == 0) gl.EnableVertexAttribArray(0);
        gl.UseProgram(program);
        gl.DrawArrays(GL_TRIANGLES, 0, 0);
        note("array %u error %x", array, gl.GetError());
        gl.DeleteVertexArrays(1, &array);
    }
}

// An attribute that is the same for all vertices, first as GL begins; a texture that is not decoded.
void constants_and_decoding() {
    const Context context(Api::es3);
    const GLuint program = make_program(kVertex, kTextured);
    GLuint array = 0;
    gl.GenVertexArrays(1, &array);
    gl.BindVertexArray(array);
    make_texture(GL_SRGB8_ALPHA8, 16, GL_LINEAR);
    draw("as it begins", program);
    gl.VertexAttrib4f(0, 0.5f, 0.25f, 0.0f, 1.0f);
    gl.TexParameteri(GL_TEXTURE_2D, kDecoding, kSkipped);
    gl.TexParameteri(GL_TEXTURE_2D, kMaxAnisotropy, 4);
    draw("set", program);
    note("error %x", gl.GetError());
}

// Commands in lists; what asks for a state while they are made would add to them.
void display_lists() {
    const Context context(Api::compatibility);
    const GLuint program = make_program(kOldestVertex, kOldestTextured);
    const auto note_unit = [] {
        GLint unit = 0;
        gl.GetIntegerv(GL_ACTIVE_TEXTURE, &unit);
        note("unit %d error %x", unit - GL_TEXTURE0, gl.GetError());
    };
    gl.UseProgram(program);
    gl.Uniform1i(gl.GetUniformLocation(program, "picture"), 1);
    gl.ActiveTexture(GL_TEXTURE1);
    make_texture(GL_RGBA8, 16, GL_LINEAR);
    gl.ActiveTexture(GL_TEXTURE0);
    gl.NewList(0, kCompile);
    note("no list: error %x", gl.GetError());
    gl.NewList(1, kCompile);
    gl.Enable(GL_BLEND);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.EndList();
    gl.ActiveTexture(GL_TEXTURE3);
    draw("not blended", program);
    gl.CallList(1);
    note_unit();
    draw("blended by a list", program);
    gl.NewList(2, kCompileAndExecute);
    gl.Disable(GL_BLEND);
    gl.Enable(GL_CULL_FACE);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.EndList();
    draw("culled by a list", program);
    gl.ActiveTexture(GL_TEXTURE2);
    gl.CallList(2);
    note_unit();
    draw("culled again", program);
}

// Objects that are changed by their names, not where they are bound.
void named_objects() {
    const Context context(Api::core);
    const GLuint first = make_program(kVertex, kPlainFragment);
    const GLuint second = make_program(kVertex, kTextured);
    GLint bound = 0;
    gl.GetIntegerv(GL_VERTEX_ARRAY_BINDING, &bound);
    const auto array = static_cast<GLuint>(bound);
    // Two states of each program.
    for (const GLuint program : {first, second}) {
        gl.EnableVertexArrayAttrib(array, 0);
        draw("from a buffer", program);
        gl.DisableVertexArrayAttrib(array, 0);
        draw("constant", program);
    }
    gl.VertexAttrib4f(0, 0.5f, 0.25f, 0.0f, 1.0f);
    draw("another constant", second);
    gl.EnableVertexArrayAttrib(array, 0);
    GLuint buffer = 0;
    gl.GenBuffers(1, &buffer);
    gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
    gl.BufferData(GL_ARRAY_BUFFER, 256, nullptr, GL_STATIC_DRAW);
    for (const GLsizei stride : {16, 32, 16}) {
        gl.BindVertexBuffer(0, buffer, 0, stride);
        draw("with a stride", first);
    }
    GLuint cube = 0, framebuffer = 0;
    gl.CreateTextures(GL_TEXTURE_CUBE_MAP, 1, &cube);
    gl.TextureStorage2D(cube, 1, GL_RGBA16F, kPictureSize, kPictureSize);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.NamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, cube, 0);
    draw("into a cube", first);
    note("error %x", gl.GetError());
}

}  // namespace client
