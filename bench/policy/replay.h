// The store itself, on a trace.
// SPDX-License-Identifier: MIT
//
// Nothing is modelled: each look-up is one in a real cache, and what it misses is stored there, with
// bytes that do not compress and the cost that the trace tells. So segments, their margins, the index,
// and the time between puts of several processes count as they do for a user.
#pragma once

#include <cstdint>
#include <string>

#include "policy/trace.h"

namespace policy_sim {

struct ReplayOutcome {
    Score score;
    double put_us = 0;             // of a put, on average
    std::uint64_t room_bytes = 0;  // that segments had for entries: half of the looks found less
};

// Throws std::runtime_error where the cache fails. `parent`: a folder, best in memory.
ReplayOutcome replay(const Trace &trace, std::uint64_t limit_bytes, const std::string &policy,
                     const std::string &parent);

}  // namespace policy_sim
