// A library that is loaded at run time.
// SPDX-License-Identifier: MIT
//
// Failure: aborts when it, or a function of it, is missing.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace client {

inline void *open_library(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::abort();
    }
    return library;
}

template <typename Function>
void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        std::fprintf(stderr, "%s is missing\n", name);
        std::abort();
    }
}

}  // namespace client
