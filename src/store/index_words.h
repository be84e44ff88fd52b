// The words of an index that all processes change at once: counters, the last stamp, requests.
// Format: docs/formats/store.md, "Counters page".
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods, from any thread. Any number of processes share the words.
// Ownership: none; they lie in the mapping of the index.
// Failure: damage may leave anything in a word, and processes that die leave some a little off.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "store/index_format.h"
#include "store/slot.h"
#include "store/uses.h"

namespace cairn {

class IndexWords {
  public:
    using Order = std::memory_order;

    IndexWords(const IndexWords &) = delete;
    IndexWords &operator=(const IndexWords &) = delete;

    // A time stamp greater than all before it, in all processes.
    std::uint64_t next_stamp();
    // The latest one; 0: none was given, or the word is damaged.
    std::uint64_t last_stamp() const;
    // Makes later stamps greater than this one.
    void raise_stamp(std::uint64_t stamp);

    // About how many entries there are.
    std::uint64_t entries(Order o = Order::seq_cst) const { return word(Counter::entries).load(o); }
    void set_entries(std::uint64_t count) { word(Counter::entries).store(count); }
    void count_entry(Order o = Order::seq_cst) { word(Counter::entries).fetch_add(1, o); }
    void uncount_entry() { word(Counter::entries).fetch_sub(1, Order::relaxed); }

    // For a new segment, or from kFirstKeptSegment on. It was free when somebody looked last.
    std::uint32_t next_segment_number() {
        const std::uint64_t hint = word(Counter::segment_hint).fetch_add(1);
        return static_cast<std::uint32_t>(hint % kFirstKeptSegment);
    }
    // Grows with each deleted segment, and with the index. While the index is sealed, with kSealed.
    std::uint64_t retired(Order o = Order::seq_cst) const { return word(Counter::retired).load(o); }
    void count_retired() { word(Counter::retired).fetch_add(1); }

    // Before another index takes the place of this one. Who changed something here and then finds
    // the seal cannot tell whether the other has it, and asks is_named(). So do look-ups.
    // REQUIRES: an IndexNameLock is held. Who gets it and finds the index named takes the seal away.
    void seal() { word(Counter::retired).fetch_or(kSealed); }
    void unseal() { word(Counter::retired).fetch_and(~kSealed); }
    bool is_sealed() const { return (retired() & kSealed) != 0; }

    // The segment that is being evicted, if there is one. It may only be named, and have a writer.
    std::optional<std::uint32_t> victim() const;
    // The same, where it has no writer and gets none: its entries may have been dropped already.
    std::optional<std::uint32_t> victim_without_writer() const;
    void name_victim(std::uint32_t segment) {
        word(Counter::victim).store(segment + std::uint64_t{1});
    }
    void name_victim_without_writer(std::uint32_t segment) {
        word(Counter::victim).store((segment + std::uint64_t{1}) | kHasNoWriter);
    }
    void forget_victim() { word(Counter::victim).store(0); }
    // Bytes copied lately beyond the bytes freed.
    std::uint64_t copy_debt() const { return word(Counter::copy_debt).load(); }
    void set_copy_debt(std::uint64_t bytes) { word(Counter::copy_debt).store(bytes); }
    // Whether the cache was ever synced, also after damage: then copies are synced before their
    // originals go.
    bool was_synced() const { return word(Counter::unsynced).load() != 1; }
    void note_sync() { word(Counter::unsynced).store(0); }

    // Says in the index, for later processes too, that segments may hold entries that it lacks. Each
    // request is a different word.
    void ask_for_rebuild();
    std::uint64_t rebuild_request() const { return word(Counter::rebuild).load(); }
    RebuildReason rebuild_reason() const;
    // Unless there is another request by now.
    void take_back(std::uint64_t request) {
        word(Counter::rebuild).compare_exchange_strong(request, nothing_due(format_));
    }
    // Where segments hold nothing.
    void take_back_all() { word(Counter::rebuild).store(nothing_due(format_)); }
    // Whether no rebuild has come to its end since the last system start: a slot may be an old one.
    bool is_after_start() const;

    // The system start in which the cache was last used.
    std::uint64_t boot(Order o = Order::seq_cst) const { return word(Counter::boot).load(o); }
    // Asks for a rebuild if that was another one than this. A new index knows its own: 0 means that
    // damage took it.
    void note_boot(std::uint64_t now);

    // The limit of the latest process that wrote.
    std::uint64_t limit_bytes() const { return word(Counter::limit_bytes).load(); }
    // Returns the one before. The first write to a page of a mapped file is slow, so this writes
    // only a change.
    std::uint64_t note_limit(std::uint64_t bytes, Order order = Order::seq_cst);

    // Grows when entries were removed on request, all or those of a time.
    std::uint64_t clears() const { return word(Counter::clears).load(Order::acquire); }
    void count_clear() { word(Counter::clears).fetch_add(1); }
    // When that was last, in seconds since 1970; 0: never, or damage says so.
    std::uint64_t cleared_at_s() const;
    void set_cleared_now();

    // Grows when the file of ghosts is made.
    std::uint64_t ghost_files(Order o = Order::seq_cst) const {
        return word(Counter::ghosts).load(o);
    }
    void count_ghost_file() { word(Counter::ghosts).fetch_add(1); }

    // See Counter::sampling.
    std::uint64_t sampling() const { return word(Counter::sampling).load(Order::relaxed); }
    void set_sampling(std::uint64_t shift_and_one) {
        if (sampling() != shift_and_one) word(Counter::sampling).store(shift_and_one);
    }
    // The time by which uses are counted. It passes as evicting retires so many bytes.
    UseTime use_time() const { return cairn::use_time(word(Counter::turned).load(Order::relaxed)); }
    void pass_use_time(std::uint64_t bytes, std::uint64_t limit_bytes) {
        word(Counter::turned).fetch_add(turned_by(bytes, limit_bytes));
    }

    // For an index that is about to take the place of another one, in the system start `boot`.
    void take_over(const IndexWords &before, std::uint64_t boot);
    // Once it has: what must not be missed of what others set until the other one lost its name.
    void take_over_late(const IndexWords &before);

  protected:
    explicit IndexWords(std::uint32_t format) : format_(format) {}
    ~IndexWords() = default;
    // Before anything else, and once.
    void set_counters_page(std::uint64_t *page);
    std::atomic_ref<std::uint64_t> word(Counter counter) const {
        return std::atomic_ref<std::uint64_t>(page_[static_cast<unsigned>(counter) * 8]);
    }

  private:
    const std::uint32_t format_;
    std::uint64_t *page_ = nullptr;
    std::uint64_t clears_taken_ = 0;  // by take_over()
    void note_stamp(std::uint64_t stamp);

    // The latest stamp that this process has seen or given here: no damage in the word brings a lower one.
    std::atomic<std::uint64_t> our_last_stamp_ = 0;
};

}  // namespace cairn
