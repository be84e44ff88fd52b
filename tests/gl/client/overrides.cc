// SPDX-License-Identifier: MIT
// States that come back by other calls than those they went by.
#include <array>
#include <string>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

// GL_TEXTURE_SWIZZLE_RGBA.
constexpr GLenum kSwizzle = 0x8E46;

// A program that no other draw uses.
GLuint next_program() {
    static int number = 0;
    const std::string fragment =
        "#version 300 es\nprecision highp float;\nuniform sampler2D picture;\nout vec4 color;\n"
        "void main() { color = texture(picture, vec2(0.5)) + " +
        std::to_string(++number) + ".0; }\n";
    return make_program(kVertex, fragment.c_str());
}

// Two draws, of which nothing is seen: what comes between them is another state.
template <typename Change>
void draw_twice(const char *title, Change change) {
    gl.UseProgram(next_program());
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    change();
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    note("%s: error %x", title, gl.GetError());
}

GLuint make_texture() {
    GLuint texture = 0;
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    return texture;
}

void override_blending() {
    gl.Enablei(GL_BLEND, 0);
    gl.Disable(GL_BLEND);
    draw_twice("switch of a buffer", [] { gl.Enablei(GL_BLEND, 0); });
    gl.BlendFunci(0, GL_ONE, GL_ONE);
    gl.BlendFuncSeparate(GL_SRC_ALPHA, GL_ZERO, GL_ONE, GL_ZERO);
    draw_twice("function of a buffer", [] { gl.BlendFunci(0, GL_ONE, GL_ONE); });
    gl.BlendFunc(GL_ONE, GL_ZERO);
    gl.BlendFuncSeparate(GL_SRC_ALPHA, GL_ZERO, GL_ONE, GL_ZERO);
    draw_twice("function", [] { gl.BlendFunc(GL_ONE, GL_ZERO); });
    gl.ColorMaski(0, 1, 0, 0, 0);
    gl.ColorMask(1, 1, 1, 1);
    draw_twice("mask of a buffer", [] { gl.ColorMaski(0, 1, 0, 0, 0); });
    gl.ColorMask(1, 1, 1, 1);
    gl.Disable(GL_BLEND);
}

void override_stencil() {
    gl.Enable(GL_STENCIL_TEST);
    gl.StencilFuncSeparate(GL_FRONT, GL_LESS, 1, 255);
    gl.StencilFuncSeparate(GL_FRONT_AND_BACK, GL_ALWAYS, 0, 255);
    draw_twice("face", [] { gl.StencilFuncSeparate(GL_FRONT, GL_LESS, 1, 255); });
    gl.StencilFunc(GL_ALWAYS, 0, 255);
    draw_twice("face after both", [] { gl.StencilFuncSeparate(GL_FRONT, GL_LESS, 1, 255); });
    gl.Disable(GL_STENCIL_TEST);
}

void override_textures() {
    constexpr GLint kGrey[] = {GL_RED, GL_RED, GL_RED, GL_ONE};
    constexpr GLint kMask[] = {GL_RED, GL_GREEN, GL_RED, GL_GREEN};
    gl.TexParameteriv(GL_TEXTURE_2D, kSwizzle, kGrey);
    draw_twice("swizzle", [=] { gl.TexParameteriv(GL_TEXTURE_2D, kSwizzle, kMask); });
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    gl.TexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    draw_twice("filter", [] { gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR); });
}

void override_attachments() {
    GLint before = 0;
    gl.GetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    GLuint framebuffer = 0;
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    GLint read = 0;
    gl.GetIntegerv(GL_TEXTURE_BINDING_2D, &read);
    const GLuint drawn = make_texture();
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, drawn, 0);
    gl.BindTexture(GL_TEXTURE_2D, static_cast<GLuint>(read));
    draw_twice("attachment", [=] {
        gl.BindTexture(GL_TEXTURE_2D, drawn);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA16F, 16, 16, 0, GL_RGBA, GL_FLOAT, nullptr);
        gl.BindTexture(GL_TEXTURE_2D, static_cast<GLuint>(read));
    });
    constexpr GLenum kFirst = GL_COLOR_ATTACHMENT0;
    gl.DrawBuffers(1, &kFirst);
    gl.DrawBuffer(GL_NONE);
    draw_twice("draw buffer", [=] { gl.DrawBuffers(1, &kFirst); });
    gl.BindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before));
}

void override_attributes() {
    static constexpr std::array<float, 8> kCorners = {-0.9f, -0.8f, 0.9f, -0.7f, 0.1f, 0.9f};
    GLuint buffer = 0;
    gl.GenBuffers(1, &buffer);
    gl.BindVertexArray(0);
    gl.BindBuffer(GL_ARRAY_BUFFER, 0);
    gl.VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 8, kCorners.data());
    gl.EnableVertexAttribArray(0);
    draw_twice("memory", [buffer] {
        gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
        gl.BufferData(GL_ARRAY_BUFFER, sizeof kCorners, kCorners.data(), GL_STATIC_DRAW);
        gl.VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 8, nullptr);
    });
}

}  // namespace

// Thirteen programs with two states each.
void overrides() {
    const Context context(Api::compatibility);
    make_texture();
    override_blending();
    override_stencil();
    override_textures();
    override_attachments();
    override_attributes();
    gl.PushAttrib(GL_COLOR_BUFFER_BIT);
    gl.Enable(GL_BLEND);
    draw_twice("pushed", [] { gl.PopAttrib(); });
    GLuint unit = 0;
    draw_twice("unit", [&unit] {
        GLint program = 0;
        gl.GetIntegerv(GL_CURRENT_PROGRAM, &program);
        unit = static_cast<GLuint>(gl.GetUniformLocation(static_cast<GLuint>(program), "picture"));
        constexpr GLint kThird = 3;
        gl.Uniform1iv(static_cast<GLint>(unit), 1, &kThird);
    });
}

// A texture that was deleted while it was attached: it has no name any more.
void deleted_attachment() {
    const Context context(Api::compatibility);
    const GLuint texture = make_texture();
    GLuint framebuffer = 0;
    gl.GenFramebuffers(1, &framebuffer);
    GLint before = 0;
    gl.GetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    gl.BindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(before));
    gl.DeleteTextures(1, &texture);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    draw("into what has no name", make_program(kVertex, kPlainFragment));
    note("texture %d error %x", gl.IsTexture(texture), gl.GetError());
}

// A program that was linked, and then loaded from a binary of the application's.
void binary_after_link() {
    const Context context(Api::core);
    const GLuint program = next_program();
    const GLuint other = next_program();
    make_texture();
    draw("linked", program);
    GLint size = 0;
    gl.GetProgramiv(other, GL_PROGRAM_BINARY_LENGTH, &size);
    std::string binary(static_cast<size_t>(size), '\0');
    GLenum format = 0;
    gl.GetProgramBinary(other, size, nullptr, &format, binary.data());
    gl.ProgramBinary(program, format, binary.data(), size);
    gl.Enable(GL_BLEND);
    draw("loaded", program);
}

}  // namespace client
