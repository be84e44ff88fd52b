// SPDX-License-Identifier: MIT
#include "store/index_words.h"

#include <algorithm>

#include "os/environment.h"
#include "store/stamp.h"

namespace cairn {
namespace {

constexpr std::uint64_t kNsPerS = 1'000'000'000;
// Stamps of a new index are greater than those that the old one gives until it loses its name, also
// where the clock goes back: each put takes one.
constexpr std::uint64_t kStampMargin = 1'000'000;

// nullopt: none, or damage.
std::optional<std::uint32_t> segment_named(std::uint64_t name) {
    if (name == 0 || name > kSegmentIdMax + std::uint64_t{1}) return std::nullopt;
    return static_cast<std::uint32_t>(name - 1);
}

}  // namespace

void IndexWords::set_counters_page(std::uint64_t *page) {
    page_ = page;
    note_stamp(last_stamp());
}

void IndexWords::note_stamp(std::uint64_t stamp) {
    std::uint64_t before = our_last_stamp_.load(Order::relaxed);
    while (before < stamp &&
           !our_last_stamp_.compare_exchange_weak(before, stamp, Order::relaxed)) {
    }
}

std::uint64_t IndexWords::last_stamp() const {
    const std::uint64_t stamp = word(Counter::last_stamp).load(Order::relaxed);
    return is_stamp(format_, stamp) ? stamp : 0;
}

// Without a word that is whole, as an index that follows a lost one. A rebuild raises it.
std::uint64_t IndexWords::next_stamp() {
    auto last = word(Counter::last_stamp);
    std::uint64_t seen = last.load(Order::relaxed);
    const std::uint64_t clock_ns = wall_clock_ns();
    const std::uint64_t now = stamp_until(format_, clock_ns);
    const std::uint64_t ours = our_last_stamp_.load(Order::relaxed);
    std::uint64_t next;
    do {
        next = is_stamp(format_, seen)
                   ? std::max(stamp_at(format_, std::max(seen, ours) + 1), now)
                   : stamp_at(format_, std::max(ours, clock_ns + kStampMarginNs) + 1);
    } while (!last.compare_exchange_weak(seen, next, Order::relaxed));
    note_stamp(next);
    return next;
}

void IndexWords::raise_stamp(std::uint64_t stamp) {
    const std::uint64_t goal = stamp_at(format_, stamp);
    note_stamp(goal);
    auto last = word(Counter::last_stamp);
    std::uint64_t seen = last.load(Order::relaxed);
    while ((seen < goal || !is_stamp(format_, seen)) &&
           !last.compare_exchange_weak(seen, goal, Order::relaxed)) {
    }
}

std::optional<std::uint32_t> IndexWords::victim() const {
    return segment_named(word(Counter::victim).load() & ~kHasNoWriter);
}

std::optional<std::uint32_t> IndexWords::victim_without_writer() const {
    return segment_named(word(Counter::victim).load() ^ kHasNoWriter);
}

// A rebuild takes back the request that it began with, and no later one. A system start that no
// rebuild has dealt with is not forgotten.
void IndexWords::ask_for_rebuild() {
    auto due = word(Counter::rebuild);
    const std::uint64_t request =
        monotonic_ns() << 8 | static_cast<std::uint64_t>(RebuildReason::damage);
    constexpr auto kKept = static_cast<std::uint64_t>(RebuildReason::boot);
    std::uint64_t seen = due.load();
    while (!due.compare_exchange_weak(seen, request | (seen & kKept))) {
    }
}

RebuildReason IndexWords::rebuild_reason() const {
    const std::uint64_t word = rebuild_request();
    if (word == nothing_due(format_)) return RebuildReason::none;
    const std::uint64_t boot =
        nothing_due(format_) | static_cast<std::uint64_t>(RebuildReason::boot);
    return word == boot ? RebuildReason::boot : RebuildReason::damage;
}

bool IndexWords::is_after_start() const {
    const std::uint64_t due = word(Counter::rebuild).load(Order::relaxed);
    return (due & static_cast<std::uint64_t>(RebuildReason::boot)) != 0;
}

void IndexWords::note_boot(std::uint64_t now) {
    auto boot = word(Counter::boot);
    std::uint64_t before = boot.load();
    if (before == now) return;
    // First, as a process that dies in between would leave none.
    word(Counter::rebuild).fetch_or(static_cast<std::uint64_t>(RebuildReason::boot));
    boot.compare_exchange_strong(before, now);
}

std::uint64_t IndexWords::note_limit(std::uint64_t bytes, Order order) {
    auto limit = word(Counter::limit_bytes);
    const std::uint64_t before = limit.load(order);
    if (before != bytes) limit.store(bytes, order);
    return before;
}

// Before the first version there was no clear, and none is in the future.
std::uint64_t IndexWords::cleared_at_s() const {
    constexpr std::uint64_t kFirstS = 1'577'836'800;  // 2020-01-01
    const std::uint64_t at_s = word(Counter::cleared_at).load(Order::relaxed);
    return at_s >= kFirstS && at_s <= wall_clock_ns() / kNsPerS ? at_s : 0;
}

void IndexWords::set_cleared_now() {
    word(Counter::cleared_at).store(wall_clock_ns() / kNsPerS);
}

void IndexWords::take_over(const IndexWords &before, std::uint64_t boot) {
    for (const Counter counter : {Counter::limit_bytes, Counter::victim, Counter::copy_debt,
                                  Counter::unsynced, Counter::clears, Counter::cleared_at,
                                  Counter::ghosts, Counter::sampling, Counter::turned}) {
        word(counter).store(before.word(counter).load());
    }
    clears_taken_ = clears();
    word(Counter::boot).store(boot);
    // Not a lower one than it has, as damage may have left there: no number is used again soon.
    const auto hint = word(Counter::segment_hint);
    hint.store(std::max(hint.load(), before.word(Counter::segment_hint).load()));
    word(Counter::retired).store((before.retired() + 1) & ~kSealed);
    raise_stamp(before.last_stamp() + kStampMargin);
}

void IndexWords::take_over_late(const IndexWords &before) {
    if (before.word(Counter::unsynced).load() == 0) note_sync();
    const std::uint64_t ghosts = before.ghost_files();
    if (ghost_files() < ghosts) word(Counter::ghosts).store(ghosts);
    word(Counter::clears).fetch_add(before.clears() - clears_taken_);
    const std::uint64_t cleared = before.word(Counter::cleared_at).load();
    if (cleared_at_s() < before.cleared_at_s()) word(Counter::cleared_at).store(cleared);
    raise_stamp(before.last_stamp());
}

}  // namespace cairn
