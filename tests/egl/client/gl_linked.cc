// SPDX-License-Identifier: MIT
// Linked to libEGL and libGLESv2.
#include "gl.h"

namespace client {

Gl gl;
Egl egl;

void load_gl() {
#define X(name) egl.name = &::egl##name;
    CLIENT_EGL_FUNCTIONS(X)
#undef X
#define X(name) gl.name = &::gl##name;
    CLIENT_GL_FUNCTIONS(X)
#undef X
    load_desktop_functions();
}

}  // namespace client
