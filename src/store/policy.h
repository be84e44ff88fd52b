// Decides which entries stay when room must be made.
// SPDX-License-Identifier: MIT
//
// The store evicts whole segments. A policy says which segment goes next, and which of its entries
// are copied into another one. Where single entries must go (a limit on entries, full buckets of the
// index, a cache in memory), the same policy says which of some entries goes first. It sees an
// entry's slot and record header. It has no state, so that any process can continue where another
// stopped.
//
// Thread safety: constants and pure functions.
// Ownership: none.
// Failure: choose() takes memory, and first_to_go() does not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "store/uses.h"

namespace cairn {

struct Candidate {
    std::uint64_t size_bytes;  // of the whole record
    std::uint64_t stamp_ns;    // of the put; in memory, of what made it the youngest
    std::uint32_t cost_us;     // of making the value again; 0: unknown
    unsigned hits;             // since it was stored or last copied, at most 3
    bool pinned;
    bool copied;                  // at least once
    unsigned uses = 0;            // look-ups altogether, as far as known; with a Taste only
    unsigned age = 0;             // since the last one, see store/uses.h; with a Taste only
    unsigned lot = 0;             // of its key; with a Taste only
    std::uint64_t raw_bytes = 0;  // of the record if it was not compressed; with a Taste only
    bool keep = false;            // the policy's answer
};

// How many bytes may be copied: of pinned entries, and of all that are not.
struct CopyAllowance {
    std::uint64_t pinned_bytes;
    std::uint64_t other_bytes;  // less what was taken for pinned ones
};

struct Policy {
    enum class Order { oldest_segment_first, newest_segment_first };
    // What a hit does to an entry in memory, where moving one costs nothing. In segments all hits
    // are counted.
    enum class OnHit {
        nothing,
        counts,  // it is weighed when room must be made
        renews,  // it makes the entry the youngest
    };

    std::string_view name;
    Order order;
    OnHit on_hit;
    // What an entry is worth; 0: not worth a copy. `usual` is the density class of most entries
    // beside it (policy.cc).
    std::uint64_t (*score)(const Candidate &candidate, unsigned usual);
    // Whether it goes by a Taste where it evicts segments.
    bool learns = false;

    // Sets `keep` of the entries to be copied.
    void choose(std::span<Candidate> candidates, CopyAllowance allowance,
                const Taste *taste = nullptr) const;

    // The number of the candidate that goes first where single entries go: of those with the lowest
    // score the oldest, or the newest where the newest segment goes first; a pinned one only if all
    // are. Sets `keep` of those that are worth a copy. REQUIRES: there are candidates.
    std::size_t first_to_go(std::span<Candidate> candidates) const;
};

// The hit count of a copy: to be copied as often again, it must be hit again.
constexpr unsigned hits_after_copy(unsigned hits) {
    return hits == 0 ? 0 : hits - 1;
}

// How many entries are compared where single ones go: enough to find one that is not worth much,
// and few enough to be read for one put.
inline constexpr unsigned kPolicySample = 16;

// How much of a part of a segment may be copied: all of it if it is worth that, but not forever. Bytes
// copied beyond the bytes freed are a debt; when it reaches an eighth of the limit, three quarters of
// each part must be freed. An eighth is safe, because a put evicts four bytes for each byte of its own,
// and three segments of 64 are kept free. Pinned entries go last, also where they lie in a row: their
// debt may be half of the limit, for which a put waits, and so it is at most kPinnedDebtMax or the eighth.
inline constexpr std::uint64_t kPinnedDebtMax = 64 << 20;
constexpr CopyAllowance copy_allowance(std::uint64_t span_bytes, std::uint64_t debt_bytes,
                                       std::uint64_t limit_bytes) {
    const std::uint64_t eighth = limit_bytes / 8;
    const std::uint64_t pinned_max = std::max(eighth, std::min(limit_bytes / 2, kPinnedDebtMax));
    return {debt_bytes < pinned_max ? span_bytes : span_bytes / 4,
            debt_bytes < eighth ? span_bytes : span_bytes / 4};
}
constexpr std::uint64_t debt_after(std::uint64_t debt_bytes, std::uint64_t span_bytes,
                                   std::uint64_t kept_bytes) {
    const std::uint64_t freed = span_bytes - (kept_bytes < span_bytes ? kept_bytes : span_bytes);
    const std::uint64_t debt = debt_bytes + kept_bytes;
    return debt < freed ? 0 : debt - freed;
}

// Constants by name; null for other names:
//
//  - "fifo": keeps only pinned entries.
//  - "lru": keeps entries that were hit since they were stored or last copied, latest first. An
//    approximation: one bit of recency. In memory the order is exact, as a hit renews its entry.
//  - "mru": evicts the newest segments, or entries, first. For loads that read everything once, in
//    the same order each time.
//  - "default": in segments, those of the greatest worth by the taste that has saved most lately
//    (store/uses.h, store/reuse.h). Else recency and frequency (up to three hits count), weighed by
//    the cost per byte. An entry that was never hit, as most of a scan, goes at its first eviction,
//    unless it is much more expensive to make again than its neighbours.
const Policy *policy_by_name(std::string_view name);
const Policy &default_policy();

}  // namespace cairn
