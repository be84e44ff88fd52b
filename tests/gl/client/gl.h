// The GL functions that the scenarios call, found in one of two ways: by linking, as most
// applications do, or with dlopen and the window system's function for that, as toolkits do.
// SPDX-License-Identifier: MIT
//
// Thread safety: load_gl() is called once, at the start; constant after that. Failure: aborts when
// the window system cannot be had.
#pragma once

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

extern Gl gl;

// Also loads the window system. Compiled twice: with CLIENT_LINKED and without.
void load_gl();

}  // namespace client
