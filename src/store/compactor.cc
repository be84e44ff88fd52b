// SPDX-License-Identifier: MIT
#include "store/compactor.h"

#include <algorithm>
#include <new>
#include <optional>

#include "base/guarded.h"
#include "os/environment.h"
#include "store/index_file.h"
#include "store/relocation.h"
#include "store/segment_format.h"
#include "store/space.h"

namespace cairn {
namespace {

// Bytes of records to copy between two pauses. The pauses leave most of a core and of the disk to
// others.
constexpr std::uint64_t kPieceBytes = 64 * 1024;
constexpr unsigned kPauseUs = 500;
// For the eviction lock, which others hold for moments.
constexpr std::uint64_t kLockPatienceUs = 25'000;
// How many entries decide whether a segment is worth it.
constexpr std::size_t kSampleSize = 32;
constexpr std::size_t kJudgedMax = 256;

bool is_untried(const RecordHeader &header) {
    return header.codec == Codec::none && !header.incompressible && may_compress(header.raw_size);
}

// Errors that do not concern one segment alone.
bool ends_run(Error error) {
    return error == Error::full || error == Error::no_space || error == Error::no_memory;
}

}  // namespace

Status Compactor::run() {
    return guarded([&]() -> Status {
        State &state = state_.get();
        if (!state.run_mutex.try_lock()) return Error::busy;
        const AdoptedLock lock(state.run_mutex);
        return run_alone(state);
    });
}

Status Compactor::run_alone(State &state) {
    TRY_ASSIGN(const File lock_file, directory_.open_or_make_file(kLockFileName));
    TRY_ASSIGN(const ByteLock alone, ByteLock::acquire(lock_file, kCompactByte, 0));
    auto opened = open_index();
    if (opened.error() == Error::not_found) return Error::busy;  // just deleted
    TRY_ASSIGN(std::unique_ptr<Index> index, std::move(opened));
    // An entry that the index lacks would be lost with its segment.
    if (index->rebuild_due() != RebuildReason::none) return Error::busy;
    Work work(directory_, limits_, std::move(index));
    work.reader.set_boot(work.index->counter(Counter::boot).load());
    Samples samples = take_samples(*work.index);
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    std::sort(use.segments.begin(), use.segments.end(),
              [](const auto &a, const auto &b) { return a.modified_ns < b.modified_ns; });
    Status first;
    for (const SegmentFile &file : use.segments) {
        if (worker_.is_stopping()) break;
        const Judged judged = {file.segment, file.size_bytes};
        if (std::ranges::count(state.judged, judged) != 0) continue;
        if (!work.writer.has_no_writer(file.segment)) continue;
        if (!is_worth_it(work, samples[file.segment])) {
            if (state.judged.size() == kJudgedMax) state.judged.erase(state.judged.begin());
            state.judged.push_back(judged);
            continue;
        }
        const Status status = compact(work, file.segment);
        // Another process has retired it.
        if (status.error() == Error::not_found) continue;
        if (first.ok()) first = status;
        if (ends_run(status.error())) break;
    }
    return first;
}

// Opens the index of now: the store may still have one open that somebody deleted.
Result<std::unique_ptr<Index>> Compactor::open_index() const {
    TRY_ASSIGN(File file, directory_.open_file(kIndexFileName, Access::read_write));
    TRY_ASSIGN(const CacheIdentity identity, read_index_identity(file, cache_name_));
    return Index::open(std::move(file), identity, Access::read_write);
}

Compactor::Samples Compactor::take_samples(Index &index) {
    Samples samples;
    std::uint64_t random = monotonic_ns() | 1;
    index.for_each([&](Index::Place, Slot slot) {
        Sample &sample = samples[slot.location().segment];
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (sample.places.size() < kSampleSize) {
            sample.places.push_back(slot.location());
        } else if (const std::uint64_t i = (random >> 33) % (sample.seen + 1); i < kSampleSize) {
            sample.places[static_cast<std::size_t>(i)] = slot.location();
        }
        ++sample.seen;
        return false;
    });
    return samples;
}

// Whether untried values are at least half of the sample, so that we copy no more bytes in vain
// than to some effect. Or the segment has no entries at all.
bool Compactor::is_worth_it(Work &work, const Sample &sample) {
    std::uint64_t bytes = 0;
    std::uint64_t untried = 0;
    for (const Location place : sample.places) {
        const auto read = work.reader.read_any_key(work.index->identity().cache_id, place);
        if (read.outcome != ReadOutcome::found) continue;
        bytes += read.header.record_size();
        if (is_untried(read.header)) untried += read.header.record_size();
    }
    return untried >= bytes / 2 && (untried != 0 || sample.seen == 0);
}

Status Compactor::compact(Work &work, std::uint32_t segment) {
    std::optional<Writer::SegmentLock> lock;
    {
        TRY_ASSIGN(const ByteLock eviction, work.writer.lock_eviction(kLockPatienceUs));
        if (work.index->victim() == segment) return {};
        auto locked = work.writer.lock_segment(segment);
        // A writer may have taken it over since we looked. What may not be read or written stays.
        const bool is_passed_by = locked.error() == Error::busy || locked.error() == Error::denied;
        if (!locked.ok()) return is_passed_by ? Status() : Status(locked.error());
        lock.emplace(std::move(locked.value()));
    }
    return guarded([&]() -> Status {
        TRY(copy_all(work, *lock, segment));
        return finish(work, *lock, segment);
    });
}

Status Compactor::copy_all(Work &work, const Writer::SegmentLock &lock, std::uint32_t segment) {
    TRY(work.index->refresh());
    TRY_ASSIGN(const FileInfo file, lock.file().info());
    SegmentScan scan(work.index->identity().cache_id, segment, file.size_bytes);
    for (std::uint64_t copied_bytes = 0;;) {
        if (worker_.is_stopping()) return Error::busy;
        TRY_ASSIGN(const auto record, scan.next(work.reader));
        if (!record) return {};
        TRY_ASSIGN(const bool copied, copy(work, lock, *record));
        if (copied) copied_bytes += record->header.record_size();
        if (copied_bytes < kPieceBytes) continue;
        sleep_us(kPauseUs);
        copied_bytes = 0;
    }
}

// Returns whether there was an entry to copy.
Result<bool> Compactor::copy(Work &work, const Writer::SegmentLock &lock,
                             const ScannedRecord &record) {
    Index &index = *work.index;
    const std::uint64_t hash = index.hash(record.head->key());
    index.withdraw_tentative(hash, record.location);
    if (!index.leads_to(hash, record.location)) {
        TRY(finish_move(index, work.reader, work.writer, record));
        // Damage may hide an entry, which would be lost with the segment.
        const RecordHeader &header = record.header;
        const bool is_live = header.state == RecordState::live && header.given_up_in == 0;
        const bool hidden = is_live && index.suspicious(hash);
        if (hidden) return Error::corrupt;
        return false;
    }
    const ReadRecord read = work.reader.read_any(index.identity().cache_id, record.location,
                                                 RecordReader::Form::stored);
    if (read.outcome == ReadOutcome::unreadable) return Error::io;
    if (read.outcome != ReadOutcome::found) return false;  // damaged: let it go with the segment
    Bytes value = read.blob->value();
    RecordHeader header = read.header;
    if (is_untried(header)) TRY(compress(work, header, value));
    header.state = RecordState::live;
    header.given_up_in = 0;
    const auto same_hits = [](unsigned hits) { return hits; };
    TRY_ASSIGN(const ByteLock eviction, lock_unless_gone(work, lock));
    TRY(relocate(index, work.writer,
                 {record.location, header, read.blob->key(), value, purpose_, same_hits}));
    return true;
}

Status Compactor::compress(Work &work, RecordHeader &header, Bytes &value) {
    TRY_ASSIGN(const Bytes frame, work.compressor.compress(value));
    header.incompressible = frame.empty();
    if (frame.empty()) return {};
    value = frame;
    header.codec = Codec::zstd;
    header.value_size = static_cast<std::uint32_t>(frame.size());
    header.value_check = value_checksum(frame);
    return {};
}

// busy: somebody has cleared the cache, or deleted the segment or the index.
Result<ByteLock> Compactor::lock_unless_gone(Work &work, const Writer::SegmentLock &lock) const {
    auto eviction = work.writer.lock_eviction(kLockPatienceUs);
    if (!eviction.ok()) return eviction;
    const auto segment = lock.file().info();
    const bool is_there = segment.ok() && segment->links != 0;
    if (!is_there || !work.index->is_named(directory_)) return Error::busy;
    return eviction;
}

Status Compactor::finish(Work &work, const Writer::SegmentLock &lock, std::uint32_t segment) {
    // Durable entries stay durable: sync the copies, and what replaced entries, before these go.
    if (work.index->counter(Counter::unsynced).load() != 1) TRY(work.writer.sync_segments());
    std::optional<std::string> discarded;
    {
        TRY_ASSIGN(const ByteLock eviction, lock_unless_gone(work, lock));
        if (!work.index->sees_all()) return Error::busy;
        if (work.index->rebuild_due() != RebuildReason::none) return Error::busy;
        TRY_ASSIGN(discarded, work.writer.retire_segment(*work.index, segment));
    }
    if (discarded) (void)discard_segment(directory_, *discarded);
    work.reader.segments().forget_deleted();
    return {};
}

}  // namespace cairn
