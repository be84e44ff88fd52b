// SPDX-License-Identifier: MIT
// Linked to nothing: libEGL is loaded when it is needed, and all of GL comes from
// eglGetProcAddress.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "gl.h"

namespace client {

Gl gl;
Egl egl;

namespace {

template <typename Function>
void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        std::fprintf(stderr, "%s is missing\n", name);
        std::abort();
    }
}

}  // namespace

void load_gl() {
    void *library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::abort();
    }
#define X(name) find(library, "egl" #name, egl.name);
    CLIENT_EGL_FUNCTIONS(X)
#undef X
#define X(name) gl.name = reinterpret_cast<decltype(gl.name)>(egl.GetProcAddress("gl" #name));
    CLIENT_GL_FUNCTIONS(X)
#undef X
    load_desktop_functions();
}

}  // namespace client
