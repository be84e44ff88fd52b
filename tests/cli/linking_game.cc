// SPDX-License-Identifier: MIT
// A game that links programs until it is killed: ten each second, most of them new, and some that it
// linked before. It prints a line once it does.
//
//     cli_linking_game [FILE]     while there is such a file, no write of the process to a file returns
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

const char *g_holding_file = nullptr;

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "cli_linking_game: %s\n", what);
    std::exit(1);
}

void open_context() {
    const EGLDisplay display =
        eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) {
        give_up("no display");
    }
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE};
    eglBindAPI(EGL_OPENGL_ES_API);
    const EGLContext context =
        eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE) {
        give_up("no context");
    }
}

void attach(GLuint program, GLenum type, const std::string &source) {
    const char *const text = source.c_str();
    const GLuint shader = glCreateShader(type);
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

// What is between such brackets must never become an element of a page.
std::string fragment_source(unsigned number) {
    return "precision mediump float; /* <img src=x onerror=alert(4)><script>alert(5)</script> */\n"
           "uniform vec4 c;\nvoid main() { gl_FragColor = c * " +
           std::to_string(number) + ".0; }\n";
}

void link_program(unsigned number) {
    const GLuint program = glCreateProgram();
    attach(program, GL_VERTEX_SHADER, "attribute vec4 p;\nvoid main() { gl_Position = p; }\n");
    attach(program, GL_FRAGMENT_SHADER, fragment_source(number));
    glLinkProgram(program);
    GLint is_linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
    if (is_linked == 0) give_up("a program is not linked");
    glDeleteProgram(program);
}

}  // namespace

// In front of libc's, for the libraries that the process loads, too.
extern "C" __attribute__((visibility("default"))) ssize_t pwritev64(int fd, const iovec *pieces,
                                                                    int count, off64_t offset) {
    while (g_holding_file != nullptr && access(g_holding_file, F_OK) == 0) usleep(1000);
    return syscall(SYS_pwritev, fd, pieces, count, static_cast<long>(offset),
                   static_cast<long>(static_cast<std::uint64_t>(offset) >> 32));
}

int main(int argc, char **argv) {
    if (argc > 1) g_holding_file = argv[1];
    open_context();
    for (unsigned i = 0;; ++i) {
        link_program(i % 4 == 3 ? i / 2 : i);
        if (i == 0) {
            std::puts("linking");
            std::fflush(stdout);
        }
        usleep(100'000);
    }
}
