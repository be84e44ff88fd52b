// Verified private copies of entries that this process has found more than once.
// SPDX-License-Identifier: MIT
//
// No other process can write to a copy in our memory, so a copy that was verified stays verified,
// and damaged or truncated files do not reach its readers. An entry is admitted at its second
// look-up, so that a start that reads each program once costs no memory. In a full level it takes
// the place of others only if it was used more than twice as often as each of them. Those that are
// compared with a newcomer and stay lose half of their uses, so that old ones count less and less.
//
// Thread safety: all methods, from any thread. None waits: a busy shard finds and keeps nothing.
// That also makes them safe in a forked child, where a thread that does not exist may hold a lock.
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
    // Keeps at most `capacity_bytes`, counting whole allocations; 0 keeps nothing.
    explicit MemoryLevel(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
    ~MemoryLevel() { clear(); }
    MemoryLevel(const MemoryLevel &) = delete;
    MemoryLevel &operator=(const MemoryLevel &) = delete;

    // An entry is known by the hash of its key and by its place, a number that no other contents
    // ever have. The latest place of a hash is kept.

    // Prefetches what find() will look at.
    void prefetch(std::uint64_t hash) const;
    // The blob kept, or null.
    BlobRef find(std::uint64_t hash, std::uint64_t place);
    // Notes that an entry of `bytes` was read, and tells whether to keep it.
    bool wants(std::uint64_t hash, std::uint64_t bytes);
    // Evicts others for it. REQUIRES: wants() has said so; the caller alone has the blob, or it was
    // kept under that place before.
    void keep(std::uint64_t hash, std::uint64_t place, const BlobRef &blob);
    void clear();

    std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // The number of blobs found, and the bytes of their values. Counted by shard, so that threads
    // do not contend for one counter.
    std::uint64_t found() const;
    std::uint64_t found_bytes() const;

  private:
    static constexpr std::size_t kShardCount = 16;

    // A look-up waits for an entry to come from memory: four entries share a cache line.
    struct alignas(16) Cell {
        std::uint64_t hash = 0;    // 0: unused
        std::uintptr_t value = 0;  // a Blob, which is aligned, and in the bits below it the uses

        // Null: not kept.
        Blob *blob() const { return reinterpret_cast<Blob *>(value & ~std::uintptr_t{kUsesMax}); }
        void set_blob(Blob *blob) { value = reinterpret_cast<std::uintptr_t>(blob) | uses(); }
        unsigned uses() const { return static_cast<unsigned>(value & kUsesMax); }
        void set_uses(unsigned uses) { value = (value & ~std::uintptr_t{kUsesMax}) | uses; }
        // Writes only a change, so that readers on other processors can share the line.
        void count_use() {
            if (uses() != kUsesMax) ++value;
        }
    };
    static constexpr unsigned kUsesMax = alignof(Blob) - 1;
    struct alignas(64) Shard {
        TryMutex mutex;
        std::vector<Cell> table GUARDED_BY(mutex);  // open addressing; size is a power of two
        std::size_t count GUARDED_BY(mutex) = 0;
        std::size_t hand GUARDED_BY(mutex) = 0;
        std::uint64_t bytes GUARDED_BY(mutex) = 0;
        // Written under the mutex, read without it.
        std::atomic<std::uint64_t> found = 0;
        std::atomic<std::uint64_t> found_bytes = 0;
        // Where the table is, for prefetch() only.
        std::atomic<const Cell *> table_hint = nullptr;
        std::atomic<std::size_t> mask_hint = 0;
    };

    Shard &shard(std::uint64_t hash) { return shards_[static_cast<std::size_t>(hash >> 60)]; }
    static Cell *lookup(Shard &shard, std::uint64_t hash) REQUIRES_LOCK(shard.mutex);
    static Cell *try_insert(Shard &shard, std::uint64_t hash) REQUIRES_LOCK(shard.mutex);
    static void grow(Shard &shard) REQUIRES_LOCK(shard.mutex);
    std::uint64_t room(const Shard &shard) const REQUIRES_LOCK(shard.mutex);
    bool is_worth_more(Shard &shard, unsigned uses, std::uint64_t bytes) REQUIRES_LOCK(shard.mutex);
    void drop_blob(Shard &shard, Cell &cell) REQUIRES_LOCK(shard.mutex);
    void evict(Shard &shard, std::uint64_t bytes) REQUIRES_LOCK(shard.mutex);

    const std::uint64_t capacity_bytes_;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::array<Shard, kShardCount> shards_;
};

}  // namespace cairn
