// Pins the entries of caches, so that eviction takes others first.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state.
// Failure: a Failure; what was pinned before it stays pinned.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::dashboard {

enum class Pin { yes, no };

// Stores each entry that is not so already again, with or without the mark. Returns how many there were.
std::uint64_t pin_entries(const std::string &root, const std::string &identifier, Pin pin);

}  // namespace cairn::dashboard
