// SPDX-License-Identifier: MIT
#include "store/repair.h"

#include <new>

#include "base/guarded.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "store/index_file.h"

namespace cairn {
namespace {

// How long one look-up may rebuild. This happens once for each damage.
constexpr std::uint64_t kRebuildNs = 100'000'000;
// The background check works for less than this at a time; another look-up may work for longer.
constexpr std::uint64_t kRebuildPatienceUs = 2'000;
constexpr std::uint64_t kRetryAfterNs = 5'000'000'000;
constexpr unsigned kPauseUs = 2'500;

}  // namespace

Repair::Progress Repair::step(Index &index, std::uint64_t duration_ns) {
    if (rebuild_ == nullptr || &rebuild_->index() != &index || !rebuild_->is_ours()) {
        if (monotonic_ns() < not_before_ns_) return Progress::failed;
        rebuild_.reset(new (std::nothrow) Rebuild(directory_, index, reader_, account_, evictor_));
        if (rebuild_ == nullptr) return Progress::failed;
        log_.write(Severity::info, "cache %s: rebuilding the index from the segments",
                   cache_name_.c_str());
    }
    auto step = guarded(
        [&]() REQUIRES_LOCK(mutex_) { return rebuild_->step(monotonic_ns() + duration_ns); });
    bytes_total_.store(rebuild_->bytes_total(), std::memory_order_relaxed);
    bytes_left_.store(rebuild_->bytes_left(), std::memory_order_relaxed);
    if (step.ok() && !step.value()) return Progress::unfinished;
    bytes_left_.store(0, std::memory_order_relaxed);
    if (step.ok()) {
        log_.write(Severity::info, "cache %s: %llu entries found again", cache_name_.c_str(),
                   static_cast<unsigned long long>(rebuild_->recovered()));
    } else {
        log_.write(Severity::warning, "cache %s: rebuilding the index failed, trying again later",
                   cache_name_.c_str());
        not_before_ns_ = monotonic_ns() + kRetryAfterNs;
    }
    rebuild_.reset();
    return step.ok() ? Progress::done : Progress::failed;
}

bool Repair::rebuild(Index &index) {
    Backoff backoff(kRebuildPatienceUs);
    do {
        if (mutex_.try_lock()) {
            const AdoptedLock lock(mutex_);
            return step(index, kRebuildNs) != Progress::failed;
        }
    } while (backoff.pause());
    return false;
}

void Repair::check_in_background(Index &index) {
    if (index.rebuild_due() == RebuildReason::none || background_index_ != nullptr) return;
    background_index_ = &index;
    // Without a thread there is no check; look-ups that meet damage rebuild all the same.
    (void)worker_.wake();
}

void Repair::run_background() {
    const auto file = directory_.open_or_make_file(kLockFileName);
    if (!file.ok()) return;
    const auto alone = file->try_lock(kRebuildByte, LockKind::exclusive);
    if (!alone.ok() || !alone.value()) return;  // another process does it
    do {
        if (!mutex_.try_lock()) continue;
        const AdoptedLock lock(mutex_);
        if (background_index_->rebuild_due() == RebuildReason::none) return;
        // A rebuild looks at the clock every 16 records, so a duration of 0 is a slice of 16.
        if (step(*background_index_, 0) != Progress::unfinished) return;
    } while (worker_.wait_until(Deadline::in_us(kPauseUs)));
}

}  // namespace cairn
