// The store's changes: put, remove, clear, sync.
// SPDX-License-Identifier: MIT
#include "base/guarded.h"
#include "os/environment.h"
#include "store/record.h"
#include "store/space.h"
#include "store/store.h"

namespace cairn {
namespace {

// For each byte that it stores, a put evicts this many bytes of entries. An eviction may copy half
// of a segment to free the other half, so a small factor would never catch up.
constexpr std::uint64_t kRoomPerByte = 4;
constexpr std::uint64_t kRoomWorkMin = 32 * 1024;
// For the eviction lock, which others hold for moments.
constexpr std::uint64_t kLockPatienceUs = 4'000;
// Concurrent puts exceed the limit by fewer entries than this. If there are more, recount.
constexpr std::uint64_t kExcessMax = 64;
// How often a put begins again because a clear or a later put overtook it.
constexpr unsigned kPutAttempts = 100;
// Eviction steps, each of a megabyte at most, that one put takes before it gives in with `full`.
constexpr unsigned kRoomSteps = 256;
// How long a put waits for another process to make room or a larger index: until no segment is retired for so
// long, as then it may have been stopped, and kRoomWaitUs at most. After a wait in vain, no put waits for kHasteNs.
constexpr std::uint64_t kRoomPatienceUs = 50'000;
constexpr std::uint64_t kRoomWaitUs = 500'000;
constexpr std::uint64_t kHasteNs = 1'000'000'000;
// How long a clear waits for the eviction lock: longer than one look-up may rebuild.
constexpr std::uint64_t kClearPatienceUs = 200'000;
constexpr std::uint64_t kHiddenMs = 200;
constexpr unsigned kHiddenPauseUs = 500;
// Spreads consecutive numbers over all (the golden ratio of 2^32).
constexpr std::uint64_t kSampleStep = 2654435761u;

// Where in the index the sample for a put's eviction begins: elsewhere for each record.
std::uint64_t start_for(Location record) {
    return record.offset / kRecordAlignment * kSampleStep;
}

}  // namespace

// One put's wait for others.
struct Store::RoomWait {
    explicit RoomWait(const Index &in) : index(in) {}

    const Index &index;
    Backoff backoff{kRoomWaitUs};
    std::uint64_t retired = 0;  // when it last waited
    std::uint64_t end_us = 0;   // with so much left it is in vain
};

Examine Store::examiner(Index &index, Bytes key) {
    return [this, &index, key](Slot slot) {
        return reader_.read_stamp(index.identity().cache_id, slot, key);
    };
}

Result<PutOutcome> Store::put(Bytes key, Bytes value, const PutOptions &options) {
    std::vector<RecordId> left_behind;
    auto result = guarded([&]() -> Result<PutOutcome> {
        for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
            TRY_ASSIGN(Index * index, index_to_change());
            const auto outcome = try_put(*index, key, value, options, left_behind);
            if (outcome.error() == Error::not_found) continue;  // the directory was deleted
            if (!outcome.ok()) return outcome.error();
            if (outcome.value()) return *outcome.value();
        }
        return Error::busy;
    });
    // Where another value was there first, that may be our own, which another index has taken over.
    for (const RecordId &record : left_behind) {
        const bool is_entry = index().leads_to(index().hash(key), record.location);
        if (!result.ok() || is_entry) continue;
        (void)mark_state(directory_, record, RecordState::unused);
    }
    if (!result.ok()) {
        count(puts_refused);
    } else if (result.value() == PutOutcome::stored) {
        count(puts);
        count(bytes_written, value.size());
    }
    return result;
}

Result<std::optional<PutOutcome>> Store::try_put(Index &index, Bytes key, Bytes value,
                                                 const PutOptions &options,
                                                 std::vector<RecordId> &left_behind) {
    // The next process that opens the cache compares its limit with that of the last writer.
    index.note_limit(options_.limit_bytes, std::memory_order_relaxed);
    const bool may_not_grow = options_.refuse_when_full && options_.limit_entries != 0 &&
                              index.entries() >= options_.limit_entries;
    if (options.if_absent || may_not_grow) {
        const bool there = contains(key);
        if (there && options.if_absent) {
            // What is there may have been published behind a seal.
            TRY_ASSIGN(const bool overtaken, index.is_sealed() ? is_overtaken(index) : false);
            return overtaken ? std::nullopt : std::optional(PutOutcome::exists);
        }
        if (!there && may_not_grow && recount(index) >= options_.limit_entries) return Error::full;
    }
    RecordHeader header;
    header.key_hash = index.hash(key);
    header.pinned = options.pinned;
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = static_cast<std::uint32_t>(value.size());
    header.raw_size = header.value_size;
    header.cost_us = options.cost_us;
    header.uses = {1, index.use_time()};
    header.stamp_ns = index.next_stamp();
    header.value_check = value_checksum(value);
    TRY_ASSIGN(const auto record, append(index, header, key, value));
    if (!record) return std::optional<PutOutcome>();
    const auto policy = options.if_absent ? PublishPolicy::if_absent : PublishPolicy::replace;
    auto published = guarded([&] { return publish_record(index, header, key, *record, policy); });
    if (published.error() == Error::no_memory) {
        (void)mark_state(directory_, {record->location, header.stamp_ns}, RecordState::unused);
    }
    if (!published.ok()) return published;
    // Another index may have taken it over.
    if (!*published) left_behind.push_back({record->location, header.stamp_ns});
    if (*published != PutOutcome::stored) return published;
    reuse_.note_put(index, header.key_hash, header.cost_us, header.record_size());
    // The entry is stored, even if what follows fails.
    const auto follow_up = [&] {
        evict_some(index, header.record_size());
        if (options_.compress) compress_finished_segments(index);
    };
    guarded(follow_up, [] {});
    return published;
}

// Results as try_put(). After an error no slot leads to the record, unless another index is about to
// take the place of this one.
Result<std::optional<PutOutcome>> Store::publish_record(Index &index, const RecordHeader &header,
                                                        Bytes key, const Writer::Appended &record,
                                                        PublishPolicy policy) {
    const std::uint64_t hash = header.key_hash;
    const Slot slot =
        Slot::make(record.location, size_class(header.record_size()), Slot::tag_of(hash));
    // What may not be read gives way, like what is damaged, if it may be replaced. A removal may not do
    // that: the entry would be back when the segment may be read again.
    const Examine examine = [&, known = examiner(index, key)](Slot rival) {
        auto stamp = known(rival);
        const bool gives_way = stamp.error() == Error::denied && policy == PublishPolicy::replace;
        return gives_way ? decltype(stamp)(Error::corrupt) : std::move(stamp);
    };
    auto result = publish_slot(index, hash, slot, policy, header.stamp_ns, examine);
    const bool is_refused = !result.ok() || result->outcome == Published::Outcome::exists ||
                            result->outcome == Published::Outcome::outdated;
    if (is_refused) {
        (void)mark_state(directory_, {record.location, header.stamp_ns}, RecordState::unused);
        // A rebuild may have taken our record for the entry before that mark.
        TRY_ASSIGN(const bool overtaken, is_overtaken(index));
        if (overtaken) return std::optional<PutOutcome>();
        if (!result.ok()) return result.error();
        if (result->outcome == Published::Outcome::exists) return std::optional(PutOutcome::exists);
        index.raise_stamp(result->other.stamp_ns);  // the counter may have been damaged
        return std::optional<PutOutcome>();
    }
    const Published published = *result;
    const bool is_added = published.outcome == Published::Outcome::added;
    const bool has_replaced = published.outcome == Published::Outcome::replaced;
    // The index leads to what it led to before; to nothing, if the entry was added. False: others have
    // changed the slot, and counted that.
    const auto take_back = [&] {
        const std::uint64_t before = has_replaced ? published.other.slot.word() : kEmptySlot;
        const bool done = index.change_slot(hash, record.location, [&](Slot) { return before; });
        if (!done && is_added) index.count_entry();
        return done;
    };
    // Our record counts before this one, as it is newer. But it may be evicted first, or damaged.
    const auto give_up_older = [&] {
        if (!has_replaced) return;
        const RecordId older = {published.other.slot.location(), published.other.stamp_ns};
        (void)mark_given_up(directory_, older, GivenUp::replaced, reader_.boot());
    };
    // Another index may have taken the place of this one, and our record with it: so say nothing of
    // records then.
    const auto overtaken = guarded([&] { return is_overtaken(index); });
    if (!overtaken.ok()) {
        (void)take_back();
        return overtaken.error();
    }
    if (overtaken.value()) return std::optional<PutOutcome>();
    // A clear deletes the segments before it empties the index. So if we published after that, our
    // own segment is gone.
    if (Writer::was_deleted(record)) {
        if (!take_back()) give_up_older();
        writer_->release_segment();
        return std::optional<PutOutcome>();
    }
    give_up_older();
    if (is_added) {
        index.count_entry(std::memory_order_relaxed);
        // The entry is stored even if there is no memory to evict another one.
        guarded([&] { enforce_entry_limit(index, record.location); }, [] {});
    }
    return std::optional(PutOutcome::stored);
}

// Writes the record. At the limit, evicts until there is room. nullopt: another index has taken the
// place of this one.
Result<std::optional<Writer::Appended>> Store::append(Index &index, const RecordHeader &header,
                                                      Bytes key, Bytes value) {
    bool released = false;
    RoomWait wait(index);
    for (unsigned steps = 0;;) {
        auto record = writer_->append(index, header, key, value, Account::Purpose::put);
        if (record.ok()) return std::optional(std::move(*record));
        if (record.error() == Error::busy && wait_for_room(wait)) continue;
        if (record.error() != Error::full) return record.error();
        if (options_.refuse_when_full || steps >= kRoomSteps) return Error::full;
        auto progress = evictor_->step(index, UINT64_MAX);
        // There is no more room before a segment is retired.
        while (progress.ok() && progress.value() == Evictor::Progress::some &&
               ++steps < kRoomSteps) {
            progress = evictor_->step(index, UINT64_MAX);
        }
        if (!progress.ok()) return progress.error();
        if (progress.value() == Evictor::Progress::busy) {
            if (!index.is_named(directory_)) return std::optional<Writer::Appended>();
            if (!wait_for_room(wait)) return Error::full;
            continue;
        }
        if (progress.value() != Evictor::Progress::none) {
            ++steps;
            continue;
        }
        // Our own active segment may be the only one that could be evicted.
        if (released) return Error::full;
        release_segments();
        released = true;
    }
}

// For a put or a removal. Where it is sealed, waits as is_overtaken(), so that nothing is published
// there which others see and which is lost.
Result<Index *> Store::index_to_change() {
    for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
        TRY_ASSIGN(Index * index, writable_index());
        note_boot(*index);
        index->mend_boot(reader_.boot());
        if (!index->is_sealed()) return index;
        TRY_ASSIGN(const bool overtaken, is_overtaken(*index));
        if (!overtaken) return index;
    }
    return Error::busy;
}

// After a change: whether another index has the name, which may lack it, so that the call begins
// again. Waits for a rebuild that is about to give the name away. busy: that was stopped, and nobody
// can tell.
Result<bool> Store::is_overtaken(Index &index) {
    RoomWait wait(index);
    while (index.seems_named(directory_)) {
        if (!index.is_sealed()) return false;
        const auto lock = IndexNameLock::acquire(directory_, kLockPatienceUs);
        if (!lock.ok()) {
            const bool is_deleted = lock.error() == Error::not_found;
            if (lock.error() != Error::busy && !is_deleted) return lock.error();
            if (!wait_for_room(wait)) return Error::busy;
            continue;
        }
        const auto named = directory_.info(kIndexFileName);  // is_named() says so also in doubt
        if (!named.ok() && named.error() != Error::not_found) return named.error();
        if (index.is_named(directory_)) index.unseal();  // the rebuild has died
    }
    return true;
}

// Waits for a process that evicts, makes the index larger or rebuilds it, but not for one that was
// stopped meanwhile.
bool Store::wait_for_room(RoomWait &wait) {
    if (monotonic_ns() < hasty_until_ns_.load(std::memory_order_relaxed)) return false;
    const std::uint64_t left = wait.backoff.left_us();
    const std::uint64_t retired = wait.index.retired() + 1;  // 0 is none
    if (retired != wait.retired) wait.end_us = left - std::min(left, kRoomPatienceUs);
    wait.retired = retired;
    if (left > wait.end_us && wait.backoff.pause()) return true;
    hasty_until_ns_.store(monotonic_ns() + kHasteNs, std::memory_order_relaxed);
    return false;
}

// Publishes. When the buckets of the hash are full, tries three ways to make room: empty damaged
// slots, grow the index, drop an entry.
Result<Published> Store::publish_slot(Index &index, std::uint64_t hash, Slot slot,
                                      PublishPolicy policy, std::uint64_t stamp_ns,
                                      const Examine &examine) {
    RoomWait wait(index);
    for (;;) {
        auto published = publish(index, hash, slot, policy, stamp_ns, examine);
        if (published.ok() || published.error() != Error::full) return published;
        if (index.free_damaged(hash)) continue;
        const Status grown = account_->grow_index(index, hash);
        if (grown.ok()) continue;
        // Where another process makes the index larger. In a forked child the index may be busy for
        // ever: it cannot refresh() then.
        const bool is_locked = grown.error() == Error::busy && index.refresh().ok();
        if (is_locked && wait_for_room(wait)) continue;
        if (grown.error() == Error::full && !options_.refuse_when_full) {
            const auto progress = evictor_->step(index, UINT64_MAX);
            if (progress.ok() && Evictor::has_worked(progress.value())) continue;
        } else if (grown.error() != Error::too_large && grown.error() != Error::full) {
            return grown.error();
        }
        if (options_.refuse_when_full) return Error::full;
        flush_hits();
        const std::uint64_t start = start_for(slot.location());
        if (!evictor_->drop_from_buckets(index, hash, start)) return Error::full;
    }
}

// Evicts a little after each put, so that no put has to wait for a whole segment.
void Store::evict_some(Index &index, std::uint64_t record_size) {
    if (!account_->pressed()) return;
    flush_hits();
    (void)evictor_->step(index, std::max(record_size * kRoomPerByte, kRoomWorkMin));
}

// The first put also starts it for segments that earlier processes left.
void Store::compress_finished_segments(Index &index) {
    const std::uint64_t taken = writer_->segments_taken();
    if (segments_seen_.exchange(taken, std::memory_order_relaxed) != taken) {
        compactor_->start(index);
    }
}

// The compactor goes over no segment that may have entries which the index lacks.
Status Store::compress() {
    TRY_ASSIGN(Index * index, writable_index());
    note_boot(*index);
    release_segments();
    const Deadline deadline = Deadline::in_ms(kHiddenMs);
    for (bool met_damage = false;;) {  // that is not known yet
        TRY_ASSIGN(index, writable_index());
        if (met_damage || index->rebuild_due() != RebuildReason::none) {
            if (!repair_->rebuild(*index)) sleep_us(kHiddenPauseUs);
            met_damage = false;
        } else {
            const Status status = compactor_->run(*index);
            met_damage = status.error() == Error::corrupt;
            if (!met_damage) return status;
        }
        if (deadline.has_passed()) return Error::busy;
    }
}

// Processes that died leave Index::entries() a little off, and damage leaves it at anything. So
// count before a decision depends on it.
std::uint64_t Store::recount(Index &index) {
    const std::uint64_t counted = index.count_entries();
    index.set_entries(counted);
    return counted;
}

void Store::enforce_entry_limit(Index &index, Location spare) {
    if (options_.limit_entries == 0 || options_.refuse_when_full) return;
    std::uint64_t now = index.entries(std::memory_order_relaxed);
    if (now <= options_.limit_entries) return;
    const bool unlikely = now > options_.limit_entries + kExcessMax;
    if (!entries_counted_.exchange(true) || unlikely) now = recount(index);
    flush_hits();
    std::uint64_t start = start_for(spare);
    for (; now > options_.limit_entries; now = index.entries(std::memory_order_relaxed)) {
        if (!evictor_->drop_one_entry(index, spare, start)) return;
        start += kSampleStep;
    }
}

Result<bool> Store::remove(Bytes key) {
    bool removed = false;
    bool may_come_back = false;
    for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
        TRY_ASSIGN(Index * index, index_to_change());
        const std::uint64_t hash = index->hash(key);
        const auto was_evicted = [&] { return index->victim() && ghosts_.find(*index, hash); };
        may_come_back = may_come_back || was_evicted();
        ghosts_.forget(*index, hash);  // it is gone for another reason from now on
        // Before the look: what a rebuild publishes behind that, it publishes while it is due.
        const bool may_be_unseen =
            index->rebuild_due() != RebuildReason::none || index->suspicious(hash);
        TRY_ASSIGN(const bool found, remove_found(*index, hash, key));
        removed = removed || found;
        // Or it has listed the record before we marked it.
        if (may_be_unseen || index->rebuild_due() != RebuildReason::none) {
            if (index->rebuild_due() == RebuildReason::none) index->ask_for_rebuild();
            TRY(note_removal(*index, hash, key));
            removed = true;  // perhaps of an entry that is not seen
        } else if (!found && (may_come_back || was_evicted())) {
            // Evicted, perhaps from a segment that is not retired yet: so it comes back if the index
            // is lost. If this fails, so be it, as there is no entry.
            (void)note_removal(*index, hash, key);
        }
        TRY_ASSIGN(const bool overtaken, is_overtaken(*index));
        if (!overtaken) return removed;
    }
    return Error::busy;
}

// Removes what the index leads to.
Result<bool> Store::remove_found(Index &index, std::uint64_t hash, Bytes key) {
    const Examine examine = examiner(index, key);
    bool removed = false;
    // Again, as a hit, a put or a copy may change the slot. And a key has two where damage hid its entry
    // while it was stored once more.
    for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
        TRY_ASSIGN(const auto found, find_published(index, hash, examine));
        if (!found) break;
        // Mark first. If that fails, the entry stays, as it could come back later.
        TRY(mark_removed(directory_, {found->slot.location(), found->stamp_ns}, reader_.boot()));
        (void)index.drop(found->place, found->slot);
        removed = true;
    }
    return removed;
}

// For an entry that the index may not lead to: writes a dead record, which is newer than all others of
// the key. A rebuild goes by it.
Status Store::note_removal(Index &index, std::uint64_t hash, Bytes key) {
    const RecordHeader header = removal_of(hash, key.size(), index.next_stamp(), reader_.boot());
    for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
        const auto record = append(index, header, key, {});
        const bool is_deleted = record.error() == Error::not_found;
        if (!record.ok()) return is_deleted ? Status() : Status(record.error());
        const auto &written = record.value();
        if (!written || !Writer::was_deleted(*written)) return {};
        writer_->release_segment();  // somebody has deleted it
    }
    return Error::busy;
}

Status Store::clear() {
    TRY(writable_index());
    release_segments();
    Index *index = nullptr;
    Status removed;
    {
        // Without the lock somebody could copy entries to a segment that we do not see, or put
        // another index in place. Waits for such a process, but not for one that was stopped
        // meanwhile.
        const auto lock = lock_eviction(directory_, kClearPatienceUs);
        TRY_ASSIGN(index, writable_index());
        index->forget_victim();
        removed = remove_segments();
        if (removed.ok()) {
            index->clear();
            index->take_back_all();
            index->count_retired();
            forget_evicted(*index);
        }
    }
    memory_.clear();
    reader_.segments().forget_deleted();
    note_clear(*index, true);
    return removed;
}

Result<std::uint64_t> Store::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    if (access_ == Access::read_only) return Error::read_only;
    std::vector<std::string> keys;
    enumerate([&](const EntryInfo &info) {
        if (info.stamp_ns >= begin_ns && info.stamp_ns < end_ns) {
            keys.emplace_back(reinterpret_cast<const char *>(info.key.data()), info.key.size());
        }
        return true;
    });
    std::uint64_t removed = 0;
    Status first;
    for (const std::string &key : keys) {
        const auto was_there = remove(as_bytes(key));
        if (was_there.ok() && was_there.value()) ++removed;
        if (!was_there.ok() && first.ok()) first = was_there.error();
    }
    if (first.error() == Error::read_only) return first.error();
    TRY_ASSIGN(Index * index, writable_index());
    {
        const auto lock = lock_eviction(directory_, kClearPatienceUs);
        forget_evicted(*index);
    }
    // Even if nothing was removed, as other processes may have copies in memory.
    note_clear(*index, !keys.empty());
    if (!first.ok()) return first.error();
    return removed;
}

// It is of no interest any more.
void Store::forget_evicted(Index &index) {
    ghosts_.forget_all(index);
    reuse_.forget_all(index);
}

// Last of all: a process that sees the new count finds no removed entry on disk. Counted again where
// another index has the name since; where that is about to get it from a process that was stopped, it
// takes over the count, unless that process dies at once.
void Store::note_clear(Index &index, bool has_removed) {
    Index *counted = &index;
    for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
        if (has_removed) counted->set_cleared_now();
        counted->count_clear();
        const auto overtaken = guarded([&] { return is_overtaken(*counted); });
        if (!overtaken.ok() || !overtaken.value() || !notice_deleted_index()) return;
        counted = &this->index();
        if (counted->access() == Access::read_only) return;
    }
}

// Segments first: an index that is durable must not lead to records that are not.
Status Store::sync() {
    for (unsigned attempt = 0; attempt < kPutAttempts; ++attempt) {
        TRY_ASSIGN(Index * index, writable_index());
        index->note_sync();
        TRY(sync_segments(directory_));
        TRY(index->sync());
        TRY(directory_.sync());
        // The names of the directories, from below.
        const auto cache = root_.open_directory(options_.identifier);
        if (cache.error() == Error::not_found) continue;  // it was deleted
        if (!cache.ok()) return cache.error();
        TRY(cache->sync());
        if (index->is_named(directory_)) return root_.sync();
    }
    return Error::busy;
}

void Store::release_segments() {
    writer_->release_segment();
    evictor_->release_segment();
}

Status Store::remove_segments() const {
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory_));
    for (const SegmentFile &segment : use.segments) {
        const Status status = discard_segment(directory_, segment_file_name(segment.segment));
        if (!status.ok() && status.error() != Error::not_found) return status;
    }
    return {};
}

}  // namespace cairn
