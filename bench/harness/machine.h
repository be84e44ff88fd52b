// Says where and with what was measured.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace bench {

// Prints processor, memory, kernel, file system of `dir`, compiler, build type and the engines'
// versions.
void print_machine(const std::filesystem::path &dir);

}  // namespace bench
