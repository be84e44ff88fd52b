// SPDX-License-Identifier: MIT
#include "store/compactor.h"

#include <algorithm>
#include <optional>

#include "base/guarded.h"
#include "os/environment.h"
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

// Changes the value to what is to be stored, and says so in the header.
Status compress(Compressor &compressor, RecordHeader &header, Bytes &value) {
    TRY_ASSIGN(const Bytes frame, compressor.compress(value));
    header.incompressible = frame.empty();
    if (frame.empty()) return {};
    value = frame;
    header.codec = Codec::zstd;
    header.value_size = static_cast<std::uint32_t>(frame.size());
    header.value_check = value_checksum(frame);
    return {};
}

}  // namespace

Status Compactor::run(Index &index) {
    return guarded([&]() -> Status {
        State &state = state_.get();
        if (!state.run_mutex.try_lock()) return Error::busy;
        const AdoptedLock lock(state.run_mutex);
        return run_alone(index, state);
    });
}

Status Compactor::run_alone(Index &index, State &state) {
    TRY_ASSIGN(const File lock_file, directory_.open_or_make_file(kLockFileName));
    TRY_ASSIGN(const ByteLock alone, ByteLock::acquire(lock_file, kCompactByte, 0));
    if (!index.is_named(directory_)) return Error::busy;
    // An entry that the index lacks would be lost with its segment.
    if (index.rebuild_due() != RebuildReason::none) return Error::busy;
    TRY(index.refresh());
    Work work(directory_, account_);
    Samples samples = take_samples(index);
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    std::sort(use.segments.begin(), use.segments.end(),
              [](const auto &a, const auto &b) { return a.modified_ns < b.modified_ns; });
    Status first;
    for (const SegmentFile &file : use.segments) {
        if (worker_.is_stopping()) break;
        const Judged judged = {file.segment, file.size_bytes};
        if (std::ranges::count(state.judged, judged) != 0) continue;
        if (!has_no_writer(directory_, file.segment)) continue;
        const bool is_worth = is_worth_it(index, samples[file.segment]);
        const Result<bool> goes =
            is_worth ? compact(index, work, file.segment) : Result<bool>(false);
        if (goes.ok() && !goes.value()) {
            if (state.judged.size() == kJudgedMax) state.judged.erase(state.judged.begin());
            state.judged.push_back(judged);
        }
        // With not_found another process has retired it.
        if (goes.ok() || goes.error() == Error::not_found) continue;
        if (first.ok()) first = goes.error();
        if (ends_run(goes.error())) break;
    }
    return first;
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
bool Compactor::is_worth_it(const Index &index, const Sample &sample) {
    std::uint64_t bytes = 0;
    std::uint64_t untried = 0;
    for (const Location place : sample.places) {
        const auto read = reader_.read_any_key(index.identity().cache_id, place);
        if (read.outcome != ReadOutcome::found) continue;
        bytes += read.header.record_size();
        if (is_untried(read.header)) untried += read.header.record_size();
    }
    return untried >= bytes / 2 && (untried != 0 || sample.seen == 0);
}

// False: it stays, as hardly anything but removals would be copied. True: it is gone, or another process is
// at it.
Result<bool> Compactor::compact(Index &index, Work &work, std::uint32_t segment) {
    std::optional<SegmentLock> lock;
    {
        TRY_ASSIGN(const ByteLock eviction, lock_eviction(directory_, kLockPatienceUs));
        if (index.victim() == segment) return true;
        auto locked = SegmentLock::of_segment(directory_, segment);
        // A writer may have taken it over since we looked. What may not be read or written stays.
        const bool is_passed_by = locked.error() == Error::busy || locked.error() == Error::denied;
        if (is_passed_by) return true;
        if (!locked.ok()) return locked.error();
        lock.emplace(std::move(locked.value()));
    }
    return guarded([&]() -> Result<bool> {
        // The open one may be a deleted file whose number is in use again.
        TRY(reader_.segments().reopen(segment));
        TRY(index.refresh());
        TRY_ASSIGN(const FileInfo file, lock->file().info());
        const SegmentScan scan(index.identity(), segment, file.size_bytes);
        TRY_ASSIGN(const Removals before, removals_in(scan));
        // To copy little else would give little room, and the same again the next time.
        if (before.bytes > file.size_bytes / 2) return false;
        TRY_ASSIGN(const std::uint64_t kept, copy_all(index, work, *lock, scan));
        // No slot leads to it any more. What was removed meanwhile was marked before its slot went.
        TRY_ASSIGN(const Removals now, removals_in(scan));
        if (now.count != kept) return Error::busy;
        TRY(finish(index, *lock, segment));
        return true;
    });
}

bool Compactor::is_removal(const RecordHeader &header) const {
    return header.state == RecordState::removed &&
           (header.given_up_in == 0 || header.was_replaced(reader_.boot()));
}

Result<Compactor::Removals> Compactor::removals_in(SegmentScan scan) const {
    Removals removals;
    for (;;) {
        TRY_ASSIGN(const auto record, scan.next(reader_));
        if (!record) return removals;
        if (!is_removal(record->header)) continue;
        ++removals.count;
        removals.bytes += removal_of(0, record->header.key_size, 0, 0).record_size();
    }
}

Result<std::uint64_t> Compactor::copy_all(Index &index, Work &work, const SegmentLock &lock,
                                          SegmentScan scan) {
    std::uint64_t kept = 0;
    for (std::uint64_t piece_bytes = 0;;) {
        if (worker_.is_stopping()) return Error::busy;
        TRY_ASSIGN(const auto entry, next_entry(directory_, index, reader_, scan));
        if (!entry) return kept;
        if (is_removal(entry->record.header)) {
            TRY_ASSIGN(const ByteLock eviction, lock_unless_gone(index, lock));
            TRY(keep_removal(index, work.writer_for(entry->record.location.segment), entry->record,
                             reader_.boot(), purpose_));
            ++kept;
            continue;
        }
        TRY_ASSIGN(const std::uint64_t copied_bytes, copy(index, work, lock, *entry));
        piece_bytes += copied_bytes;
        if (piece_bytes < kPieceBytes) continue;
        sleep_us(kPauseUs);
        piece_bytes = 0;
    }
}

// Returns the size of the record; 0: there was no entry to copy.
Result<std::uint64_t> Compactor::copy(Index &index, Work &work, const SegmentLock &lock,
                                      const SegmentEntry &entry) {
    const Location from = entry.record.location;
    if (!entry.slot) {
        TRY(entry.finished);
        // Damage may hide an entry, which would be lost with the segment.
        const RecordHeader &header = entry.record.header;
        const bool is_live = header.state == RecordState::live && header.given_up_in == 0;
        const bool hidden = is_live && index.suspicious(entry.key_hash);
        if (hidden) return Error::corrupt;
        return std::uint64_t{0};
    }
    const ReadRecord read =
        reader_.read_any(index.identity().cache_id, from, RecordReader::Form::stored);
    if (read.outcome == ReadOutcome::unreadable) return Error::io;
    if (read.outcome != ReadOutcome::found) return std::uint64_t{0};  // damaged: goes with the rest
    RecordHeader header = read.header;
    Bytes value = read.blob->value();
    if (is_untried(header)) TRY(compress(work.compressor, header, value));
    const auto same_hits = [](unsigned hits) { return hits; };
    TRY_ASSIGN(const ByteLock eviction, lock_unless_gone(index, lock));
    TRY(relocate(directory_, index, work.writer_for(from.segment),
                 {from, header, read.blob->key(), value, purpose_, same_hits}));
    return read.header.record_size();
}

// busy: somebody has cleared the cache, or deleted the segment or the index.
Result<ByteLock> Compactor::lock_unless_gone(const Index &index, const SegmentLock &lock) const {
    auto eviction = lock_eviction(directory_, kLockPatienceUs);
    if (!eviction.ok()) return eviction;
    const auto segment = lock.file().info();
    const bool is_there = segment.ok() && segment->links != 0;
    if (!is_there || !index.is_named(directory_)) return Error::busy;
    return eviction;
}

Status Compactor::finish(Index &index, const SegmentLock &lock, std::uint32_t segment) {
    TRY(sync_copies(directory_, index));
    std::optional<std::string> discarded;
    {
        TRY_ASSIGN(const ByteLock eviction, lock_unless_gone(index, lock));
        if (!index.sees_all()) return Error::busy;
        if (index.rebuild_due() != RebuildReason::none) return Error::busy;
        TRY_ASSIGN(discarded, retire_segment(directory_, index, segment));
    }
    if (discarded) (void)discard_retired(directory_, index, *discarded);
    reader_.segments().forget_deleted();
    return {};
}

}  // namespace cairn
