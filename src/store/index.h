// The index: a shared mapping in which every process finds, publishes and removes slots without a
// lock.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods may be called from any thread, and any number of processes share the
// file.
// Ownership: owns the file and its mappings; SlotRefs point into them and are valid as long as the
// Index.
// Failure: a damaged file gives wrong or missing candidates, never wrong entries: callers verify
// each record.
//
// How an entry is published, and why exactly one of several writers of a key wins:
//
//  1. A slot is one word, so that readers see an entry wholly or not at all.
//  2. A writer that finds a published slot of its key replaces it in place, by compare-and-swap.
//  3. Otherwise it puts a *tentative* slot into a free place (readers ignore it), and only then
//  looks at all places where the
//     key may be. Of two writers at least one sees the other's slot, as each writes before it looks
//     (all operations are sequentially consistent). A published slot of the key: withdraw and begin
//     again at 2. A tentative one at a higher rank: remove it by compare-and-swap; of a lower rank:
//     withdraw, and let its owner finish.
//  4. It publishes by compare-and-swap from tentative to published. If that fails, somebody removed
//  it under 3: begin again.
//
// A writer that died between 3 and 4 leaves a tentative slot. It stands in the way of nobody for
// long: whoever has withdrawn for it a number of times removes it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/mapping.h"
#include "store/bucket_scan.h"
#include "store/index_format.h"
#include "store/slot.h"

namespace cairn {

using SlotRef = std::atomic_ref<std::uint64_t>;

class Index {
  public:
    // Maps a file whose header has been checked. One that is shorter than its counters say is
    // marked for a rescan; what is behind the levels is left alone.
    static Result<std::unique_ptr<Index>> open(File file, const CacheIdentity &identity,
                                               Access access);

    const CacheIdentity &identity() const { return identity_; }
    const File &file() const { return file_; }
    Access access() const { return access_; }
    std::uint64_t hash(Bytes key) const { return keyed_hash(key, identity_.hash_seed); }

    // A slot's place in memory, and its rank among all places where entries of one hash can be,
    // equal in all processes.
    struct Place {
        std::uint64_t *word = nullptr;
        unsigned rank = 0;
        SlotRef ref() const { return SlotRef(*word); }
    };

    // Calls visit(Place, Slot) for each intact slot whose tag matches, until it returns true. True:
    // visit did. Else `*clean`, if given, tells that nothing there was damaged.
    template <typename Visit>
    bool probe(std::uint64_t hash, Visit visit, bool *clean = nullptr);

    // Whether probe() need not wait for the disk now.
    bool is_cached(std::uint64_t hash) const;

    // The published slot that points to a place, if one does.
    std::optional<Slot> slot_at(std::uint64_t hash, Location location, Place &place);
    bool leads_to(std::uint64_t hash, Location location);
    // Changes the slot that points to a place to change(Slot); its hit count may change meanwhile.
    // False: no slot points there now.
    template <typename Change>
    bool change_slot(std::uint64_t hash, Location location, Change change);

    // Empties a tentative slot that points to a place, whose owner died or begins again.
    void withdraw_tentative(std::uint64_t hash, Location location);

    // Makes sure that all levels there are can be seen, which look-ups do as they can. To be called
    // by whoever must see every slot of a key. busy, no_memory, io, ...: they cannot.
    Status refresh();

    // Whether no slot can be hidden in a level that this object has not mapped, whatever the
    // counters say.
    bool sees_all();

    // Asks for a rescan if a level has lost all it had: one is added because an entry needs it, and
    // has an initialised page from then on. To be called before the first miss is believed; it
    // touches a page of each level, which opening need not wait for.
    void check_levels();
    // Whether damage may hide an entry of this hash. To be asked after a miss.
    bool suspicious(std::uint64_t hash);

    // Puts a slot into a free place of the buckets of its hash; full: there is none, grow first.
    Result<Place> insert(std::uint64_t hash, Slot slot);
    // Adds a level. REQUIRES: no other process does so now. no_space; full: there can be no more.
    Status grow();
    // Gives back the disk space of what is behind the last level. REQUIRES: as for grow().
    Status trim();
    // Bytes of disk space that grow() would take; 0: there can be no more levels.
    std::uint64_t growth_bytes() const;
    // Gives the bucket of a hash one more page, of a level that is added, if need be, with blocks
    // behind no other of its pages. Requires and fails as grow(); unsupported: the file system
    // cannot.
    Status grow_for(std::uint64_t hash);
    // Bytes of disk space that grow_for() would take; 0: there can be no more.
    std::uint64_t growth_bytes_for(std::uint64_t hash);

    // Calls visit(Place, Slot) for each slot that is intact, published and not empty, until it
    // returns true.
    template <typename Visit>
    void for_each(Visit visit);
    // How many there are now; takes time in proportion to the index.
    std::uint64_t count_entries();
    // The same as for_each, once around from a place that `start`, any number, chooses.
    template <typename Visit>
    void for_each_from(std::uint64_t start, Visit visit);
    // Calls visit(Place, Slot) for each intact slot in the buckets of a hash, whatever its tag.
    template <typename Visit>
    void visit_buckets(std::uint64_t hash, Visit visit);
    // Says in the index that segments hold entries that it may lack, for who comes later, too.
    void ask_for_search();
    RescanReason search_due() const;
    // Empties the damaged slots in the buckets of a hash, for a new entry; false: there are none.
    // Asks for a search first, and so do all others: at every moment damage can be seen, or a
    // search is due.
    bool free_damaged(std::uint64_t hash);
    // Empties all damaged slots.
    void clear_damaged();
    // Empties every slot.
    void clear();

    std::atomic_ref<std::uint64_t> counter(Counter counter) const;
    // The segment that is being given up, if there is one.
    std::optional<std::uint32_t> victim() const;
    // A time stamp greater than all before, in all processes.
    std::uint64_t next_stamp();
    // To be called before the slot of an entry is emptied for good: who has listed the records
    // before must not publish an older one of the key now.
    void note_removal() { counter(Counter::removals).fetch_add(1); }
    // Lets later stamps be greater than this one.
    void raise_stamp(std::uint64_t stamp);
    Status sync();

  private:
    struct Level {
        std::uint64_t *slots = nullptr;
        std::uint64_t *bitmap = nullptr;
        std::uint64_t bucket_mask = 0;
        unsigned number = 0;
        // One bit for each page that was found to hold nothing; null: all may be looked at. Some
        // file systems put a block behind a page that is only looked at.
        std::atomic<std::uint64_t> *holes = nullptr;
    };

    Index(File file, const CacheIdentity &identity, Access access)
        : file_(std::move(file)), identity_(identity), access_(access) {}

    Status map_levels();
    Status map_level(unsigned number);
    Result<unsigned> levels_in_use(unsigned whole, std::uint64_t hint) const;
    Result<bool> is_used(unsigned level) const;
    unsigned levels();
    template <typename Extend>
    Status add_level(Extend extend);
    Status map_added_levels(std::uint64_t hint) REQUIRES_LOCK(map_mutex_);
    static std::uint64_t *place_of_bucket(const Level &level, std::uint64_t hash) {
        return level.slots + (hash & level.bucket_mask) * kSlotsPerBucket;
    }
    // To look at; an empty one stands for one in a hole.
    std::uint64_t *bucket(const Level &level, std::uint64_t hash) const {
        std::uint64_t *const slots = place_of_bucket(level, hash);
        return is_hole(level, slots) ? const_cast<std::uint64_t *>(kEmptyBucket) : slots;
    }
    bool is_hole(const Level &level, const std::uint64_t *slot) const {
        return level.holes != nullptr && !page_initialised(level, slot) &&
               page_is_empty(level, slot);
    }
    bool page_is_empty(const Level &level, const std::uint64_t *slot) const;
    Status prepare_for_holes(Level &level);
    bool has_damage(const Level &level, std::uint64_t *slots) const;
    bool clear_if_damaged(const Level &level, std::uint64_t *slot);
    bool any_page_initialised(const Level &level) const;
    bool page_initialised(const Level &level, const std::uint64_t *slot) const;
    const Level *level_without_page(std::uint64_t hash);
    bool has_all_blocks() const;
    bool may_initialise(const Level &level, const std::uint64_t *slot) const;
    Status reserve_page(const Level &level, const std::uint64_t *slot) const;
    static std::size_t page_of(const Level &level, const std::uint64_t *slot) {
        return static_cast<std::size_t>(slot - level.slots) / kSlotsPerPage;
    }
    static std::uint64_t offset_of_page(const Level &level, std::size_t page) {
        return level_offset(level.number) + (level_bitmap_pages(level.number) + page) * kPage;
    }
    void initialise_page(const Level &level, std::uint64_t *slot);
    static SlotRef at(std::uint64_t *slot) { return SlotRef(*slot); }
    static unsigned rank(unsigned level, std::uint64_t slot_in_bucket) {
        return static_cast<unsigned>(level * kSlotsPerBucket + slot_in_bucket);
    }

    alignas(64) static const std::uint64_t kEmptyBucket[kSlotsPerBucket];

    // Constant after construction.
    File file_;
    CacheIdentity identity_;
    Access access_;
    Mapping base_;  // the fixed part and the levels there were at open

    // Levels below level_count_ are constant. Others are written under map_mutex_.
    std::array<Level, kLevelMax> levels_;
    std::array<Mapping, kLevelMax> later_levels_;
    std::array<std::unique_ptr<std::atomic<std::uint64_t>[]>, kLevelMax> holes_;
    std::atomic<unsigned> level_count_ = 0;
    std::atomic<std::uint64_t> refused_hint_ =
        0;  // a value of Counter::levels that the file's size disproved
    Mutex map_mutex_;
};

template <typename Visit>
bool Index::probe(std::uint64_t hash, Visit visit, bool *clean) {
    const std::uint32_t tag = Slot::tag_of(hash);
    const unsigned count = levels();
    for (unsigned i = count; i-- > 0;) __builtin_prefetch(bucket(levels_[i], hash));
    for (unsigned i = count; i-- > 0;) {
        std::uint64_t *slots = bucket(levels_[i], hash);
        for (std::uint32_t left = slots_with_tag(slots, tag); left != 0; left &= left - 1) {
            const auto j = static_cast<std::size_t>(std::countr_zero(left));
            const Slot slot(at(slots + j).load());
            if (slot.tag() != tag || slot.word() == kEmptySlot || !slot.intact()) continue;
            if (visit(Place{slots + j, rank(i, j)}, slot)) return true;
        }
    }
    if (clean != nullptr) {
        *clean = true;
        for (unsigned i = 0; i < count; ++i) *clean &= all_intact(bucket(levels_[i], hash));
    }
    return false;
}

template <typename Change>
bool Index::change_slot(std::uint64_t hash, Location location, Change change) {
    Place place;
    while (const auto slot = slot_at(hash, location, place)) {
        std::uint64_t word = slot->word();
        if (place.ref().compare_exchange_strong(word, change(*slot))) return true;
    }
    return false;
}

template <typename Visit>
void Index::for_each(Visit visit) {
    for_each_from(0, visit);
}

template <typename Visit>
void Index::for_each_from(std::uint64_t start, Visit visit) {
    const unsigned count = levels();
    for (unsigned i = 0; i < count; ++i) {
        // The largest level first, as most entries are there.
        const Level &level = levels_[count - 1 - i];
        const std::uint64_t slot_count = level_buckets(level.number) * kSlotsPerBucket;
        for (std::uint64_t j = 0; j < slot_count; ++j) {
            const std::uint64_t k = (start + j) % slot_count;
            std::uint64_t *place = level.slots + k;
            if (is_hole(level, place)) continue;
            const Slot slot(at(place).load(std::memory_order_acquire));
            if (slot.word() == 0 || slot.word() == kEmptySlot || !slot.intact()) continue;
            if (slot.tentative()) continue;
            if (visit(Place{place, rank(level.number, k % kSlotsPerBucket)}, slot)) return;
        }
    }
}

template <typename Visit>
void Index::visit_buckets(std::uint64_t hash, Visit visit) {
    const unsigned count = levels();
    for (unsigned i = 0; i < count; ++i) {
        std::uint64_t *slots = bucket(levels_[i], hash);
        for (std::size_t j = 0; j < kSlotsPerBucket; ++j) {
            const Slot slot(at(slots + j).load(std::memory_order_acquire));
            if (slot.word() == kEmptySlot || !slot.intact()) continue;
            visit(Place{slots + j, rank(i, j)}, slot);
        }
    }
}

}  // namespace cairn
