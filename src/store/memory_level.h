// Verified private copies of entries that this process has found more than once.
// SPDX-License-Identifier: MIT
//
// A copy in memory that nobody else can write to stays verified: it is the one place where
// "verified once" is provably enough, and where a reader is out of reach of whoever damages or cuts
// a file. Entries are admitted at their second look-up, so that a start that reads each program
// once costs no memory, and leave by the CLOCK rule when the bound is reached.
//
// Thread safety: all methods may be called from any thread. None waits: what a busy shard holds is
// simply not found, nor kept.
//   That also makes them safe in a forked child, where a lock may have been held by a thread that
//   is no more.
// Ownership: holds one reference to each blob.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "store/blob.h"

namespace cairn {

class MemoryLevel {
  public:
    enum class Admission { second_use, at_once };

    // Keeps at most `capacity_bytes`, the blobs' whole allocations counted; 0 keeps nothing.
    explicit MemoryLevel(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
    ~MemoryLevel() { clear(); }
    MemoryLevel(const MemoryLevel &) = delete;
    MemoryLevel &operator=(const MemoryLevel &) = delete;

    // The blob kept under `id` (a number that is never used for other contents), or null.
    BlobRef find(std::uint64_t id);
    // Notes that an entry of `bytes` was read, and tells whether to keep it. When that would push
    // out another, only one in sixteen is let in: what is hot comes again, and what is not does not
    // cost a copy each time.
    bool wants(std::uint64_t id, std::uint64_t bytes, Admission admission);
    void keep(std::uint64_t id, const BlobRef &blob);
    void clear();

    std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t kShardCount = 16;

    struct Entry {
        std::uint64_t id = 0;  // 0: unused
        Blob *blob = nullptr;  // null: seen once
        bool used = false;     // since the hand passed
    };
    struct alignas(64) Shard {
        Mutex mutex;
        std::vector<Entry> table GUARDED_BY(mutex);  // open addressing; size is a power of two
        std::size_t count GUARDED_BY(mutex) = 0;
        std::size_t hand GUARDED_BY(mutex) = 0;
        std::uint64_t bytes GUARDED_BY(mutex) = 0;
        unsigned turned_away GUARDED_BY(mutex) = 0;
    };

    static std::uint64_t mix(std::uint64_t id) { return id * 0x9E3779B97F4A7C15u; }
    Shard &shard(std::uint64_t id) { return shards_[mix(id) >> 60]; }
    static Entry *lookup(Shard &shard, std::uint64_t id) REQUIRES_LOCK(shard.mutex);
    static Entry &insert(Shard &shard, std::uint64_t id) REQUIRES_LOCK(shard.mutex);
    static void grow(Shard &shard) REQUIRES_LOCK(shard.mutex);
    static void erase(Shard &shard, std::size_t place) REQUIRES_LOCK(shard.mutex);
    void drop_blob(Shard &shard, Entry &entry) REQUIRES_LOCK(shard.mutex);
    void make_room(Shard &shard, std::uint64_t bytes) REQUIRES_LOCK(shard.mutex);

    const std::uint64_t capacity_bytes_;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::array<Shard, kShardCount> shards_;
};

}  // namespace cairn
