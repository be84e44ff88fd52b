// What Filament's headers for Android leave out, and those for Linux have. See ../../../README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

namespace utils {
using Mutex = std::mutex;
}  // namespace utils
