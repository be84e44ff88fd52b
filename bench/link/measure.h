// SPDX-License-Identifier: MIT
// Plays families in alternating rounds under each condition, and compares every answer.
// Thread safety: belongs to one thread.
// Failure: std::runtime_error where a process fails or a generated program does not link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/link/player_process.h"

namespace bench {

struct Options {
    std::vector<std::string> families;
    std::size_t rounds = 7;
    std::size_t programs_max = 1000;  // of each family
    std::string folder;
};

struct FamilyResult {
    std::string name;
    bool is_measured = true;   // else only the answers count
    std::size_t programs = 0;  // that were played
    std::size_t left_out = 0;  // that do not link without Cairn, or draw differently each time
    double source_bytes = 0;   // of one program, on average
    std::vector<std::array<PlayedFamily, kConditions>> rounds;
    std::size_t differences = 0;  // answers, over all rounds
    std::string first_difference;
};

// Nothing where a package is not installed.
std::optional<FamilyResult> measure_family(const Theatre &theatre, const std::string &name,
                                           const Options &options);

// The time of a program before it can be used.
std::int64_t build_ns(const std::array<std::int64_t, kPhases> &spent);

// Milliseconds of the processor, for all programs together.
double build_ms(const PlayedFamily &played);

}  // namespace bench
