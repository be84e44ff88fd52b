// SPDX-License-Identifier: MIT
#include "gl.h"

#include <cstdint>

namespace cairn::warm {
namespace {

// Stands for a function that the driver does not have.
uintptr_t nothing() {
    return 0;
}

}  // namespace

Functions gl;

void load_functions(void (*(*find)(const char *name))()) {
    auto *const missing = reinterpret_cast<void (*)()>(&nothing);
#define FUNCTION(name)                                               \
    gl.name = reinterpret_cast<decltype(gl.name)>(find("gl" #name)); \
    if (gl.name == nullptr) gl.name = reinterpret_cast<decltype(gl.name)>(missing);
    PLAYER_FUNCTIONS(FUNCTION)
#undef FUNCTION
}

bool take_errors() {
    bool was_there = false;
    // A lost context has errors for ever.
    for (int i = 0; i < 16 && gl.GetError() != GL_NO_ERROR; ++i) was_there = true;
    return was_there;
}

}  // namespace cairn::warm
