// SPDX-License-Identifier: MIT
#include "store/index.h"

#include <algorithm>

#include "os/deadline.h"
#include "os/environment.h"
#include "store/space.h"

namespace cairn {

alignas(64) const std::uint64_t Index::kEmptyBucket[kSlotsPerBucket] = {
    kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot,
    kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot, kEmptySlot};

namespace {

// For the mutex of the mappings, which is held for a system call or two.
constexpr std::uint64_t kMapPatienceUs = 10'000;

// How many whole levels a file of this size has.
unsigned levels_of_size(std::uint64_t size) {
    unsigned levels = 0;
    while (levels < kLevelMax && size >= index_size(levels + 1)) ++levels;
    return levels;
}

std::uint64_t *words(const Mapping &mapping, std::uint64_t offset) {
    return reinterpret_cast<std::uint64_t *>(mapping.data() + offset);
}

}  // namespace

Result<std::unique_ptr<Index>> Index::open(File file, const CacheIdentity &identity,
                                           Access access) {
    std::unique_ptr<Index> index(new (std::nothrow) Index(std::move(file), identity, access));
    if (index == nullptr) return Error::no_memory;
    TRY(index->map_levels());
    return index;
}

// Maps the levels in use. If the file was cut, a rebuild finds the lost entries, and the index
// grows again as they need.
Status Index::map_levels() {
    // Read the counter before the size: grow() changes the size first.
    std::array<std::byte, sizeof(std::uint64_t)> bytes = {};
    TRY(file_.read_at(counter_offset(Counter::levels), bytes));
    auto hint = get_le<std::uint64_t>(bytes, 0);
    TRY_ASSIGN(opened_, file_.info());
    const unsigned whole = levels_of_size(opened_.size_bytes);
    if (whole == 0) {
        if (access_ == Access::read_only) return Error::corrupt;
        TRY(file_.extend(index_size(1)));
    }
    TRY_ASSIGN(const unsigned levels, levels_in_use(std::max(1u, whole), hint));
    TRY_ASSIGN(base_, Mapping::file(file_, access_, 0, index_size(levels)));
    set_counters_page(words(base_, kCountersPage * kPage));
    if (levels > 2) base_.expect_random_access();  // a few reads bring a small index into memory
    for (unsigned i = 0; i < levels; ++i) TRY(map_level(i, opened_));
    level_count_.store(levels, std::memory_order_release);
    if (access_ == Access::read_only) return {};
    if (whole == 0 || hint == 0 || hint > levels) ask_for_rebuild();
    // Compare-and-swap, as another process may have changed the counter since. Do not write an
    // unchanged value: the first write to a page of a mapped file is slow.
    if (hint != levels) word(Counter::levels).compare_exchange_strong(hint, levels);
    return {};
}

// Of the levels that the file has room for: those that the counter tells of, and behind them those
// that hold slots, as the counter may be damaged. Anything else was appended by a stranger, or is a
// level that a process is just adding or died adding.
Result<unsigned> Index::levels_in_use(unsigned whole, std::uint64_t hint) const {
    const bool possible = hint >= 1 && hint <= kLevelMax;
    unsigned levels = possible ? std::min(whole, static_cast<unsigned>(hint)) : 1;
    for (; levels < whole; ++levels) {
        TRY_ASSIGN(const bool used, is_used(levels));
        if (!used) break;
    }
    return levels;
}

// Whether one of the first initialised pages of a level holds nothing but slots. Reads the file, as
// the level need not be mapped.
Result<bool> Index::is_used(unsigned level) const {
    constexpr unsigned kPagesMax = 16;
    const std::uint64_t slots = level_offset(level) + level_bitmap_pages(level) * kPage;
    alignas(64) std::array<std::byte, kPage> page;
    unsigned looked = 0;
    for (std::uint64_t i = 0; i < level_pages(level) && looked < kPagesMax; i += 64) {
        std::array<std::byte, 8> word = {};
        TRY(file_.read_at(level_offset(level) + i / 8, word));
        for (auto bits = get_le<std::uint64_t>(word, 0); bits != 0; bits &= bits - 1) {
            const auto number = i + static_cast<unsigned>(std::countr_zero(bits));
            TRY_ASSIGN(const std::size_t count, file_.read_at(slots + number * kPage, page));
            if (count == kPage && is_whole_page(level, number, page)) return true;
            if (++looked == kPagesMax) break;
        }
    }
    return false;
}

bool Index::is_whole_page(unsigned level, std::uint64_t page, Bytes bytes) const {
    for (std::size_t i = 0; i < kSlotsPerPage; ++i) {
        const std::uint64_t mask = slot_mask(identity_.format, level, page * kSlotsPerPage + i);
        if (!Slot(get_le<std::uint64_t>(bytes, i * 8) ^ mask).intact()) return false;
    }
    return true;
}

void Index::check_levels() {
    for (const Level &level : mapped_levels()) {
        std::uint64_t pages = 0;
        for (std::uint64_t i = 0; i < (level_pages(level.number) + 63) / 64 && pages == 0; ++i) {
            pages = at(level.bitmap + i).load(std::memory_order_relaxed);
        }
        if (pages == 0) return ask_for_rebuild();
    }
}

// `info`: of the file, as it is now.
Status Index::map_level(unsigned number, const FileInfo &info) {
    const std::uint64_t offset = level_offset(number);
    const std::uint64_t bitmap_size = level_bitmap_pages(number) * kPage;
    Level &level = levels_[number];
    if (index_size(number + 1) <= base_.size()) {
        level.bitmap = words(base_, offset);
    } else {
        TRY_ASSIGN(later_levels_[number],
                   Mapping::file(file_, access_, offset, index_size(number + 1) - offset));
        later_levels_[number].expect_random_access();
        level.bitmap = words(later_levels_[number], 0);
    }
    level.slots = level.bitmap + bitmap_size / sizeof(std::uint64_t);
    level.bucket_mask = level_buckets(number) - 1;
    level.number = number;
    // Compare the whole file: blocks of other levels must not hide what this one lacks.
    if (number == 0 || info.disk_bytes >= info.size_bytes) return {};  // the first one has none
    level.holes.reset(new (std::nothrow)
                          std::atomic<std::uint64_t>[level_pages(number) / 64 + 1]());
    return level.holes != nullptr ? Status() : Status(Error::no_memory);
}

// For a page whose bit is not set: after damage there may be entries in it all the same. It stays a
// hole until its bit is set. A page that cannot be read counts as full.
bool Index::page_is_empty(const Level &level, const std::uint64_t *slot) const {
    const std::size_t page = page_of(level, slot);
    const std::uint64_t bit = std::uint64_t{1} << (page % 64);
    std::atomic<std::uint64_t> &holes = level.holes[page / 64];
    if ((holes.load(std::memory_order_relaxed) & bit) != 0) return true;
    std::array<std::byte, kPage> bytes = {};
    const auto count = file_.read_at(offset_of_page(level, page), bytes);
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (!count.ok() || !std::ranges::all_of(bytes, is_zero)) return false;
    holes.fetch_or(bit, std::memory_order_relaxed);
    return true;
}

// The levels that can be used now. Maps levels that another process has added.
unsigned Index::levels() {
    const unsigned mapped = level_count_.load(std::memory_order_acquire);
    const std::uint64_t hint = word(Counter::levels).load(std::memory_order_acquire);
    if (hint <= mapped || hint > kLevelMax) return mapped;
    if (hint == refused_hint_.load(std::memory_order_relaxed)) return mapped;
    if (!map_mutex_.try_lock()) return mapped;  // another thread maps them: do not wait
    (void)map_added_levels(hint);  // on failure, look-ups use the levels that are mapped
    map_mutex_.unlock();
    return level_count_.load(std::memory_order_acquire);
}

Status Index::map_added_levels(std::uint64_t hint) {
    TRY_ASSIGN(const FileInfo info, file_.info());
    for (unsigned now = level_count_.load(); now < hint; ++now) {
        if (info.size_bytes < index_size(now + 1)) {
            refused_hint_.store(hint, std::memory_order_relaxed);  // the counter is damaged
            return {};
        }
        TRY(map_level(now, info));
        level_count_.store(now + 1, std::memory_order_release);
    }
    return {};
}

Status Index::refresh() {
    // In a forked child the owner of the mutex may not exist.
    Backoff backoff(kMapPatienceUs);
    do {
        const std::uint64_t hint = word(Counter::levels).load();
        if (hint <= level_count_.load() || hint > kLevelMax) return {};
        if (hint == refused_hint_.load(std::memory_order_relaxed)) return {};
        if (map_mutex_.try_lock()) {
            const AdoptedLock lock(map_mutex_);
            return map_added_levels(hint);
        }
    } while (backoff.pause());
    return Error::busy;
}

bool Index::sees_all() {
    if (!refresh().ok()) return false;
    const auto info = file_.info();
    if (!info.ok() || info->links == 0) return false;
    const unsigned mapped = level_count_.load();
    const auto used = levels_in_use(levels_of_size(info->size_bytes), mapped);
    return used.ok() && used.value() <= mapped;
}

std::uint64_t Index::growth_bytes() const {
    const unsigned now = level_count_.load();
    if (now == kLevelMax) return 0;
    const auto info = file_.info();
    const std::uint64_t used = info.ok() ? info->disk_bytes : 0;
    return index_size(now + 1) - std::min(used, index_size(now));  // fills holes, too
}

Status Index::grow() {
    return add_level([&](std::uint64_t, std::uint64_t end) { return file_.extend(end); });
}

// Calls extend(begin, end) with the range of a new level.
template <typename Extend>
Status Index::add_level(Extend extend) {
    TRY(trim());
    const unsigned now = levels();
    if (now == kLevelMax) return Error::full;
    TRY(extend(index_size(now), index_size(now + 1)));
    word(Counter::levels).store(now + 1);
    refused_hint_.store(0, std::memory_order_relaxed);
    return refresh();
}

// Punches a hole rather than cut the file where possible: another process may have a level mapped
// that a damaged counter has forgotten.
Status Index::trim() {
    TRY(refresh());
    TRY_ASSIGN(const FileInfo info, file_.info());
    const unsigned mapped = level_count_.load();
    const std::uint64_t end = index_size(mapped);
    if (info.size_bytes <= end) return {};
    TRY_ASSIGN(const unsigned used, levels_in_use(levels_of_size(info.size_bytes), mapped));
    if (used > mapped) return {};
    const Status status = file_.punch(end, info.size_bytes - end);
    return status.error() == Error::unsupported ? file_.truncate(end) : status;
}

// The largest level whose page for a hash is not initialised.
const Index::Level *Index::level_without_page(std::uint64_t hash) {
    for (unsigned i = levels(); i-- > 0;) {
        if (!page_initialised(levels_[i], place_of_bucket(levels_[i], hash))) return &levels_[i];
    }
    return nullptr;
}

std::uint64_t Index::growth_bytes_for(std::uint64_t hash) {
    if (level_without_page(hash) != nullptr) return kPage;
    const unsigned now = level_count_.load();
    // A new level takes its bitmap, that page, and its last page, which extends the file.
    return now == kLevelMax ? 0 : (level_bitmap_pages(now) + 2) * kPage;
}

Status Index::grow_for(std::uint64_t hash) {
    if (level_without_page(hash) == nullptr) {
        const auto extend = [&](std::uint64_t begin, std::uint64_t end) -> Status {
            TRY(file_.reserve(begin, level_bitmap_pages(level_count_.load()) * kPage));
            return file_.extend_sparsely(end - kPage, end);
        };
        TRY(add_level(extend));
    }
    const Level *const level = level_without_page(hash);
    if (level == nullptr) return {};
    std::uint64_t *const slots = place_of_bucket(*level, hash);
    TRY(reserve_page(*level, slots));
    initialise_page(*level, slots);
    return {};
}

// Storing to a page without blocks ends the process when the disk is full.
Status Index::reserve_page(const Level &level, const std::uint64_t *slot) const {
    return reserve_blocks(file_, offset_of_page(level, page_of(level, slot)), kPage);
}

// Whether the page has blocks, or can get them within the space that the cache accounts for: when
// the file has all its blocks. Levels that grow_for() added lack some, and so does a file that was
// copied without its zeros.
bool Index::may_initialise(const Level &level, const std::uint64_t *slot) const {
    const auto info = file_.info();
    const bool has_all = info.ok() && info->disk_bytes >= index_size(level_count_.load());
    return has_all && reserve_page(level, slot).ok();  // this page may still lack its block
}

bool Index::page_initialised(const Level &level, const std::uint64_t *slot) const {
    const std::size_t page = page_of(level, slot);
    const std::uint64_t word = at(level.bitmap + page / 64).load();
    return (word >> (page % 64)) & 1;
}

// An index is made with all pages of its first level. One that it lacks was lost, and what led from it:
// once its bit is set, nothing tells of that any more.
void Index::initialise_page(const Level &level, std::uint64_t *slot) {
    if (level.number == 0) ask_for_rebuild();
    const std::size_t page = page_of(level, slot);
    std::uint64_t *begin = level.slots + page * kSlotsPerPage;
    for (std::size_t i = 0; i < kSlotsPerPage; ++i) {
        std::uint64_t zero = 0;
        at(begin + i).compare_exchange_strong(zero, kEmptySlot ^ mask_of(level, begin + i));
    }
    at(level.bitmap + page / 64).fetch_or(std::uint64_t{1} << (page % 64));
}

bool Index::suspicious(std::uint64_t hash) {
    if (rebuild_due() == RebuildReason::damage) return true;
    for (const Level &level : mapped_levels()) {
        std::uint64_t *slots = bucket(level, hash);
        if (BucketScan::all_intact(slots, masks_of(level, slots))) continue;
        for (std::size_t j = 0; j < kSlotsPerBucket; ++j) {
            if (damaged_word(level, slots + j)) return true;
        }
    }
    return false;
}

// The word of a slot, as it is in the file, if it is damaged.
std::optional<std::uint64_t> Index::damaged_word(const Level &level, std::uint64_t *slot) const {
    const std::uint64_t mask = mask_of(level, slot);
    if (Slot(at(slot).load(std::memory_order_relaxed) ^ mask).intact()) return std::nullopt;
    // The bit before the slot: it is set last. The first level is made with all its pages.
    const bool initialised = level.number == 0 || page_initialised(level, slot);
    const std::uint64_t word = at(slot).load(std::memory_order_relaxed);
    const bool damaged = !Slot(word ^ mask).intact() && (word != 0 || initialised);
    return damaged ? std::optional(word) : std::nullopt;
}

// Damage to both copies may be damage to everything. Empty slots of another cache, or zeros, do not
// tell of it.
bool Index::has_own_header() const {
    const std::size_t last = kIndexHeaderSize - sizeof(std::uint64_t);  // the check
    const auto check = get_le<std::uint64_t>(header_, last);
    return std::ranges::any_of(std::array{kHeaderPage, kHeaderCopyPage}, [&](std::uint64_t page) {
        const std::uint64_t word = at(words(base_, page * kPage + last)).load();
        return get_le<std::uint64_t>(std::as_bytes(std::span(&word, 1)), 0) == check;
    });
}

RebuildReason Index::rebuild_due() const {
    return has_own_header() ? rebuild_reason() : RebuildReason::damage;
}

bool Index::free_damaged(std::uint64_t hash) {
    bool freed = false;
    for (const Level &level : mapped_levels()) {
        std::uint64_t *slots = bucket(level, hash);
        if (BucketScan::all_intact(slots, masks_of(level, slots))) continue;
        for (std::size_t j = 0; j < kSlotsPerBucket; ++j) {
            freed = clear_if_damaged(level, slots + j) || freed;
        }
    }
    return freed;
}

Result<Index::Place> Index::insert(std::uint64_t hash, Slot slot) {
    const unsigned count = levels();
    for (unsigned i = count; i-- > 0;) {
        std::uint64_t *slots = place_of_bucket(levels_[i], hash);
        if (!page_initialised(levels_[i], slots)) {
            if (!may_initialise(levels_[i], slots)) continue;
            initialise_page(levels_[i], slots);
        }
        const BucketMasks masks = masks_of(levels_[i], slots);
        for (std::size_t j = 0; j < kSlotsPerBucket; ++j) {
            const Place place{slots + j, rank(i, j), masks.of(j)};
            std::uint64_t empty = kEmptySlot;
            if (place.ref().load(std::memory_order_relaxed) != empty) continue;
            if (place.ref().compare_exchange_strong(empty, slot.word())) return place;
        }
    }
    return Error::full;
}

std::uint64_t Index::count_entries() {
    std::uint64_t count = 0;
    for_each([&](Place, Slot) {
        ++count;
        return false;
    });
    return count;
}

bool Index::is_named(const Directory &directory) const {
    const auto there = directory.info(kIndexFileName);
    if (!there.ok()) return there.error() != Error::not_found;
    return is_same_file(there.value(), opened_);
}

bool Index::seems_named(const Directory &directory) {
    const std::uint64_t now_ns = coarse_wall_clock_ns();
    const auto ours = file_.info();
    if (!ours.ok()) return is_named(directory);
    if (ours->links == 0) return false;
    const bool is_unchanged =
        named_changed_ns_.load(std::memory_order_relaxed) == ours->changed_ns &&
        named_at_ns_.load(std::memory_order_relaxed) == now_ns;
    if (is_unchanged && !is_sealed()) return true;
    if (!is_named(directory)) return false;
    // What changes within this tick may leave the same time.
    const bool tells = ours->changed_ns < now_ns;
    named_changed_ns_.store(tells ? ours->changed_ns : 0, std::memory_order_relaxed);
    named_at_ns_.store(now_ns, std::memory_order_relaxed);
    return true;
}

bool Index::clear_if_damaged(const Level &level, std::uint64_t *slot) {
    auto word = damaged_word(level, slot);
    if (!word) return false;
    ask_for_rebuild();
    return at(slot).compare_exchange_strong(*word, kEmptySlot ^ mask_of(level, slot));
}

void Index::clear() {
    for (const Level &level : mapped_levels()) {
        const std::uint64_t slot_count = level_buckets(level.number) * kSlotsPerBucket;
        for (std::uint64_t *slot = level.slots; slot < level.slots + slot_count; ++slot) {
            if (is_hole(level, slot) || at(slot).load(std::memory_order_relaxed) == 0) continue;
            at(slot).store(kEmptySlot ^ mask_of(level, slot));
        }
    }
    set_entries(0);
}

bool Index::is_cached(std::uint64_t hash) const {
    const unsigned count = level_count_.load(std::memory_order_acquire);
    for (unsigned i = 0; i < count; ++i) {
        if (!Mapping::is_cached(bucket(levels_[i], hash))) return false;
    }
    return true;
}

std::optional<Index::PlacedSlot> Index::slot_at(std::uint64_t hash, Location location) {
    Candidates candidates(*this, hash);
    while (const auto found = candidates.next()) {
        if (!found->slot.tentative() && found->slot.location() == location) return found;
    }
    return std::nullopt;
}

void Index::count_hit(std::uint64_t *word) {
    std::uint64_t seen = at(word).load(std::memory_order_relaxed);
    const Slot slot(seen);
    if (seen == 0 || is_empty_word(seen) || slot.tentative() || slot.hits() == 3) return;
    at(word).compare_exchange_strong(seen, slot.with_hits(slot.hits() + 1).word(),
                                     std::memory_order_relaxed);
}

bool Index::drop(Place place, Slot slot) {
    std::uint64_t word = slot.word();
    if (!place.ref().compare_exchange_strong(word, kEmptySlot)) return false;
    if (!slot.tentative()) uncount_entry();
    return true;
}

void Index::withdraw_tentative(std::uint64_t hash, Location location) {
    Candidates candidates(*this, hash);
    while (const auto found = candidates.next()) {
        const Slot slot = found->slot;
        if (slot.tentative() && slot.location() == location) drop(found->place, slot);
    }
}

Status Index::sync() {
    TRY(base_.sync());
    const unsigned count = levels();
    for (unsigned i = 0; i < count; ++i) {
        if (later_levels_[i].data() != nullptr) TRY(later_levels_[i].sync());
    }
    return file_.sync_data();
}

}  // namespace cairn
