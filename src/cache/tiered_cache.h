// Two caches as one: a key that the upper one misses is looked up in the lower one, and kept above.
// SPDX-License-Identifier: MIT
//
// One of the two is the home of the entries: its answer is the answer, and the other one has
// copies. Memory over a disk has its home below; a disk over somebody else's entries has it above.
// A failure of the tier that is not the home counts as a miss, or is ignored.
//
// Rules:
//  1. An entry that was read below is kept above only if nobody has put, removed or cleared its
//     key meanwhile: a late load never replaces something newer.
//  2. A put writes the lower tier first, and the upper one only if no other change of the key ran
//     at the same time; else the copy goes, and the next look-up makes another.
//  3. No lock is held while the lower tier is asked: it may be slow.
//  4. When another process clears the lower tier, the next look-up clears the upper one.
//
// A tier that cannot remove what it has answers with it again.
//
// Thread safety, ownership: as Cache.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "base/mutex.h"
#include "cache/cache.h"

namespace cairn {

class TieredCache final : public Cache {
  public:
    enum class Home { upper, lower };

    TieredCache(std::unique_ptr<Cache> upper, std::unique_ptr<Cache> lower, Home home)
        : upper_(std::move(upper)),
          lower_(std::move(lower)),
          home_(home),
          clears_seen_(lower_->clears()) {}

    Result<BlobRef> get(Bytes key) override;
    Result<bool> contains(Bytes key) override;
    BlobRef get_cached(Bytes key) override;
    Fate fate_of(Bytes key) override { return home().fate_of(key); }
    std::uint64_t load_newest(const std::function<bool()> &go_on) override;
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override;
    Result<bool> remove(Bytes key) override;
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override;
    std::uint64_t clears() const override { return home().clears(); }
    // Of the upper tier; nothing more is loaded into it ahead.
    Result<std::uint64_t> trim(std::uint64_t bytes) override;
    Status flush(std::uint64_t patience_us) override { return home().flush(patience_us); }
    Status sync() override { return home().sync(); }
    Status compress() override { return home().compress(); }
    CacheStats stats() override;
    std::uint64_t evicted() override { return home().evicted(); }
    std::uint64_t disk_limit() override { return home().disk_limit(); }
    void enumerate(const Visit &visit) override { home().enumerate(visit); }
    const CachePlace *place() const override { return home().place(); }

  private:
    // Changes are counted by key: keys that share a place cost each other a copy.
    static constexpr std::size_t kPlaces = 256;

    Cache &home() const { return home_ == Home::upper ? *upper_ : *lower_; }
    class PutAbove;

    static std::size_t place_of(Bytes key);
    std::uint64_t &changes_of(Bytes key) REQUIRES_LOCK(mutex_);
    std::uint64_t seen_changes(Bytes key);
    std::uint64_t note_change(Bytes key);
    Result<PutOutcome> keep(const BlobRef &entry, std::uint64_t seen, bool is_behind);
    Result<bool> drop(Bytes key);
    Status drop_all();
    void follow_clears();

    const std::unique_ptr<Cache> upper_;
    const std::unique_ptr<Cache> lower_;
    const Home home_;

    std::atomic<std::uint64_t> clears_seen_;
    std::atomic<bool> was_trimmed_ = false;
    Mutex mutex_;  // taken before those of the upper tier
    std::array<std::uint64_t, kPlaces> changes_ GUARDED_BY(mutex_) = {};
    std::array<std::uint32_t, kPlaces> puts_ GUARDED_BY(mutex_) = {};  // above, under way
};

}  // namespace cairn
