// The store's look-ups, and those for reading ahead.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "os/environment.h"
#include "store/record.h"
#include "store/space.h"
#include "store/store.h"

namespace cairn {
namespace {

// How often a look-up begins again because a writer changed the slot that it followed, and because
// another index took the place of the one that it looked in.
constexpr unsigned kLookAgain = 16;

// A number for a location: never 0, and no other record's in this cache.
std::uint64_t place_number(Location location) {
    return (std::uint64_t{location.segment} << 32 | location.offset) + 1;
}

// The value of the first published slot for which read(slot) finds the key.
template <typename Read>
BlobRef first_found(Index &index, std::uint64_t hash, Read read) {
    BlobRef found;
    Index::Candidates candidates(index, hash);
    while (const auto one = candidates.next()) {
        if (!one->slot.tentative()) found = read(one->slot).blob;
        if (found) break;
    }
    return found;
}

}  // namespace

// Segments and the index count their deletion in the same counter.
void Store::notice_retired_segments() {
    const std::uint64_t retired = index().retired(std::memory_order_relaxed);
    if (retired == retired_seen_.load(std::memory_order_relaxed)) return;
    const std::uint64_t count = retired & ~kSealed;
    if (count != retired_seen_.exchange(count, std::memory_order_relaxed)) {
        reader_.segments().forget_deleted();
    }
    (void)notice_deleted_index();
}

// Calls read(index, hash, slot) for candidates until one is found. When damage may hide the entry,
// once more in the index that was rebuilt from the segments. Where another index has taken the place of
// that, the entry may have moved since: again in the other one.
template <typename Read>
bool Store::look_up(Bytes key, Read read) {
    if (options_.notice_deletion && !notice_deleted_index()) return false;
    notice_retired_segments();
    const std::uint64_t hash = index().hash(key);
    memory_.prefetch(hash);
    Damage damage;
    for (unsigned indexes = 0; indexes < kLookAgain; ++indexes) {
        Index &index = this->index();
        Index::Candidates candidates(index, hash);
        for (unsigned changes = 0; changes < kLookAgain;) {
            const auto found = candidates.next();
            if (!found) {
                damage.none_in_index = candidates.is_clean();
                break;
            }
            const auto &[place, slot] = *found;
            if (slot.tentative()) continue;
            const ReadOutcome outcome = read(index, hash, slot);
            if (outcome == ReadOutcome::found) {
                note_hit(index, hash, *found, key);
                return true;
            }
            if (outcome == ReadOutcome::other_key) continue;
            if (!has_changed(index, *found, hash, outcome, damage)) continue;
            candidates.restart();
            ++changes;
        }
        const bool again = indexes == 0 ? rebuild_for(index, hash, damage) : has_left(index);
        if (!again || !notice_deleted_index()) return false;
    }
    return false;
}

// For a slot that leads to no entry: whether a writer has replaced, copied or removed that since the
// slot was read, or it is mended now. Else drops the slot.
bool Store::has_changed(Index &index, const Index::PlacedSlot &found, std::uint64_t hash,
                        ReadOutcome outcome, Damage &damage) {
    const Slot now(found.place.ref().load());
    if (now.with_hits(0).word() != found.slot.with_hits(0).word()) return true;
    if (outcome == ReadOutcome::dead && access_ == Access::read_write) {
        index.drop(found.place, now);
    } else if (outcome == ReadOutcome::damaged) {
        damage.met = true;
        drop_damaged(index, found.place, now, hash);
        const std::uint64_t word = found.place.ref().load();
        return word != now.word() && word != kEmptySlot;
    }
    return false;
}

// After a miss: whether to look once more, as damage may have hidden the entry, and another index has
// taken the place of this one. Also where another process or thread was faster, has made that or goes
// on with it: entries move there, and in this one a rebuild stays due.
bool Store::rebuild_for(Index &index, std::uint64_t hash, const Damage &damage) {
    note_boot(index);
    const bool unchecked = index.rebuild_due() != RebuildReason::none;
    const bool hidden = (unchecked || !damage.none_in_index) && index.suspicious(hash);
    if (!hidden && !(damage.met && unchecked)) return false;
    // Its index may have been exchanged for one that may not be written.
    if (repair_ == nullptr || index.access() != Access::read_write) return true;
    index.mend_boot(reader_.boot());
    return has_left(index) || repair_->rebuild(index) || has_left(index);
}

// Whether another index is the cache's now, or will be once that is noticed. In this order, as another
// thread may notice in between.
bool Store::has_left(const Index &index) {
    return index_was_deleted() || &this->index() != &index;
}

// False: the index was deleted, and there is no other yet.
bool Store::notice_deleted_index() {
    return !index_was_deleted() || replace_index(Create::no).ok();
}

// Also for processes that look up nothing here, as they find all in memory: where another index has the
// name, the one before stays sealed.
Index &Store::named_index() {
    if (index().is_sealed()) (void)notice_deleted_index();
    return index();
}

// A put asks each time whether the index was deleted by hand, and so does each look-up with
// notice_deletion. Others, which must be fast, ask where they missed or read from disk, and only once
// in a tick of the coarse clock, which is some milliseconds.
void Store::notice_deletion_now_and_then() {
    const std::uint64_t now_ns = coarse_monotonic_ns();
    if (looked_at_ns_.load(std::memory_order_relaxed) == now_ns) return;
    if (looked_at_ns_.exchange(now_ns, std::memory_order_relaxed) == 0) return;  // just opened
    (void)notice_deleted_index();
}

void Store::note_miss() {
    count(misses);
    notice_deletion_now_and_then();
}

void Store::note_read(std::uint64_t bytes) {
    count(hits);
    count(bytes_read, bytes);
    notice_deletion_now_and_then();
}

BlobRef Store::get(Bytes key) {
    BlobRef blob;
    const auto read = [&](Index &index, std::uint64_t hash, Slot slot) {
        const std::uint64_t place = place_number(slot.location());
        blob = memory_.find(hash, place);
        if (blob) return same_bytes(blob->key(), key) ? ReadOutcome::found : ReadOutcome::other_key;
        ReadBlob found = reader_.read(index.identity().cache_id, slot, key);
        if (found.outcome != ReadOutcome::found) return found.outcome;
        blob = std::move(found.blob);
        note_read(blob->value().size());
        if (memory_.wants(hash, blob->footprint())) memory_.keep(hash, place, blob);
        return ReadOutcome::found;
    };
    if (look_up(key, read)) return blob;
    note_miss();
    return {};
}

std::optional<std::uint64_t> Store::get_into(Bytes key, MutableBytes buffer) {
    std::uint64_t value_size = 0;
    const auto read = [&](Index &index, std::uint64_t hash, Slot slot) {
        const std::uint64_t place = place_number(slot.location());
        if (const BlobRef kept = memory_.find(hash, place)) {
            if (!same_bytes(kept->key(), key)) return ReadOutcome::other_key;
            const Bytes value = kept->value();
            if (!value.empty() && value.size() <= buffer.size()) {
                std::memcpy(buffer.data(), value.data(), value.size());
            }
            value_size = value.size();
            return ReadOutcome::found;
        }
        const ReadInto found = reader_.read_into(index.identity().cache_id, slot, key, buffer);
        if (found.outcome != ReadOutcome::found) return found.outcome;
        value_size = found.value_size;
        note_read(value_size);
        if (value_size > buffer.size()) return ReadOutcome::found;
        if (!memory_.wants(hash, key.size() + found.value_size)) return ReadOutcome::found;
        const BlobRef blob = Blob::copy(key, buffer.first(found.value_size), found.cost_us);
        if (blob) memory_.keep(hash, place, blob);
        return ReadOutcome::found;
    };
    if (look_up(key, read)) return value_size;
    note_miss();
    return std::nullopt;
}

bool Store::contains(Bytes key) {
    return look_up(key, [&](Index &index, std::uint64_t, Slot slot) {
        return reader_.read_key(index.identity().cache_id, slot, key).outcome;
    });
}

// Slots count up to three hits, so a hot entry's slot is soon no longer written to.
void Store::note_hit(const Index &index, std::uint64_t hash, const Index::PlacedSlot &found,
                     Bytes key) {
    reuse_.note_hit(index, hash);
    const auto &[place, slot] = found;
    if (slot.hits() == 3) return;
    if (options_.lent != nullptr) options_.lent->note_hit(key);
    if (access_ == Access::read_only) return;
    const std::uint64_t number = hit_count_.fetch_add(1, std::memory_order_relaxed);
    hits_[number % kHitsMax].store(place.word, std::memory_order_relaxed);
    if (number % kHitsMax == kHitsMax - 1) flush_hits();
}

void Store::flush_hits() {
    if (access_ == Access::read_only) return;
    for (auto &hit : hits_) {
        if (hit.load(std::memory_order_relaxed) == nullptr) continue;  // most often
        std::uint64_t *word = hit.exchange(nullptr, std::memory_order_relaxed);
        if (word != nullptr) Index::count_hit(word);
    }
}

// One damaged slot in 64 has check bits that fit by chance. It may lead to a whole record and say a
// wrong size: then correct the size.
bool Store::mend_size(Index &index, Index::Place place, Slot slot) {
    if (access_ == Access::read_only) return false;
    const ReadRecord whole = reader_.read_any(index.identity().cache_id, slot.location());
    if (whole.outcome != ReadOutcome::found) return false;
    const Slot right =
        Slot::make(slot.location(), size_class(whole.header.record_size()), slot.tag());
    if (right.size_class() == slot.size_class()) return false;
    std::uint64_t word = slot.word();
    return place.ref().compare_exchange_strong(word, right.word());
}

void Store::drop_damaged(Index &index, Index::Place place, Slot slot, std::uint64_t hash) {
    if (mend_size(index, place, slot)) return;
    count(damaged);
    if (access_ == Access::read_only) return;
    ghosts_.note(index, *account_, hash, Ghost::Kind::damaged);
    if (index.drop(place, slot)) reader_.segments().forget_deleted();
}

std::optional<Ghost> Store::ghost_of(Bytes key) {
    if (options_.lent != nullptr) return std::nullopt;
    const Index &index = this->index();
    return ghosts_.find(index, index.hash(key));
}

BlobRef Store::peek(Bytes key) {
    Index &index = this->index();
    return first_found(index, index.hash(key), [&](Slot slot) {
        return reader_.read(index.identity().cache_id, slot, key);
    });
}

BlobRef Store::get_cached(Bytes key) {
    Index &index = this->index();
    const std::uint64_t hash = index.hash(key);
    if (!index.is_cached(hash)) return {};
    BlobRef found = first_found(index, hash, [&](Slot slot) {
        return reader_.read_cached(index.identity().cache_id, slot, key);
    });
    if (!found) return found;
    count(hits);
    count(bytes_read, found->value().size());
    return found;
}

BlobRef Store::key_at(Location location) {
    return reader_.read_any_key(index().identity().cache_id, location).blob;
}

std::vector<Location> Store::newest(std::size_t count_max) {
    std::vector<Location> places;
    const auto use = measure_disk_use(directory_);
    if (!use.ok()) return places;
    std::unordered_map<std::uint32_t, std::uint64_t> modified_ns;
    for (const SegmentFile &file : use->segments) modified_ns[file.segment] = file.modified_ns;
    Index &index = this->index();
    index.for_each([&](Index::Place, Slot slot) {
        if (modified_ns.contains(slot.location().segment)) places.push_back(slot.location());
        return places.size() == count_max;
    });
    std::sort(places.begin(), places.end(), [&](const Location &a, const Location &b) {
        if (a.segment == b.segment) return a.offset > b.offset;
        const std::uint64_t a_ns = modified_ns[a.segment], b_ns = modified_ns[b.segment];
        return a_ns != b_ns ? a_ns > b_ns : a.segment > b.segment;
    });
    return places;
}

}  // namespace cairn
