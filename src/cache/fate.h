// What became of an entry that a look-up has missed.
// SPDX-License-Identifier: MIT
//
// Thread safety: values.
#pragma once

#include <cstdint>

namespace cairn {

enum class FateKind : std::uint8_t {
    unknown,   // nothing is known of it; most likely it was never stored
    evicted,   // it had to make room
    damaged,   // it was dropped because its bytes were not what was stored
    crashed,   // it was dropped because a process died while its driver took it
    kept_out,  // the same, more than once: it is not taken any more
    cleared,   // entries were removed on request since, and this may have been one of them
    late,      // the user's agent was asked for it and did not answer in time
};

struct Fate {
    FateKind kind = FateKind::unknown;
    std::uint64_t when_s = 0;  // since 1970; 0: not known
};

}  // namespace cairn
