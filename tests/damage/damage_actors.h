// The processes of a case of the damage torture: those that use the cache while it is damaged, those
// that are killed, and the one that checks it at the end.
// SPDX-License-Identifier: MIT
//
// Thread safety: each in a process of its own.
// Failure: what they find is in the arena's findings. A result that is not 0 is the end of the process
// in a way that it must not take.
#pragma once

#include <cstdint>
#include <string>

#include "damage/damage_cases.h"

namespace cairn_test {

struct CaseScene {
    const CasePlan &plan;
    const TortureSample &sample;
    CaseArena &arena;
    std::string root;
    Damaged damaged = {};  // so far
};

inline constexpr std::uint64_t kRoomyLimit = 64u << 20;
inline constexpr std::uint64_t kTightLimit = 1u << 20;
inline constexpr unsigned kLiveWriters = 2;  // a reader comes to them

// Uses the cache until told to stop. Writer `self` changes the keys whose number it is modulo
// kLiveWriters; kLiveWriters itself only reads.
int live_beside_damage(const CaseScene &scene, unsigned self);
// Uses the cache in every way that a damage may set something off, until killed.
int use_until_killed(const CaseScene &scene, std::uint64_t seed);
int check_after_damage(const CaseScene &scene, std::uint64_t seed);

}  // namespace cairn_test
