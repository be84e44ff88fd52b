// SPDX-License-Identifier: MIT
#include "cache/use_notes.h"

#include <functional>
#include <string_view>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kRoundStep = 0x9E3779B97F4A7C15;  // changes all bits of what is kept

std::string_view view(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The loader waits for those who note, for moments; nobody waits for the loader.
class SCOPED_CAPABILITY Hold {
  public:
    explicit Hold(TryMutex &mutex) ACQUIRES(mutex) : mutex_(mutex) {
        while (!mutex_.try_lock()) sleep_us(1);
    }
    ~Hold() RELEASES() { mutex_.unlock(); }
    Hold(const Hold &) = delete;
    Hold &operator=(const Hold &) = delete;

  private:
    TryMutex &mutex_;
};

}  // namespace

bool UseNotes::note(Bytes key, Where where) {
    if (!wants(where)) return false;
    const std::uint64_t hash = std::hash<std::string_view>()(view(key));
    const std::uint64_t word = hash + round_.load(std::memory_order_relaxed) * kRoundStep;
    auto &seen = seen_[hash % kPlaces];
    if (seen.load(std::memory_order_relaxed) == word) return false;
    if (!mutex_.try_lock()) return false;
    const AdoptedLock lock(mutex_);
    seen.store(word, std::memory_order_relaxed);
    if (wants_start_.load(std::memory_order_relaxed)) note_start(key, hash);
    bool is_full = false;
    if (where == Where::memory && key.size() <= kHitKeyMax && hits_.size() < kHitsMax) {
        hits_.emplace_back(view(key));
        is_full = hits_.size() % kBatch == 0;
        if (hits_.size() == kHitsMax) wants_hits_.store(false, std::memory_order_relaxed);
        if (is_full) is_batch_full_.store(true, std::memory_order_relaxed);
    }
    return is_full;
}

void UseNotes::note_start(Bytes key, std::uint64_t hash) {
    if (key.size() > kOrderKeyMax) return;
    if (!start_hashes_.insert(hash).second) return;
    start_.emplace_back(view(key));
    start_count_.store(start_.size(), std::memory_order_relaxed);
    if (start_.size() == kOrderKeysMax) wants_start_.store(false, std::memory_order_relaxed);
}

std::vector<std::string> UseNotes::take_hits() {
    std::vector<std::string> taken;
    const Hold hold(mutex_);
    taken.swap(hits_);
    wants_hits_.store(true, std::memory_order_relaxed);
    is_batch_full_.store(false, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_relaxed);
    return taken;
}

StartOrder UseNotes::start() {
    const Hold hold(mutex_);
    return start_;
}

void UseNotes::end_start() {
    const Hold hold(mutex_);
    wants_start_.store(false, std::memory_order_relaxed);
    start_ = StartOrder();
    start_hashes_ = {};
}

void UseNotes::forget() {
    const Hold hold(mutex_);
    hits_.clear();
    wants_hits_.store(true, std::memory_order_relaxed);
    is_batch_full_.store(false, std::memory_order_relaxed);
    start_.clear();
    start_hashes_.clear();
    start_count_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cairn
