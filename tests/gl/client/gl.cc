// SPDX-License-Identifier: MIT
#include "gl.h"

#include "window_system.h"

namespace client {

Gl gl;

void load_gl() {
    load_window_system();
#ifdef CLIENT_LINKED
#define X(name) gl.name = &::gl##name;
#else
#define X(name) gl.name = reinterpret_cast<decltype(gl.name)>(proc_address("gl" #name));
#endif
    CLIENT_GL_FUNCTIONS(X)
#undef X
#define X(name, result, arguments) \
    gl.name = reinterpret_cast<decltype(gl.name)>(proc_address("gl" #name));
    CLIENT_DESKTOP_FUNCTIONS(X)
#undef X
}

}  // namespace client
