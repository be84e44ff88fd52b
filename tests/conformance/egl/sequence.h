// Random sequences of calls whose results are written down, to be compared between subjects.
// SPDX-License-Identifier: MIT
//
// Sizes of linked programs' binaries are the driver's own, so a sequence either has no links, and
// all sizes count, or has links, and limits that hold everything or nothing.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>

namespace conformance {

// Prints a line for each call: what was called, what it returned, the error, and the whole cache.
void play_sequence(uint64_t seed, int steps);

}  // namespace conformance
