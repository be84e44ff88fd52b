// SPDX-License-Identifier: MIT
#include "scene.h"

#include <array>
#include <cstring>

#include "transcript.h"

namespace client {
namespace {

void make_framebuffer() {
    GLuint texture = 0;
    GLuint framebuffer = 0;
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, kPictureSize, kPictureSize);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    gl.Viewport(0, 0, kPictureSize, kPictureSize);
}

void make_triangle() {
    constexpr std::array<float, 6> kCorners = {-0.9f, -0.8f, 0.9f, -0.7f, 0.1f, 0.9f};
    GLuint buffer = 0;
    GLuint array = 0;
    gl.GenVertexArrays(1, &array);
    gl.BindVertexArray(array);
    gl.GenBuffers(1, &buffer);
    gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
    gl.BufferData(GL_ARRAY_BUFFER, sizeof kCorners, kCorners.data(), GL_STATIC_DRAW);
    for (GLuint index = 0; index < 4; ++index) {
        gl.VertexAttribPointer(index, 2, GL_FLOAT, GL_FALSE, 0, nullptr);
        gl.EnableVertexAttribArray(index);
    }
}

}  // namespace

Context::Context(Api api, const NativeContext *share) : Context(create_context(api, share)) {}

Context::Context(NativeContext *native) : native_(native) {
    make_current();
    prepare_current();
}

Context::~Context() {
    destroy_context(native_);
}

void Context::make_current() const {
    client::make_current(native_);
}

void prepare_current() {
    make_framebuffer();
    make_triangle();
}

bool is_desktop() {
    const auto *version = reinterpret_cast<const char *>(gl.GetString(GL_VERSION));
    return std::strncmp(version, "OpenGL ES", 9) != 0;
}

bool has_extension(const char *name) {
    GLint count = 0;
    gl.GetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLuint i = 0; i < static_cast<GLuint>(count); ++i) {
        if (std::strcmp(reinterpret_cast<const char *>(gl.GetStringi(GL_EXTENSIONS, i)), name) ==
            0) {
            return true;
        }
    }
    return false;
}

GLuint make_shader(GLenum type, const char *source) {
    const GLuint shader = gl.CreateShader(type);
    gl.ShaderSource(shader, 1, &source, nullptr);
    gl.CompileShader(shader);
    return shader;
}

GLuint make_unlinked(std::initializer_list<GLuint> shaders) {
    const GLuint program = gl.CreateProgram();
    for (const GLuint shader : shaders) {
        gl.AttachShader(program, shader);
    }
    return program;
}

GLuint make_program(std::initializer_list<GLuint> shaders) {
    const GLuint program = make_unlinked(shaders);
    gl.LinkProgram(program);
    return program;
}

GLuint make_program(const char *vertex, const char *fragment) {
    return make_program(
        {make_shader(GL_VERTEX_SHADER, vertex), make_shader(GL_FRAGMENT_SHADER, fragment)});
}

void draw(const char *title, GLuint program) {
    gl.UseProgram(program);
    draw_current(title);
}

void draw_current(const char *title) {
    gl.ClearColor(0.1f, 0.2f, 0.3f, 1.0f);
    gl.Clear(GL_COLOR_BUFFER_BIT);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    note_picture(title);
}

}  // namespace client
