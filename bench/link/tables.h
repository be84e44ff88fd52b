// SPDX-License-Identifier: MIT
// What link_bench prints and writes.
#pragma once

#include <filesystem>
#include <vector>

#include "bench/link/measure.h"

namespace bench {

void print_results(const std::vector<FamilyResult> &results);
void write_results(const std::filesystem::path &path, const std::vector<FamilyResult> &results);

}  // namespace bench
