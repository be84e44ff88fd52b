// What is used of a cache, in the order of first use since its start, and which entries were found
// in memory only, which the disk is to be told.
// SPDX-License-Identifier: MIT
//
// A use costs a hash and a look at one word, mostly: a filter tells what was noted before; and not
// even that when nothing more is wanted. The filter has one word for many keys, so that a key may
// be noted again; and who meets another thread notes nothing. Both are of no consequence.
//
// Thread safety: any thread; end_start(), take_hits() and forget() are the loader's.
// Failure: what cannot be noted is not.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "cache/start_order.h"

namespace cairn {

class UseNotes {
  public:
    static constexpr std::size_t kBatch = 64;  // hits that are worth waking somebody
    static constexpr std::size_t kHitsMax = 4 * kBatch;
    static constexpr std::size_t kHitKeyMax = 256;  // bytes; hits of longer keys are not told

    enum class Where { memory, elsewhere };
    // True: a batch of hits is full.
    bool note(Bytes key, Where where);

    // Whether note() would note anything.
    bool wants(Where where) const {
        return wants_start_.load(std::memory_order_relaxed) ||
               (where == Where::memory && wants_hits_.load(std::memory_order_relaxed));
    }
    bool is_batch_full() const { return is_batch_full_.load(std::memory_order_relaxed); }
    // The hits since it was asked last. Those of the same entries are noted again from now on.
    std::vector<std::string> take_hits();
    // What the start has used until now.
    StartOrder start();
    // How many keys that are.
    std::size_t start_count() const { return start_count_.load(std::memory_order_relaxed); }
    // What is used from now on is no part of it.
    void end_start();
    // The cache was emptied.
    void forget();

  private:
    static constexpr std::size_t kPlaces = 4096;

    void note_start(Bytes key, std::uint64_t hash) REQUIRES_LOCK(mutex_);

    std::array<std::atomic<std::uint64_t>, kPlaces> seen_ = {};
    std::atomic<std::uint64_t> round_ = 1;
    std::atomic<std::size_t> start_count_ = 0;
    std::atomic<bool> is_batch_full_ = false;
    std::atomic<bool> wants_start_ = true, wants_hits_ = true;
    TryMutex mutex_;
    std::vector<std::string> hits_ GUARDED_BY(mutex_);
    StartOrder start_ GUARDED_BY(mutex_);
    std::unordered_set<std::uint64_t> start_hashes_ GUARDED_BY(mutex_);
};

}  // namespace cairn
