// Other caches' policies, entry by entry: each takes the whole limit for records, and evicting costs
// nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "policy/trace.h"

namespace policy_sim {

struct Rival {
    std::string_view name;
    Score (*run)(const Trace &trace, std::uint64_t limit_bytes);
};

// lru, mru, fifo, GDSF, S3-FIFO, SIEVE, W-TinyLFU. See the end of rivals.cc for their settings.
std::span<const Rival> rivals();

}  // namespace policy_sim
