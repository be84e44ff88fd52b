// SPDX-License-Identifier: MIT
#include "gl.h"

#include <cstdint>

namespace cairn::warm {

Functions gl;

namespace {

// Stands for a function that the driver does not have.
uintptr_t nothing() {
    return 0;
}

struct Errors {
    bool any = false, of_memory = false;
};
Errors take_all() {
    Errors errors;
    // A lost context has errors for ever.
    for (int i = 0; i < 16; ++i) {
        const GLenum error = gl.GetError();
        if (error == GL_NO_ERROR) break;
        errors.any = true;
        errors.of_memory |= error == GL_OUT_OF_MEMORY || error == GL_CONTEXT_LOST;
    }
    return errors;
}

}  // namespace

void load_functions(void (*(*find)(const char *name))()) {
    auto *const missing = reinterpret_cast<void (*)()>(&nothing);
#define FUNCTION(name)                                               \
    gl.name = reinterpret_cast<decltype(gl.name)>(find("gl" #name)); \
    if (gl.name == nullptr) gl.name = reinterpret_cast<decltype(gl.name)>(missing);
    PLAYER_FUNCTIONS(FUNCTION)
#undef FUNCTION
}

bool take_errors() {
    return take_all().any;
}

bool lacks_memory() {
    return take_all().of_memory;
}

}  // namespace cairn::warm
