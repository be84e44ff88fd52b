// The scenario `remember` of a torture round: workers store into a cache that evicts, remember what they have stored in
// its history, and count it by day.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions for processes of their own that share one Arena.
// Failure: what is found goes to the arena's findings.
#pragma once

#include <cstdint>
#include <string>

#include "crash/scenarios.h"

namespace cairn_test {

void prepare_remembering(Arena &arena, const std::string &root);
void remember(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed);

// What was evicted is said to be, and nothing else is; what was noted is known, and nothing else is;
// what was counted is counted once. Of two processes that write to one place at the same moment,
// one may lose what it has noted: few do.
void verify_remembering(Arena &arena, const std::string &root);

}  // namespace cairn_test
