// Layout of the index file: two copies of a header, live counters, and levels of buckets.
// Format: docs/formats/store.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: constants and pure functions.
//
// Level k has 256 * 8^k buckets of 16 slots. The index adds a level when the bucket of a new entry
// is full in every level. Entries never move between levels, so growing disturbs neither readers
// nor writers.
#pragma once

#include <cstdint>

#include "store/segment_format.h"

namespace cairn {

inline constexpr const char *kIndexFileName = "cache.idx";
// Bytes that are locked:
inline constexpr std::uint64_t kBuilderByte = 0;  // under construction: its builder lives
inline constexpr std::uint64_t kNameByte = 1;     // somebody is about to give its name away
inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::size_t kSlotsPerBucket = 16;
inline constexpr std::size_t kSlotsPerPage = kPage / sizeof(std::uint64_t);
inline constexpr unsigned kLevelMax = 6;
inline constexpr std::uint64_t kFirstLevelBuckets = 256;

// Page numbers of the fixed part. The two copies of the header are not in neighbouring pages.
inline constexpr std::uint64_t kHeaderPage = 0;
inline constexpr std::uint64_t kCountersPage = 1;
inline constexpr std::uint64_t kHeaderCopyPage = 2;
inline constexpr std::uint64_t kFixedPages = 4;

constexpr std::uint64_t level_buckets(unsigned level) {
    return kFirstLevelBuckets << (3 * level);
}
constexpr std::uint64_t level_pages(unsigned level) {
    return level_buckets(level) * kSlotsPerBucket / kSlotsPerPage;
}
// The pages before a level's slots. They hold one bit for each page of slots, set when its slots
// are initialised.
constexpr std::uint64_t level_bitmap_pages(unsigned level) {
    return (level_pages(level) + kPage * 8 - 1) / (kPage * 8);
}
// Where a level begins, in bytes of the file. The level before it ends there.
constexpr std::uint64_t level_offset(unsigned level) {
    std::uint64_t pages = kFixedPages;
    for (unsigned i = 0; i < level; ++i) pages += level_bitmap_pages(i) + level_pages(i);
    return pages * kPage;
}
constexpr std::uint64_t index_size(unsigned levels) {
    return level_offset(levels);
}

// Live counters: eight-byte words, each on a cache line of its own, in the counters page.
enum class Counter : unsigned {
    levels = 0,        // in use; if damaged, the levels themselves tell
    last_stamp = 1,    // of the latest put, ns since 1970; never goes back
    segment_hint = 2,  // a segment number that was free
    entries = 3,       // about how many there are
    retired = 4,       // grows with each deleted segment, see kSealed
    rebuild = 5,       // nothing_due(), or RebuildReasons; with `damage` the time above them
    limit_bytes = 6,   // of the latest process that opened the cache for writing
    victim = 7,        // number + 1 of the segment that is being evicted; 0: none. See kHasNoWriter
    unsynced = 8,      // 1: the cache was never synced. Else, also after damage: it was, so copies
                       // are synced before their originals go
    copy_debt = 10,    // bytes copied lately beyond the bytes freed
    boot = 9,          // the system start in which the cache was last used
    clears = 14,       // grows when entries were removed on request, all or those of a time
    cleared_at = 16,   // when that was last, s since 1970; 0: never
    ghosts = 17,       // grows when the file of ghosts is made
    sampling = 18,     // of 2^(this - 1) keys one is in the file `reuse`; 0: there is none
    turned = 19,       // bytes that evicting has retired, in parts of the limit, see turned_by()
};

// In Counter::victim: the segment has no writer and gets none, so its entries may be dropped.
// Without this bit the segment is only named.
inline constexpr std::uint64_t kHasNoWriter = std::uint64_t{1} << 32;

// In Counter::retired: another index is about to take the place of this one, or has. What is
// published from now on may not be taken over.
inline constexpr std::uint64_t kSealed = std::uint64_t{1} << 63;

// In Counter::rebuild: no rebuild is due. From format 2 on it is a word that damage hardly makes: else
// damage could take a request away, and nobody would look for what the index lacks.
constexpr std::uint64_t nothing_due(std::uint32_t format) {
    return format < 2 ? 0 : 0xA36C'1E5B'97D2'F048;
}

// Why segments may hold entries that the index lacks: bits, which nothing_due() does not have.
enum class RebuildReason : std::uint64_t {
    none = 0,
    damage = 1,  // a part of the index was lost: do not believe a miss before a rebuild
    boot = 2,    // the system was started: what was not synced may be lost, in the index or in
                 // segments. The rebuild runs in the background
};

constexpr std::uint64_t counter_offset(Counter counter) {
    return kCountersPage * kPage + static_cast<unsigned>(counter) * 64;
}

}  // namespace cairn
