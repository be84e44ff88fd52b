// SPDX-License-Identifier: MIT
#include "gl.h"

namespace client {

void load_desktop_functions() {
#define X(name, result, arguments) \
    gl.name = reinterpret_cast<decltype(gl.name)>(egl.GetProcAddress("gl" #name));
    CLIENT_DESKTOP_FUNCTIONS(X)
#undef X
}

}  // namespace client
