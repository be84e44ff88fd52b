// The index: a shared mapping in which every process finds, publishes and removes slots without a
// lock.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods, from any thread. Any number of processes share the file.
// Ownership: owns the file and its mappings. SlotRefs point into them and live as long as the
// Index.
// Failure: a damaged file gives wrong or missing candidates, never wrong entries: callers verify
// each record.
//
// How an entry is published, and why exactly one of several writers of a key wins:
//
//  1. A slot is one word, so readers see an entry wholly or not at all.
//  2. A writer that finds a published slot of its key replaces it in place, by compare-and-swap.
//  3. Otherwise it puts a *tentative* slot, which readers ignore, into a free place, and then looks
//     at all places where the key may be. Of two writers at least one sees the other's slot, as
//     each writes before it looks (all operations are sequentially consistent). It may find:
//      - a published slot of the key: withdraw and begin again at 2;
//      - a tentative one of a higher rank: remove it by compare-and-swap;
//      - a tentative one of a lower rank: withdraw, and let its owner finish.
//  4. It publishes by compare-and-swap from tentative to published. If that fails, another writer
//     removed its slot under 3: begin again.
//
// A writer that dies between 3 and 4 leaves a tentative slot. The next writer of the key withdraws
// for it a number of times, and then removes it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/mapping.h"
#include "store/bucket_scan.h"
#include "store/index_format.h"
#include "store/index_words.h"
#include "store/slot.h"
#include "store/slot_place.h"

namespace cairn {

// A slot's word in the mapping, without what its check bits say of its place.
class SlotRef {
  public:
    SlotRef(std::uint64_t &word, std::uint64_t mask) : word_(word), mask_(mask) {}

    std::uint64_t load(std::memory_order order = std::memory_order_seq_cst) const {
        return word_.load(order) ^ mask_;
    }
    bool compare_exchange_strong(std::uint64_t &expected, std::uint64_t desired) const {
        expected ^= mask_;
        const bool changed = word_.compare_exchange_strong(expected, desired ^ mask_);
        expected ^= mask_;
        return changed;
    }

  private:
    std::atomic_ref<std::uint64_t> word_;
    std::uint64_t mask_;
};

class Index : public IndexWords {
  public:
    // Maps a file whose header has been checked. Asks for a rebuild if the file is shorter than its
    // counters say. Ignores what follows the levels.
    static Result<std::unique_ptr<Index>> open(File file, const CacheIdentity &identity,
                                               Access access);

    const CacheIdentity &identity() const { return identity_; }
    const File &file() const { return file_; }
    Access access() const { return access_; }
    std::uint64_t hash(Bytes key) const { return keyed_hash(key, identity_.hash_seed); }

    // A slot's place in memory, and its rank among all places where entries of one hash can be. The
    // rank is the same in all processes.
    struct Place {
        std::uint64_t *word = nullptr;
        unsigned rank = 0;
        std::uint64_t mask = 0;  // see store/slot_place.h
        SlotRef ref() const { return SlotRef(*word, mask); }
    };

    // Counts a hit of the entry that was found there. Another one may be there by now: the extra hit
    // does no harm.
    static void count_hit(std::uint64_t *word);
    // Unless the slot has changed.
    static void set_hits(Place place, Slot slot, unsigned hits) {
        std::uint64_t word = slot.word();
        place.ref().compare_exchange_strong(word, slot.with_hits(hits).word());
    }

    // Whether Candidates need not wait for the disk now.
    bool is_cached(std::uint64_t hash) const;

    struct PlacedSlot {
        Place place;
        Slot slot;
    };
    // The intact slots with a hash's tag, one after the other.
    class Candidates {
      public:
        Candidates(Index &index, std::uint64_t hash);
        // nullopt: there are no more.
        std::optional<PlacedSlot> next();
        // Begins again, as after a change.
        void restart();
        // Whether all slots were intact where those of the hash can be.
        bool is_clean() const;

      private:
        Index &index_;
        const std::uint64_t hash_;
        unsigned level_count_ = 0;
        unsigned level_ = 0;              // looked at now; those above it were
        std::uint64_t *slots_ = nullptr;  // of its bucket
        BucketMasks masks_;
        std::uint32_t left_ = 0;  // a bit for each of them that is still to be looked at
    };
    // The published slot that leads to a location, if there is one.
    std::optional<PlacedSlot> slot_at(std::uint64_t hash, Location location);
    bool leads_to(std::uint64_t hash, Location location) {
        return slot_at(hash, location).has_value();
    }
    // Sets the slot that leads to a location to change(Slot), even if hits change it meanwhile.
    // False: no slot leads there now.
    template <typename Change>
    bool change_slot(std::uint64_t hash, Location location, Change change);

    // Empties a slot unless it has changed, and no longer counts its entry if it was published.
    bool drop(Place place, Slot slot);
    // Empties a tentative slot that leads to a location. Its owner died, or begins again.
    void withdraw_tentative(std::uint64_t hash, Location location);

    // Maps all levels, for callers that must see every slot of a key. (Look-ups map new levels only
    // if they need not wait.) busy, no_memory, io, ...: this failed.
    Status refresh();

    // Whether all levels of the file are mapped, even if a damaged counter hides some.
    bool sees_all();

    // Asks for a rebuild if a level has lost all its pages: each level is added for an entry, so it
    // has an initialised page. Call this before believing the first miss, and not at open, as it
    // touches a page of each level.
    void check_levels();
    // Whether damage may hide an entry of this hash. Ask after a miss.
    bool suspicious(std::uint64_t hash);

    // Puts a slot into a free place in the buckets of its hash. full: there is none, grow first.
    Result<Place> insert(std::uint64_t hash, Slot slot);
    // Adds a level. REQUIRES: no other process does so now. no_space; full: there can be no more.
    Status grow();
    // Gives disk space behind the last level back. REQUIRES: as for grow().
    Status trim();
    // The disk space that grow() would take, in bytes; 0: there can be no more levels.
    std::uint64_t growth_bytes() const;
    // Adds one page for the bucket of a hash. If that needs a new level, adds one without blocks
    // for its other pages. REQUIRES and fails as grow(); unsupported: the file system cannot.
    Status grow_for(std::uint64_t hash);
    // The disk space that grow_for() would take, in bytes; 0: there can be no more pages.
    std::uint64_t growth_bytes_for(std::uint64_t hash);

    // Calls visit(Place, Slot) for each published, intact slot until it returns true.
    template <typename Visit>
    void for_each(Visit visit);
    // The same once around from buckets that `start`, any number, chooses, in all levels by turns:
    // the first slots come soon, however empty the largest level is.
    template <typename Visit>
    void for_each_from(std::uint64_t start, Visit visit);
    // The same without an end, for a part of the buckets: part 0 to parts - 1 of all together.
    template <typename Visit>
    void for_each_of_part(std::uint64_t part, std::uint64_t parts, Visit visit);
    // Counts the entries; takes time in proportion to the index.
    std::uint64_t count_entries();
    // Calls visit(Place, Slot) for each intact slot in the buckets of a hash, of any tag.
    template <typename Visit>
    void visit_buckets(std::uint64_t hash, Visit visit);
    // Also where nothing asks for it, but the header is not that of this cache any more.
    RebuildReason rebuild_due() const;
    // Empties the damaged slots in the buckets of a hash to make room; false: there are none. Asks
    // for a rebuild first, so that others always see the damage or that a rebuild is due.
    bool free_damaged(std::uint64_t hash);
    // Whether the file has the index's name in this directory. Else somebody deleted or renamed it, or
    // another index took its place. In doubt, it has.
    bool is_named(const Directory &directory) const;
    // As is_named(), at less than half the cost, for each put: asks the open file, and its name where that
    // may have changed. Where the file system does not note a file's renaming in its time of change, one
    // that was renamed by hand may seem named for some milliseconds.
    bool seems_named(const Directory &directory);
    // Empties all slots.
    void clear();
    // Sets boot() right, which says what was replaced: a number that damage left there would bring
    // replaced records back. 0: the system does not tell its number.
    void mend_boot(std::uint64_t now) {
        if (access_ == Access::read_only) return;
        if (now != 0 && boot(std::memory_order_relaxed) != now) word(Counter::boot).store(now);
    }
    Status sync();

  private:
    struct Level {
        std::uint64_t *slots = nullptr;
        std::uint64_t *bitmap = nullptr;
        std::uint64_t bucket_mask = 0;
        unsigned number = 0;
        // One bit for each page that was found to be a hole; null: the level has none. Some file
        // systems allocate a block when a hole is read through a mapping.
        std::unique_ptr<std::atomic<std::uint64_t>[]> holes;
    };

    Index(File file, const CacheIdentity &identity, Access access)
        : IndexWords(identity.format),
          file_(std::move(file)),
          identity_(identity),
          header_(encode_index_header(identity)),
          access_(access) {}

    bool has_own_header() const;
    Status map_levels();
    Status map_level(unsigned number, const FileInfo &info);
    Result<unsigned> levels_in_use(unsigned whole, std::uint64_t hint) const;
    Result<bool> is_used(unsigned level) const;
    unsigned levels();
    std::span<const Level> mapped_levels() { return std::span(levels_).first(levels()); }
    template <typename Extend>
    Status add_level(Extend extend);
    Status map_added_levels(std::uint64_t hint) REQUIRES_LOCK(map_mutex_);
    static std::uint64_t *place_of_bucket(const Level &level, std::uint64_t hash) {
        return level.slots + (hash & level.bucket_mask) * kSlotsPerBucket;
    }
    // For reading: stands an empty bucket in for one in a hole.
    std::uint64_t *bucket(const Level &level, std::uint64_t hash) const {
        std::uint64_t *const slots = place_of_bucket(level, hash);
        return is_hole(level, slots) ? const_cast<std::uint64_t *>(kEmptyBucket) : slots;
    }
    BucketMasks masks_of(const Level &level, const std::uint64_t *bucket) const {
        if (bucket == kEmptyBucket) return {};
        const auto number = static_cast<std::uint64_t>(bucket - level.slots) / kSlotsPerBucket;
        return bucket_masks(identity_.format, level.number, number);
    }
    std::uint64_t mask_of(const Level &level, const std::uint64_t *slot) const {
        const auto number = static_cast<std::uint64_t>(slot - level.slots);
        return slot_mask(identity_.format, level.number, number);
    }
    bool is_hole(const Level &level, const std::uint64_t *slot) const {
        return level.holes != nullptr && !page_initialised(level, slot) &&
               page_is_empty(level, slot);
    }
    bool page_is_empty(const Level &level, const std::uint64_t *slot) const;
    std::optional<std::uint64_t> damaged_word(const Level &level, std::uint64_t *slot) const;
    bool is_whole_page(unsigned level, std::uint64_t page, Bytes bytes) const;
    bool clear_if_damaged(const Level &level, std::uint64_t *slot);
    bool page_initialised(const Level &level, const std::uint64_t *slot) const;
    const Level *level_without_page(std::uint64_t hash);
    bool may_initialise(const Level &level, const std::uint64_t *slot) const;
    Status reserve_page(const Level &level, const std::uint64_t *slot) const;
    static std::size_t page_of(const Level &level, const std::uint64_t *slot) {
        return static_cast<std::size_t>(slot - level.slots) / kSlotsPerPage;
    }
    static std::uint64_t offset_of_page(const Level &level, std::size_t page) {
        return level_offset(level.number) + (level_bitmap_pages(level.number) + page) * kPage;
    }
    void initialise_page(const Level &level, std::uint64_t *slot);
    template <typename Visit>
    bool visit_published(const Level &level, std::uint64_t number, Visit &visit) const;
    // As it is in the file. Zero means something there: see docs/formats/store.md, "Bitmap".
    static std::atomic_ref<std::uint64_t> at(std::uint64_t *word) {
        return std::atomic_ref<std::uint64_t>(*word);
    }
    static unsigned rank(unsigned level, std::uint64_t slot_in_bucket) {
        return static_cast<unsigned>(level * kSlotsPerBucket + slot_in_bucket);
    }

    alignas(64) static const std::uint64_t kEmptyBucket[kSlotsPerBucket];

    // Constant after construction.
    File file_;
    CacheIdentity identity_;
    FileHeaderBytes header_;
    Access access_;
    FileInfo opened_ = {};  // of the file, when it was opened
    Mapping base_;          // the fixed part, and the levels that the file had at open

    // Levels below level_count_ are constant. The others are written under map_mutex_.
    std::array<Level, kLevelMax> levels_;
    std::array<Mapping, kLevelMax> later_levels_;
    std::atomic<unsigned> level_count_ = 0;
    // A value of Counter::levels that the file's size has disproved.
    std::atomic<std::uint64_t> refused_hint_ = 0;
    // When the file was last found to be named, by the coarse clock, and its time of change then.
    std::atomic<std::uint64_t> named_at_ns_ = 0;
    std::atomic<std::uint64_t> named_changed_ns_ = 0;
    Mutex map_mutex_;
};

inline Index::Candidates::Candidates(Index &index, std::uint64_t hash)
    : index_(index), hash_(hash) {
    restart();
    for (unsigned i = level_count_; i-- > 0;) {
        __builtin_prefetch(index.bucket(index.levels_[i], hash));
    }
}

inline void Index::Candidates::restart() {
    level_ = level_count_ = index_.levels();
    left_ = 0;
}

inline std::optional<Index::PlacedSlot> Index::Candidates::next() {
    for (;;) {
        while (left_ == 0) {
            if (level_ == 0) return std::nullopt;
            const Level &level = index_.levels_[--level_];
            slots_ = index_.bucket(level, hash_);
            masks_ = index_.masks_of(level, slots_);
            left_ = BucketScan::slots_with_tag(slots_, Slot::tag_of(hash_));
        }
        const auto i = static_cast<std::size_t>(std::countr_zero(left_));
        left_ &= left_ - 1;
        const Place place{slots_ + i, rank(level_, i), masks_.of(i)};
        const Slot slot(place.ref().load());
        const bool is_one = slot.tag() == Slot::tag_of(hash_) && slot.word() != kEmptySlot;
        if (is_one && slot.intact()) return PlacedSlot{place, slot};
    }
}

inline bool Index::Candidates::is_clean() const {
    for (unsigned i = 0; i < level_count_; ++i) {
        const Level &level = index_.levels_[i];
        const std::uint64_t *const slots = index_.bucket(level, hash_);
        if (!BucketScan::all_intact(slots, index_.masks_of(level, slots))) return false;
    }
    return true;
}

template <typename Change>
bool Index::change_slot(std::uint64_t hash, Location location, Change change) {
    while (const auto found = slot_at(hash, location)) {
        std::uint64_t word = found->slot.word();
        if (found->place.ref().compare_exchange_strong(word, change(found->slot))) return true;
    }
    return false;
}

template <typename Visit>
void Index::for_each(Visit visit) {
    const unsigned count = levels();
    for (unsigned i = count; i-- > 0;) {  // the largest first, as most entries are there
        const Level &level = levels_[i];
        const std::uint64_t slot_count = level_buckets(level.number) * kSlotsPerBucket;
        for (std::uint64_t k = 0; k < slot_count; ++k) {
            if (!is_hole(level, level.slots + k) && visit_published(level, k, visit)) return;
        }
    }
}

template <typename Visit>
void Index::for_each_from(std::uint64_t start, Visit visit) {
    const unsigned count = levels();
    for (std::uint64_t j = 0; j < level_buckets(count - 1); ++j) {
        for (unsigned i = count; i-- > 0 && j < level_buckets(i);) {
            const Level &level = levels_[i];
            const std::uint64_t first = ((start + j) & level.bucket_mask) * kSlotsPerBucket;
            if (is_hole(level, level.slots + first)) continue;
            for (std::uint64_t k = first; k < first + kSlotsPerBucket; ++k) {
                if (visit_published(level, k, visit)) return;
            }
        }
    }
}

template <typename Visit>
void Index::for_each_of_part(std::uint64_t part, std::uint64_t parts, Visit visit) {
    const auto take = [&](Place place, Slot slot) {
        visit(place, slot);
        return false;
    };
    for (const Level &level : mapped_levels()) {
        const std::uint64_t slots = level_buckets(level.number) * kSlotsPerBucket;
        for (std::uint64_t k = slots * part / parts; k < slots * (part + 1) / parts; ++k) {
            if (!is_hole(level, level.slots + k)) visit_published(level, k, take);
        }
    }
}

// Calls visit(Place, Slot) for the slot of this number if it is published and intact.
template <typename Visit>
bool Index::visit_published(const Level &level, std::uint64_t number, Visit &visit) const {
    std::uint64_t *const word = level.slots + number;
    if (at(word).load(std::memory_order_relaxed) == 0) return false;
    const Place found{word, rank(level.number, number % kSlotsPerBucket), mask_of(level, word)};
    const Slot slot(found.ref().load(std::memory_order_acquire));
    if (slot.word() == kEmptySlot || !slot.intact() || slot.tentative()) return false;
    return visit(found, slot);
}

template <typename Visit>
void Index::visit_buckets(std::uint64_t hash, Visit visit) {
    const unsigned count = levels();
    for (unsigned i = 0; i < count; ++i) {
        std::uint64_t *slots = bucket(levels_[i], hash);
        for (std::size_t j = 0; j < kSlotsPerBucket; ++j) {
            const Place place{slots + j, rank(i, j), masks_of(levels_[i], slots).of(j)};
            const Slot slot(place.ref().load(std::memory_order_acquire));
            if (slot.word() == kEmptySlot || !slot.intact()) continue;
            visit(place, slot);
        }
    }
}

}  // namespace cairn
