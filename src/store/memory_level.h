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

    // Entries go by the hash of their key and by their place, a number that is never used for
    // other contents. Of one hash the latest place is kept.

    // Says that find() will follow: what it will look at comes into the processor's cache
    // meanwhile.
    void prefetch(std::uint64_t hash) const;
    // The blob kept, or null.
    BlobRef find(std::uint64_t hash, std::uint64_t place);
    // Notes that an entry of `bytes` was read, and tells whether to keep it. When that would push
    // out another, only one in sixteen is let in: what is hot comes again, and what is not does not
    // cost a copy each time.
    bool wants(std::uint64_t hash, std::uint64_t bytes, Admission admission);
    // REQUIRES: the blob is the caller's alone, or was kept under that place before.
    void keep(std::uint64_t hash, std::uint64_t place, const BlobRef &blob);
    void clear();

    std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // How many blobs were found, and the bytes of their values. Counted by shard, so that threads
    // that read at the same time do not wait for one counter.
    std::uint64_t found() const;
    std::uint64_t found_bytes() const;

  private:
    static constexpr std::size_t kShardCount = 16;

    // Look-ups wait for an entry to come from memory: four of them are one cache line.
    struct alignas(16) Entry {
        std::uint64_t hash = 0;     // 0: unused
        std::uintptr_t marked = 0;  // a Blob, which is aligned, and in bit 0 whether it was used

        // Null: seen once.
        Blob *blob() const { return reinterpret_cast<Blob *>(marked & ~std::uintptr_t{1}); }
        void set_blob(Blob *blob) { marked = reinterpret_cast<std::uintptr_t>(blob); }
        bool used() const { return (marked & 1) != 0; }  // since the hand passed
        void set_used(bool used) { marked = (marked & ~std::uintptr_t{1}) | (used ? 1 : 0); }
    };
    struct alignas(64) Shard {
        TryMutex mutex;
        std::vector<Entry> table GUARDED_BY(mutex);  // open addressing; size is a power of two
        std::size_t count GUARDED_BY(mutex) = 0;
        std::size_t hand GUARDED_BY(mutex) = 0;
        std::uint64_t bytes GUARDED_BY(mutex) = 0;
        unsigned turned_away GUARDED_BY(mutex) = 0;
        // Changed under the mutex, read without.
        std::atomic<std::uint64_t> found = 0;
        std::atomic<std::uint64_t> found_bytes = 0;
        // Where the table is, for prefetch() only.
        std::atomic<const Entry *> table_hint = nullptr;
        std::atomic<std::size_t> mask_hint = 0;
    };

    Shard &shard(std::uint64_t hash) { return shards_[hash >> 60]; }
    static Entry *lookup(Shard &shard, std::uint64_t hash) REQUIRES_LOCK(shard.mutex);
    static Entry *try_insert(Shard &shard, std::uint64_t hash) REQUIRES_LOCK(shard.mutex);
    static void grow(Shard &shard) REQUIRES_LOCK(shard.mutex);
    static void erase(Shard &shard, std::size_t place) REQUIRES_LOCK(shard.mutex);
    void drop_blob(Shard &shard, Entry &entry) REQUIRES_LOCK(shard.mutex);
    void make_room(Shard &shard, std::uint64_t bytes) REQUIRES_LOCK(shard.mutex);

    const std::uint64_t capacity_bytes_;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::array<Shard, kShardCount> shards_;
};

}  // namespace cairn
