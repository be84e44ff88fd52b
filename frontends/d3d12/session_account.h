// What becomes of the look-ups of sessions, in the account of their cache: docs/why.md.
// SPDX-License-Identifier: MIT
//
// An application looks a value up, and makes and stores it where there is none. How long that took is
// known where the thread that missed it stores it next; else nobody knows what the value has cost.
//
// Thread safety: any thread. Ownership: the cache outlives it.
// Failure: as an Account's; construction throws where there is no memory, nothing else does.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "common/account.h"
#include "disk_level.h"
#include "entry.h"

namespace cairn::d3d12 {

class SessionAccount {
  public:
    // `cache`: null for a MEMORY session, and where entries are hidden: then nothing is remembered.
    SessionAccount(const CacheOptions &options, cairn_cache *cache);

    // A look-up since `start_ns`, by the monotonic clock.
    void found(const KeyHash &hash, const Entry &entry, uint64_t start_ns);
    void missed(const KeyHash &hash, uint64_t start_ns);
    // One that could not find anything, and why.
    void refused(const KeyHash &hash, Detail why);

    // So long it took to make the value that is about to be stored, in nanoseconds; 0: not known.
    uint64_t cost_ns(const KeyHash &hash) const;
    // It was stored, or not; `cost_ns` as before.
    void stored(const KeyHash &hash, Outcome outcome, size_t size, uint64_t cost_ns);

  private:
    ProgramParts parts_of(const KeyHash &hash) const;
    void note_miss(const KeyHash &hash, const Link &link, uint64_t spent_ns);
    bool is_noted(const KeyHash &hash, const Link &link);

    const uint64_t number_;   // of this account, among all of the process
    const uint64_t context_;  // see ProgramParts
    const bool is_on_disk_;
    Account account_;
    // Of misses that have a record, by what they are of: who asks for a few keys again and again would
    // have no room for others.
    std::array<std::array<std::atomic<uint64_t>, 4>, 64> noted_ = {};
};

}  // namespace cairn::d3d12
