// An EGL application that enters a sandbox once it has a context, and links programs there.
// Exit code 0: all linked and drawn.
// SPDX-License-Identifier: MIT
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "broker/sandbox.h"

namespace {

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "egl_client: %s\n", what);
    std::exit(1);
}

void make_context() {
    const auto display_of = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
        eglGetProcAddress("eglGetPlatformDisplayEXT"));
    const EGLDisplay display =
        display_of(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (eglInitialize(display, nullptr, nullptr) == EGL_FALSE) fail("no display");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                             EGL_OPENGL_ES3_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    eglChooseConfig(display, wanted, &config, 1, &count);
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE) {
        fail("no context");
    }
}

GLuint shader(GLenum kind, const std::string &source) {
    const GLuint made = glCreateShader(kind);
    const char *text = source.c_str();
    glShaderSource(made, 1, &text, nullptr);
    glCompileShader(made);
    return made;
}

void link(int number) {
    const GLuint program = glCreateProgram();
    glAttachShader(program, shader(GL_VERTEX_SHADER,
                                   "#version 300 es\nvoid main() { gl_Position = vec4(0.0); }\n"));
    glAttachShader(program, shader(GL_FRAGMENT_SHADER,
                                   "#version 300 es\nprecision highp float;\nout vec4 color;\n"
                                   "void main() { color = vec4(float(" +
                                       std::to_string(number) + ") / 64.0); }\n"));
    glLinkProgram(program);
    GLint linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked == 0) fail("a program does not link");
    glDeleteProgram(program);
}

}  // namespace

int main() {
    make_context();
    if (!cairn_test::forbid_system_calls()) fail("no sandbox");
    for (int i = 0; i < 20; ++i) link(i);
    std::_Exit(glGetError() == GL_NO_ERROR ? 0 : 2);
}
