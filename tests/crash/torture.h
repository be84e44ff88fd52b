// Kills processes that share a cache, at random instants, and checks that nothing is lost and
// nothing is wrong.
// SPDX-License-Identifier: MIT
//
// Rounds of the scenarios take turns. In each, worker processes use a fresh cache; one after the
// other is killed with SIGKILL and replaced; at the end a new process looks everything up.
//
// Thread safety: one at a time in a process.
// Failure: see TortureResult. Children never outlive the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "crash/scenarios.h"

namespace cairn_test {

enum class Verbosity { quiet, progress };

struct TortureOptions {
    std::uint64_t kills = 100;
    std::uint64_t seconds = 0;  // 0: no limit on time
    unsigned processes = 8;     // at most kWorkersMax
    std::string directory;      // "": a temporary one
    std::uint64_t seed = 1;
    std::uint64_t kills_per_round = 0;  // 0: such that every scenario has its turn, but at most 50
    std::optional<Scenario> only;
    Verbosity verbosity = Verbosity::quiet;
};

struct TortureResult {
    std::uint64_t kills = 0;
    std::uint64_t lost = 0;
    std::uint64_t wrong = 0;   // also crashes and hangs
    std::uint64_t failed = 0;  // calls that gave an error they must not give
    bool good() const { return kills != 0 && lost == 0 && wrong == 0 && failed == 0; }
};

TortureResult run_torture(const TortureOptions &options);

}  // namespace cairn_test
