// What is worth keeping when room must be made.
// SPDX-License-Identifier: MIT
//
// The store gives up whole segments. A policy says which segment goes next, and which of its
// entries are carried over into a fresh one. It sees what the slot and the record say of an entry;
// it keeps no state of its own, so that any process can go on where another stopped, and
// bench/policy_sim can run the very same code on a recorded trace.
//
// Thread safety: const objects.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cairn {

struct Candidate {
    std::uint64_t size_bytes;  // of the whole record
    std::uint64_t stamp_ns;    // of the put
    std::uint32_t cost_us;     // of making the value again; 0: unknown
    unsigned hits;             // since it was stored or last carried over, at most 3
    bool pinned;
    bool carried;       // over at least once
    bool keep = false;  // the policy's answer
};

class Policy {
  public:
    enum class Order { oldest_segment_first, newest_segment_first };

    virtual ~Policy() = default;
    virtual std::string_view name() const = 0;
    virtual Order order() const { return Order::oldest_segment_first; }
    // Sets `keep` of what is to be carried over; together at most `keep_bytes`.
    virtual void choose(std::span<Candidate> candidates, std::uint64_t keep_bytes) const = 0;
};

// What an entry's hit count is after it was carried over: it must be hit again to be carried as
// often again.
constexpr unsigned hits_after_carry(unsigned hits) {
    return hits == 0 ? 0 : hits - 1;
}

// How many bytes of a part of a segment may be carried over. Where everything is worth keeping that
// may be all of it, but not forever: what was carried without as much being freed is a debt, and
// when the debt is an eighth of the cache, three quarters must be freed. An eighth, because a put
// carries over four bytes for each byte of its own, and three segments of 64 are kept free.
constexpr std::uint64_t carry_allowance(std::uint64_t span_bytes, std::uint64_t debt_bytes,
                                        std::uint64_t limit_bytes) {
    return debt_bytes < limit_bytes / 8 ? span_bytes : span_bytes / 4;
}
constexpr std::uint64_t debt_after(std::uint64_t debt_bytes, std::uint64_t span_bytes,
                                   std::uint64_t kept_bytes) {
    const std::uint64_t freed = span_bytes - (kept_bytes < span_bytes ? kept_bytes : span_bytes);
    const std::uint64_t debt = debt_bytes + kept_bytes;
    return debt < freed ? 0 : debt - freed;
}

// "default", "fifo", "lru", "mru"; null for other names. Static objects.
//
// fifo:    nothing is kept but what is pinned.
// lru:     entries hit since they were stored or last carried over are kept, latest first. An
// approximation: one bit of recency. mru:     the newest segments go first. For loads that read
// everything once, in the same order each time. default: recency and frequency (up to three hits
// count), weighed by the cost per byte; an entry that was never hit, as most
//          of a scan are, goes at its first turn, unless it is much more expensive to make again
//          than its neighbours.
const Policy *policy_by_name(std::string_view name);
const Policy &default_policy();

}  // namespace cairn
