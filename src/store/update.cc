// The store's changes: put, remove, clear, sync.
// SPDX-License-Identifier: MIT
#include "os/environment.h"
#include "store/record.h"
#include "store/space.h"
#include "store/store.h"

namespace cairn {
namespace {

// What a put does towards making room, in bytes of entries carried over for each byte of its own:
// less than the half of a segment that may be carried over for the half that is freed would never
// catch up.
constexpr std::uint64_t kRoomPerByte = 4;
constexpr std::uint64_t kRoomWorkMin = 32 * 1024;
// Replaced records that are remembered until the next sync. Of more, an old value may come back
// with damage.
constexpr std::size_t kReplacedMax = 4096;
// More entries than this above the limit are not what concurrent puts leave.
constexpr std::uint64_t kExcessMax = 64;
// How often a put begins again because the cache was cleared meanwhile.
constexpr unsigned kClearedMax = 100;
// Steps of making room, each of a megabyte at most, that one put takes before it is refused.
constexpr unsigned kRoomAttempts = 256;
// How long a put that finds no room waits for others who make some; when that was in vain, nobody
// waits for a while.
constexpr unsigned kRoomWaitUs = 500;
constexpr unsigned kRoomWaits = 100;
constexpr std::uint64_t kHasteNs = 1'000'000'000;

}  // namespace

Examine Store::examiner(Index &index, Bytes key) {
    return [this, &index, key](Slot slot) -> Result<std::optional<SameKey>> {
        const ReadKey read = reader_.read_key(index.identity().cache_id, slot, key);
        if (read.outcome == ReadOutcome::unreadable) return Error::io;
        if (read.outcome == ReadOutcome::damaged) return Error::corrupt;
        if (read.outcome != ReadOutcome::found) return std::optional<SameKey>();
        return std::optional(SameKey{read.header.stamp_ns});
    };
}

Result<PutOutcome> Store::put(Bytes key, Bytes value, const PutOptions &options) {
    auto result = [&]() -> Result<PutOutcome> {
        for (unsigned attempt = 0; attempt < kClearedMax; ++attempt) {
            TRY_ASSIGN(Index * index, writable_index());
            note_boot(*index);
            auto outcome = put_record(*index, key, value, options);
            if (outcome.ok() || outcome.error() != Error::not_found) return outcome;
        }
        return Error::busy;
    }();
    if (!result.ok()) {
        count(puts_refused);
    } else if (result.value() == PutOutcome::stored) {
        count(puts);
        count(bytes_written, value.size());
    }
    return result;
}

Result<PutOutcome> Store::put_record(Index &index, Bytes key, Bytes value,
                                     const PutOptions &options) {
    const std::uint64_t hash = index.hash(key);
    // Whoever opens the cache next compares the limit with that of the latest who stored.
    auto limit = index.counter(Counter::limit_bytes);
    if (limit.load(std::memory_order_relaxed) != options_.limit_bytes) {
        limit.store(options_.limit_bytes, std::memory_order_relaxed);
    }
    const bool may_not_grow = options_.refuse_when_full && options_.limit_entries != 0 &&
                              index.counter(Counter::entries).load() >= options_.limit_entries;
    if (options.if_absent || may_not_grow) {
        TRY_ASSIGN(const bool there, contains(key));
        if (there && options.if_absent) return PutOutcome::exists;
        if (!there && may_not_grow && recount(index) >= options_.limit_entries) {
            return Error::full;
        }
    }
    RecordHeader header;
    header.pinned = options.pinned;
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = static_cast<std::uint32_t>(value.size());
    header.raw_size = header.value_size;
    header.cost_us = options.cost_us;
    header.stamp_ns = index.next_stamp();
    header.key_hash = hash;
    header.value_check = value_checksum(value);
    TRY_ASSIGN(const Writer::Appended record, append(index, header, key, value));
    const Slot slot =
        Slot::make(record.location, size_class(header.record_size()), Slot::tag_of(hash));
    const auto published = publish_slot(
        index, hash, slot, options.if_absent ? PublishPolicy::if_absent : PublishPolicy::replace,
        header.stamp_ns, examiner(index, key));
    if (!published.ok() || published->outcome == Published::Outcome::exists) {
        (void)writer_->mark(record.location, header.stamp_ns, RecordState::unused);
        if (!published.ok()) return published.error();
        return PutOutcome::exists;
    }
    if (published->outcome == Published::Outcome::added) {
        index.counter(Counter::entries).fetch_add(1, std::memory_order_relaxed);
    }
    // Segments are deleted before the index is emptied (clear, or by hand): whoever publishes later
    // sees that its own is gone. So does who publishes in an index that was deleted.
    const auto index_info = index.file().info();
    if (index_info.ok() && index_info->links == 0) {
        (void)writer_->mark(record.location, header.stamp_ns, RecordState::unused);
        return Error::not_found;
    }
    if (Writer::was_deleted(record)) {
        Evictor::forget(index, hash, record.location);
        writer_->release_segment();
        return Error::not_found;
    }
    if (published->old) retire_record(index, *published->old);
    if (published->outcome == Published::Outcome::added) {
        enforce_entry_limit(index, record.location);
    }
    make_room(index, header.record_size());
    if (options_.compress) compress_finished_segments();
    return PutOutcome::stored;
}

// The record of a value that was replaced must not come back when the index is rebuilt. But while
// the new value may be lost with the power and the old one may not, the old one has to wait.
void Store::retire_record(Index &index, const ReplacedRecord &record) {
    if (index.counter(Counter::unsynced).load() == 1) {
        (void)writer_->mark(record.location, record.stamp_ns, RecordState::unused);
        return;
    }
    const MutexLock lock(replaced_mutex_);
    if (replaced_.size() < kReplacedMax) replaced_.push_back(record);
}

// Writes the record; when the limit is reached, segments are given up until there is room.
Result<Writer::Appended> Store::append(Index &index, const RecordHeader &header, Bytes key,
                                       Bytes value) {
    bool released = false;
    unsigned waits = 0;
    for (unsigned attempt = 0;; ++attempt) {
        auto record = writer_->append(index, header, key, value, Writer::Purpose::put);
        if (record.ok() || record.error() != Error::full) return record;
        if (options_.refuse_when_full || attempt == kRoomAttempts) return Error::full;
        const auto progress = evictor_->step(index, UINT64_MAX);
        if (!progress.ok()) return progress.error();
        if (progress.value() == Evictor::Progress::busy) {
            if (!wait_for_room(waits)) return Error::full;
            continue;
        }
        if (progress.value() != Evictor::Progress::none) continue;
        // Our own active segment may be what stands in the way.
        if (released) return Error::full;
        writer_->release_segment();
        released = true;
    }
}

// Whoever makes room may be slow, but must not keep us when it was stopped.
bool Store::wait_for_room(unsigned &waits) {
    if (monotonic_ns() < hasty_until_ns_.load(std::memory_order_relaxed)) return false;
    if (++waits > kRoomWaits) {
        hasty_until_ns_.store(monotonic_ns() + kHasteNs, std::memory_order_relaxed);
        return false;
    }
    sleep_us(kRoomWaitUs);
    return true;
}

// Publishes; when the buckets of the hash are full, what is damaged there makes room, or the index
// grows, or an entry there makes room.
Result<Published> Store::publish_slot(Index &index, std::uint64_t hash, Slot slot,
                                      PublishPolicy policy, std::uint64_t stamp_ns,
                                      const Examine &examine) {
    for (;;) {
        auto published = publish(index, hash, slot, policy, stamp_ns, examine);
        if (published.ok() || published.error() != Error::full) return published;
        if (index.free_damaged(hash)) {
            // What was hidden there is found again: until then no miss is believed.
            index.counter(Counter::rescan).store(static_cast<std::uint64_t>(RescanReason::damage));
            continue;
        }
        const Status grown = writer_->grow_index(index);
        if (grown.ok()) continue;
        if (grown.error() == Error::full && !options_.refuse_when_full) {
            const auto progress = evictor_->step(index, UINT64_MAX);
            if (progress.ok() && progress.value() < Evictor::Progress::busy) continue;
        } else if (grown.error() != Error::too_large && grown.error() != Error::full) {
            return grown.error();
        }
        if (options_.refuse_when_full) return Error::full;
        if (!evictor_->drop_from_buckets(index, hash)) return Error::full;
    }
}

// Does a piece of the work in advance, so that no put has to wait for a large one.
void Store::make_room(Index &index, std::uint64_t record_size) {
    if (!writer_->pressed() || options_.refuse_when_full) return;
    flush_hits();
    const auto progress = evictor_->step(index, std::max(record_size * kRoomPerByte, kRoomWorkMin));
    if (progress.ok() && progress.value() == Evictor::Progress::retired) (void)writer_->measure();
}

// With the first put, what earlier processes left is looked at as well.
void Store::compress_finished_segments() {
    const std::uint64_t taken = writer_->segments_taken();
    if (segments_seen_.exchange(taken, std::memory_order_relaxed) != taken) {
        compactor_->start();
    }
}

Status Store::compress() {
    TRY_ASSIGN(Index * index, writable_index());
    note_boot(*index);
    writer_->release_segment();
    const Status status = compactor_->run();
    if (status.error() != Error::corrupt) return status;
    // Entries that damage of the index hides have to be found first.
    return repair_->search(*index) ? compactor_->run() : Status(Error::busy);
}

// How many entries there are. Processes that died leave the counter a little off, and damage leaves
// it anyhow: who has something to decide counts.
std::uint64_t Store::recount(Index &index) {
    const std::uint64_t counted = index.count_entries();
    index.counter(Counter::entries).store(counted);
    return counted;
}

void Store::enforce_entry_limit(Index &index, Location spare) {
    if (options_.limit_entries == 0 || options_.refuse_when_full) return;
    auto entries = index.counter(Counter::entries);
    std::uint64_t now = entries.load(std::memory_order_relaxed);
    if (now <= options_.limit_entries) return;
    const bool unlikely = now > options_.limit_entries + kExcessMax;
    if (!entries_counted_.exchange(true) || unlikely) now = recount(index);
    std::uint64_t start = spare.offset / kRecordAlignment * 2654435761u;
    for (; now > options_.limit_entries; now = entries.load(std::memory_order_relaxed)) {
        if (!evictor_->drop_one_entry(index, spare, start)) return;
        start += 2654435761u;
    }
}

Result<bool> Store::remove(Bytes key) {
    TRY_ASSIGN(Index * index, writable_index());
    const std::uint64_t hash = index->hash(key);
    const Examine examine = examiner(*index, key);
    if (index->suspicious(hash)) (void)repair_->search(*index);
    for (bool marked = false;; marked = true) {
        TRY_ASSIGN(const auto found, find_published(*index, hash, examine));
        if (!found) return marked;  // a rescan that met the mark was faster
        // Marked first: what cannot be marked might come back, and stays.
        TRY(writer_->mark(found->slot.location(), found->stamp_ns, RecordState::removed));
        std::uint64_t word = found->slot.word();
        // An entry that is being hit, replaced or carried over changes its slot under our hands.
        if (!found->place.ref().compare_exchange_strong(word, kEmptySlot)) continue;
        index->counter(Counter::entries).fetch_sub(1, std::memory_order_relaxed);
        return true;
    }
}

// Holds up whoever makes room or compresses; but not for one that was stopped while it did.
Result<ByteLock> Store::lock_eviction_for_clear() {
    for (unsigned wait = 1;; ++wait) {
        auto lock = writer_->lock_eviction();
        if (lock.ok() || lock.error() != Error::busy || wait == kRoomWaits) return lock;
        sleep_us(kRoomWaitUs);
    }
}

Status Store::clear() {
    TRY_ASSIGN(Index * index, writable_index());
    {
        const MutexLock lock(replaced_mutex_);
        replaced_.clear();
    }
    writer_->release_segment();
    // Nobody must copy entries to a segment that is not seen here.
    const auto lock = lock_eviction_for_clear();
    index->counter(Counter::victim).store(0);
    TRY(remove_segments());
    index->clear();
    index->counter(Counter::rescan).store(static_cast<std::uint64_t>(RescanReason::none));
    index->counter(Counter::retired).fetch_add(1);
    memory_.clear();
    reader_.segments().forget_deleted();
    return {};
}

// Values first: an index that is durable must not lead to records that are not.
Status Store::sync() {
    if (access_ == Access::read_only) return Error::read_only;
    index().counter(Counter::unsynced).store(0);
    std::vector<ReplacedRecord> replaced;
    {
        const MutexLock lock(replaced_mutex_);
        replaced.swap(replaced_);
    }
    const Status synced = writer_->sync_segments();
    if (!synced.ok()) {
        const MutexLock lock(replaced_mutex_);
        replaced_.insert(replaced_.end(), replaced.begin(), replaced.end());
        return synced;
    }
    // What replaced them is durable now.
    for (const ReplacedRecord &record : replaced) {
        (void)writer_->mark(record.location, record.stamp_ns, RecordState::unused);
    }
    TRY(index().sync());
    TRY(directory_.sync());
    return root_.sync();
}

Status Store::remove_segments() const {
    std::vector<std::uint32_t> segments;
    TRY(directory_.list([&](const char *name) {
        if (const auto segment = segment_from_file_name(name)) segments.push_back(*segment);
    }));
    for (const std::uint32_t segment : segments) {
        const Status status = directory_.discard_file(segment_file_name(segment));
        if (!status.ok() && status.error() != Error::not_found) return status;
    }
    return {};
}

}  // namespace cairn
