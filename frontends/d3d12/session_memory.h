// The entries of a MEMORY session.
// SPDX-License-Identifier: MIT
//
// Keys and values count towards the bytes. The newest entry always stays, even alone above the
// limit, until a newer one comes: D3D12 wants it so. To be found makes an entry the newest.
//
// Thread safety: internally synchronised; a child of fork() begins with an empty one.
// Failure: std::bad_alloc, and nothing is kept.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "base/mutex.h"
#include "entry.h"
#include "os/per_process.h"

namespace cairn::d3d12 {

class SessionMemory {
  public:
    SessionMemory(uint64_t limit_bytes, uint64_t limit_entries)
        : limit_bytes_(limit_bytes), limit_entries_(limit_entries) {}

    // The entry of this hash, whatever its key is, or null.
    EntryRef find(const KeyHash &hash);
    // Null when the entry is kept now; else the one that is there and stays.
    EntryRef insert(const KeyHash &hash, const EntryRef &entry);
    void clear();

  private:
    struct Place {
        KeyHash hash;
        EntryRef entry;
    };
    using Order = std::list<Place>;  // newest first

    struct State {
        Mutex mutex;
        // Guarded by mutex
        Order order;
        std::unordered_map<KeyHash, Order::iterator, HashOfKeyHash> places;
        uint64_t bytes = 0;
    };

    const uint64_t limit_bytes_;
    const uint64_t limit_entries_;
    PerProcess<State> state_;
};

}  // namespace cairn::d3d12
