// SPDX-License-Identifier: MIT
#include "cache/start_recorder.h"

#include "base/guarded.h"
#include "cache/cache.h"
#include "os/environment.h"

namespace cairn {
namespace {

// So often at most, flush() writes: a flush for each program costs nothing.
constexpr std::uint64_t kFlushEachNs = 1'000'000'000;

// Uses of a known key after which the clock is read: that costs as much as all else. The low bits
// of a place count them down; they say nothing about the hash that the place does not.
constexpr std::uint64_t kUsesPerClock = 64;

}  // namespace

StartRecorder::StartRecorder(Directory directory, const Times &times,
                             std::function<std::uint64_t()> clears)
    : directory_(std::move(directory)),
      first_write_(Deadline::in_us(times.first_write_us)),
      end_(Deadline::in_us(times.end_us)),
      clears_(std::move(clears)),
      clears_seen_(clears_()) {}

StartRecorder::~StartRecorder() {
    writer_.stop();
    write();
}

void StartRecorder::note(Bytes key) {
    const bool is_full = count_.load(std::memory_order_relaxed) == kOrderKeysMax;
    if (has_ended_.load(std::memory_order_relaxed) || is_full) return;
    const std::uint64_t hash = KeyHash()(as_text(key));
    auto &place = seen_[hash % kPlaces];
    const std::uint64_t seen = place.load(std::memory_order_relaxed);
    const bool is_known = (seen ^ hash) < kUsesPerClock;
    const bool is_started = is_started_.load(std::memory_order_relaxed);
    if (is_known && is_started) return;
    if (is_known && seen % kUsesPerClock != 0) {
        place.store(seen - 1, std::memory_order_relaxed);
        return;
    }
    const std::uint64_t now = coarse_monotonic_ns();
    const bool must_start = now >= first_write_.ns() && !is_started;
    place.store(hash | (kUsesPerClock - 1), std::memory_order_relaxed);
    if (is_known && !must_start) return;
    const MutexLock lock(mutex_);
    if (now < end_.ns()) {
        (void)guarded([&]() REQUIRES_LOCK(mutex_) { return add(key, hash); }, false);
    }
    const bool must_write = must_start || start_.size() == kOrderKeysMax;
    if (must_write && !is_started_.exchange(true)) (void)writer_.wake();
}

bool StartRecorder::add(Bytes key, std::uint64_t hash) {
    if (key.size() > kOrderKeyMax || start_.size() == kOrderKeysMax) return false;
    if (!hashes_.insert(hash).second) return false;
    start_.emplace_back(as_text(key));
    count_ = start_.size();
    return true;
}

void StartRecorder::write_twice() {
    write();
    while (writer_.wait_until(end_) && !end_.has_passed()) {
    }
    if (writer_.is_stopping()) return;
    has_ended_ = true;
    write();
}

// Where it cannot be written, the next write tries again. A process that clears between the two looks
// at what was cleared may remove the file before it is written.
void StartRecorder::write() {
    const MutexLock file_lock(file_mutex_);
    (void)guarded([&]() REQUIRES_LOCK(file_mutex_) -> Status {
        const std::uint64_t clears = clears_();
        if (clears != clears_seen_) {
            forget_order(directory_);  // this process may have written it while others cleared
            forget_noted();
        }
        clears_seen_ = clears;
        StartOrder start;
        {
            const MutexLock lock(mutex_);
            if (start_.size() == written_) return {};
            start = start_;
        }
        TRY_ASSIGN(const bool has_written, write_order(directory_, start, next_write_));
        if (has_written) next_write_ = OrderWrite::again;
        written_ = start.size();
        written_ns_ = coarse_monotonic_ns();
        if (clears_() != clears_seen_) forget_order(directory_);
        return {};
    });
}

void StartRecorder::forget_noted() {
    const MutexLock lock(mutex_);
    for (auto &place : seen_) place.store(0, std::memory_order_relaxed);
    start_.clear();
    hashes_.clear();
    count_ = 0;
    written_ = 0;
}

void StartRecorder::clear() {
    const MutexLock file_lock(file_mutex_);
    clears_seen_ = clears_();
    forget_order(directory_);
    forget_noted();
}

void StartRecorder::flush() {
    const auto is_due = [&] {
        const MutexLock lock(file_mutex_);
        return written_ns_ == 0 || coarse_monotonic_ns() - written_ns_ >= kFlushEachNs;
    };
    if (is_due()) write();
}

}  // namespace cairn
