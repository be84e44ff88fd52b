// SPDX-License-Identifier: MIT
// A context of OpenGL ES 3.2 without a window, for benchmarks that are GL programs.
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <cstdio>
#include <cstdlib>

namespace bench {

// `program`: who says so.
[[noreturn]] inline void fail(const char *program, const char *what) {
    std::fprintf(stderr, "%s: %s\n", program, what);
    std::exit(1);
}

inline void make_surfaceless_context(const char *program) {
    EGLDisplay display =
        eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    const EGLint es[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
    if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) {
        fail(program, "no display without a window system");
    }
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, es);
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_FALSE) {
        fail(program, "no context of OpenGL ES 3.2");
    }
}

}  // namespace bench
