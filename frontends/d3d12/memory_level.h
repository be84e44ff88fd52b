// Entries in memory: all there is of a MEMORY session, and what a DISK session keeps of late.
// SPDX-License-Identifier: MIT
//
// Keys and values count towards the bytes. What is newest always stays, even alone above the limit,
// until something newer comes: D3D12 has it so. What was found is as new as what was stored.
//
// Thread safety: internally synchronised. Failure: none.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

#include "entry.h"
#include "key_hash.h"

namespace cairn::d3d12 {

class MemoryLevel {
  public:
    MemoryLevel(uint64_t limit_bytes, uint64_t limit_entries)
        : limit_bytes_(limit_bytes), limit_entries_(limit_entries) {}

    // The entry of this hash, whatever its key is, or null.
    EntryRef find(const KeyHash &hash);
    // Null when the entry is kept now; else the one that is there and stays.
    EntryRef insert(const KeyHash &hash, const EntryRef &entry);
    // The same for what was read elsewhere, unless all was cleared since clears() said `clears`.
    void keep(const KeyHash &hash, const EntryRef &entry, uint64_t clears);

    void clear();
    uint64_t clears();

    // Keys and values, for tests.
    uint64_t bytes();
    size_t count();

  private:
    struct Place {
        KeyHash hash;
        EntryRef entry;
    };
    using Order = std::list<Place>;  // newest first

    EntryRef insert_locked(const KeyHash &hash, const EntryRef &entry);
    void evict();

    const uint64_t limit_bytes_;
    const uint64_t limit_entries_;

    std::mutex mutex_;
    // Guarded by mutex_
    Order order_;
    std::unordered_map<KeyHash, Order::iterator, HashOfKeyHash> places_;
    uint64_t bytes_ = 0;
    uint64_t clears_ = 0;
};

}  // namespace cairn::d3d12
