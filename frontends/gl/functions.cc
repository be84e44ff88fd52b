// SPDX-License-Identifier: MIT
#include "functions.h"

#include <cstdint>

namespace cairn::gl {
namespace {

// Returning 0 is right for every GL function. Code that needs a result checks is_missing() first.
uintptr_t missing_function() {
    return 0;
}

}  // namespace

void *or_missing(void *function) {
    return function != nullptr ? function : reinterpret_cast<void *>(&missing_function);
}

bool is_missing(const void *function) {
    return function == reinterpret_cast<const void *>(&missing_function);
}

}  // namespace cairn::gl
