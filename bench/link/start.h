// SPDX-License-Identifier: MIT
// What starting under Cairn costs: `cairn run` itself, and the first program of a process.
// Failure: std::runtime_error where a process fails.
#pragma once

#include <cstddef>
#include <string>

#include "bench/link/player_process.h"

namespace bench {

// Prints medians over rounds that take turns. Makes caches below `folder`.
void measure_start(const Theatre &theatre, const std::string &folder, std::size_t rounds);

}  // namespace bench
