// The EGL and GL functions that the scenarios call, found in one of two ways: by linking, as most
// applications do, or with dlopen and eglGetProcAddress, as toolkits do.
// SPDX-License-Identifier: MIT
//
// Thread safety: load_gl() is called once, at the start; constant after that. Failure: aborts when
// EGL cannot be had.
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>

#include "gl_functions.inc"

namespace client {

struct Gl {
#define X(name) decltype(&::gl##name) name = nullptr;
    CLIENT_GL_FUNCTIONS(X)
#undef X
#define X(name, result, arguments) result(*name) arguments = nullptr;
    CLIENT_DESKTOP_FUNCTIONS(X)
#undef X
};

struct Egl {
#define X(name) decltype(&::egl##name) name = nullptr;
    CLIENT_EGL_FUNCTIONS(X)
#undef X
};

extern Gl gl;
extern Egl egl;

// Defined twice: in gl_linked.cc and in gl_dlopened.cc.
void load_gl();

// With eglGetProcAddress: what no library of OpenGL ES exports.
void load_desktop_functions();

}  // namespace client
