// Layout of the index file: two copies of a header, live counters, and levels of buckets. Format:
// docs/formats/store.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: constants and pure functions.
//
// Level k has 256 * 8^k buckets of 16 slots. A level is added when the bucket of a new entry is
// full in every level there is; nothing ever moves between levels, so that growing disturbs neither
// readers nor writers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "store/segment_format.h"

namespace cairn {

inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::size_t kSlotsPerBucket = 16;
inline constexpr std::size_t kSlotsPerPage = kPage / sizeof(std::uint64_t);
inline constexpr unsigned kLevelMax = 6;
inline constexpr std::uint64_t kFirstLevelBuckets = 256;
inline constexpr std::size_t kIndexHeaderSize = 64;

// Page numbers of the fixed part. The header is there twice, in pages that are not neighbours.
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
// The pages before a level's slots that hold one bit for each of its pages: set when the page's
// slots are initialised.
constexpr std::uint64_t level_bitmap_pages(unsigned level) {
    return (level_pages(level) + kPage * 8 - 1) / (kPage * 8);
}
// Where a level begins, in bytes of the file; that of the next level is where it ends.
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
    levels = 0,        // in use; where it is damaged, the levels themselves tell
    last_stamp = 1,    // of the latest put, ns since 1970, never going back
    segment_hint = 2,  // a segment number that was free
    entries = 3,       // about how many there are
    retired = 4,       // grows with each segment that is deleted
    rescan = 5,        // a RescanReason, with the time above it where it is `damage`
    limit_bytes = 6,   // of the latest process that opened the cache for writing
    victim = 7,       // number + 1 of the segment that is being given up; 0: none. See kHasNoWriter
    unsynced = 8,     // 1: nothing was ever made durable. Anything else, also after a loss: what
                      // was made durable is to stay so
    carry_debt = 10,  // bytes that were carried over lately without as many being freed
    boot = 9,         // the system start in which the cache was last used
    removals = 11,    // grows before an entry is taken out for good
    carrying = 12,    // the place of a copy that a slot is about to lead to (store/relocation.h)
    compacting = 13,  // number + 1 of the segment that is being compressed; 0: none, or look again
    carrying_from = 15,  // the place of the record that is copied there
    clears = 14,         // grows when entries were removed on request, all or those of a time
};

// In Counter::victim: nobody writes to the segment, nor will, so that entries may be dropped from
// it. Without it, it was only named.
inline constexpr std::uint64_t kHasNoWriter = std::uint64_t{1} << 32;

// In Counter::compacting: nothing more is looked at, the segment is being deleted.
inline constexpr std::uint64_t kRetiring = std::uint64_t{1} << 32;

// Why segments may hold entries that the index lacks.
enum class RescanReason : std::uint64_t {
    none = 0,
    damage = 1,  // a part of the index was lost: a miss must not be believed before the segments
                 // have been searched
    boot = 2,    // the system was started anew: what was not synced may be lost, here or there.
                 // Checked in the background
};

constexpr std::uint64_t counter_offset(Counter counter) {
    return kCountersPage * kPage + static_cast<unsigned>(counter) * 64;
}

std::array<std::byte, kIndexHeaderSize> encode_index_header(const CacheIdentity &identity);

struct IndexHeader {
    std::uint32_t format_version;
    CacheIdentity identity;  // of kFormatVersion only
};
// A whole header of any format version, or nullopt.
std::optional<IndexHeader> decode_index_header(Bytes bytes);

}  // namespace cairn
