// SPDX-License-Identifier: MIT
#include "store/account.h"

#include <algorithm>
#include <utility>

#include "store/index_format.h"
#include "store/record.h"
#include "store/slot.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSegmentBytesMin = 64 * 1024;
// Half of what a slot can address, so that one eviction does not take long.
constexpr std::uint64_t kSegmentBytesMax = (std::uint64_t{1} << kOffsetBits) * kRecordAlignment / 2;
// A segment has at most this part of the limit.
constexpr std::uint64_t kSegmentsPerLimit = 64;
// But up to this size it may have that part. A segment costs a file that is made, looked at
// whenever the cache is measured, and deleted: tiny ones cost far more than writing their entries.
constexpr std::uint64_t kSmallSegmentBytes = 128 * 1024;
constexpr std::uint64_t kSmallSegmentsPerLimit = 32;
// Steps are large, so that few puts pay for a measurement; small, so that many writers fit below a
// limit. The first one is the smaller, as many writers write little.
constexpr std::uint64_t kStepBytesMin = 16 * 1024;
constexpr std::uint64_t kStepBytesMax = 2 * 1024 * 1024;
constexpr std::uint64_t kSmallStepBytes = 64 * 1024;
// Far from the limit is where this many steps fit in, and this part of the limit.
constexpr std::uint64_t kFarSteps = 64;
constexpr std::uint64_t kFarPerLimit = 8;
// Left for small files beside index and segments, and for the blocks of the directory itself.
constexpr std::uint64_t kMarginBytes = 64 * 1024;

// What is no index and no segment cannot be evicted. Together such files count for this part of the
// limit at most: damage that has made one large, or a file that is not ours, leaves the cache the rest.
constexpr std::uint64_t kOthersPerLimit = 2;

}  // namespace

SpaceLimits space_limits(std::uint64_t limit_bytes, WhenFull when_full) {
    const std::uint64_t share = limit_bytes / kSegmentsPerLimit;
    const std::uint64_t small = std::min(limit_bytes / kSmallSegmentsPerLimit, kSmallSegmentBytes);
    // Who refuses keeps less free than a small segment, and could not compress a larger one.
    const std::uint64_t largest = when_full == WhenFull::refuse ? share : std::max(share, small);
    std::uint64_t size = kSegmentBytesMin;
    while (size < kSegmentBytesMax && size * 2 <= largest) size *= 2;
    const std::uint64_t first = std::clamp(size / 8, kStepBytesMin, kStepBytesMax);
    const std::uint64_t step = std::max(first, std::min(size / 2, kSmallStepBytes));
    if (when_full == WhenFull::refuse) {
        const std::uint64_t copies = limit_bytes - std::min(kMarginBytes, share);
        return {limit_bytes, size, first, step, copies, copies - std::min(size, share), UINT64_MAX};
    }
    const std::uint64_t copies = limit_bytes - kMarginBytes;
    return {limit_bytes, size, first, step, copies, copies - size, copies - 3 * size};
}

Result<DiskUse> Account::measure_and_note() {
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    const std::uint64_t others_max = limits_.limit_bytes / kOthersPerLimit;
    use.bytes -= use.other_bytes - std::min(use.other_bytes, others_max);
    used_bytes_.store(use.bytes, std::memory_order_relaxed);
    return use;
}

// Far from the limit, without the locks: each writer takes one step at a time, and 64 of them fit
// in. Near the limit, one writer at a time.
Result<Account::Space> Account::take(Index &index) {
    const std::uint64_t far =
        std::max(limits_.limit_bytes / kFarPerLimit, kFarSteps * limits_.step_bytes);
    const auto is_far = [&](std::uint64_t bytes) {
        return bytes + far < allowed_bytes(Purpose::put);
    };
    if (is_far(used_bytes_.load(std::memory_order_relaxed))) {  // else it is near, most likely
        TRY_ASSIGN(DiskUse use, measure_and_note());
        if (is_far(use.bytes)) return Space{std::move(use), {}, {}};
    }
    return lock_space(index);
}

// Trims what others appended to the index file, so that it does not cause evictions.
Result<Account::Space> Account::lock_space(Index &index) {
    std::unique_lock thread_lock(mutex_.get());
    TRY_ASSIGN(ByteLock lock, space_lock_.acquire(directory_, kSpaceByte));
    (void)index.trim();
    TRY_ASSIGN(DiskUse use, measure_and_note());
    return Space{std::move(use), std::move(thread_lock), std::move(lock)};
}

Status Account::measure(Index &index) {
    TRY_ASSIGN(const DiskUse use, measure_and_note());
    if (use.bytes <= limits_.limit_bytes) return {};
    TRY_ASSIGN(const Space space, lock_space(index));
    if (space.use.bytes > limits_.limit_bytes) return Error::full;
    return {};
}

// An index may take a sixteenth of the limit, in levels, and the store evicts for it. Beyond that,
// and near the limit, it takes single pages of space that is free.
Status Account::grow_index(Index &index, std::uint64_t hash, Purpose purpose) {
    TRY_ASSIGN(const Space space, lock_space(index));
    TRY_ASSIGN(const FileInfo file, index.file().info());
    const std::uint64_t worth = limits_.limit_bytes / 16;
    const auto fits = [&](std::uint64_t bytes) {
        return space.use.bytes + bytes <= allowed_bytes(purpose);
    };
    const std::uint64_t page = index.growth_bytes_for(hash);
    const std::uint64_t level = index.growth_bytes();
    if (page > kPage && level <= worth && fits(level)) return index.grow();
    const bool is_worth_it = file.disk_bytes + page <= worth;
    if (page == 0 || (pressed() && !is_worth_it)) return Error::too_large;
    if (!fits(page)) return is_worth_it ? Error::full : Error::too_large;
    const Status grown = index.grow_for(hash);
    return grown.error() == Error::unsupported ? Status(Error::too_large) : grown;
}

Status Account::make_file(Index &index, std::uint64_t size, const std::function<Status()> &make) {
    TRY_ASSIGN(const Space space, lock_space(index));
    // A cache whose limit was just lowered is evicting for as long as it takes.
    const bool is_below = space.use.bytes <= limits_.limit_bytes;
    const std::uint64_t after = space.use.bytes + align_up(size, kPage);
    if (is_below && after > limits_.limit_bytes) return Error::full;
    return make();
}

}  // namespace cairn
