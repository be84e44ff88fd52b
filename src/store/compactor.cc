// SPDX-License-Identifier: MIT
#include "store/compactor.h"

#include <algorithm>

#include "os/environment.h"
#include "store/segment_format.h"
#include "store/space.h"

namespace cairn {
namespace {

// Bytes of records that are copied before their slots are moved; and the pause after them, which
// leaves most of a core and of the disk to others.
constexpr std::uint64_t kPieceBytes = 64 * 1024;
constexpr unsigned kPauseUs = 500;
// How often the eviction lock, which others hold for moments, is asked for.
constexpr unsigned kLockAttempts = 10;
// Whether a segment is worth it is told from this many parts, and records in each.
constexpr unsigned kSampleParts = 8;
constexpr unsigned kSampleRecords = 4;
constexpr std::size_t kJudgedMax = 256;

std::uint64_t name_of(std::uint32_t segment) {
    return std::uint64_t{segment} + 1;
}

Result<ByteLock> lock_eviction(Writer &writer) {
    for (unsigned attempt = 1;; ++attempt) {
        auto lock = writer.lock_eviction();
        if (lock.ok() || lock.error() != Error::busy || attempt == kLockAttempts) return lock;
        sleep_us(kPauseUs);
    }
}

}  // namespace

void Compactor::start(Index &index) {
    if (!start_mutex_.try_lock()) return;  // another put is about to
    start_locked(index);
    start_mutex_.unlock();
}

void Compactor::start_locked(Index &index) {
    unsigned state = running;
    if (state_.compare_exchange_strong(state, again) || state == again) return;
    thread_.join();
    state_.store(running);
    index_ = &index;
    const auto run = [](void *self) -> void * {
        static_cast<Compactor *>(self)->run_thread();
        return nullptr;
    };
    if (!thread_.start(run, this).ok()) state_.store(idle);
}

void Compactor::run_thread() {
    for (;;) {
        (void)run(*index_);
        unsigned state = running;
        if (stop_.load() || state_.compare_exchange_strong(state, idle)) return;
        state_.store(running);
    }
}

void Compactor::stop() {
    stop_.store(true);
    thread_.join();
}

Status Compactor::run(Index &index) {
    if (!mutex_.try_lock()) return Error::busy;
    const Status status = run_alone(index);
    mutex_.unlock();
    return status;
}

Status Compactor::run_alone(Index &index) {
    TRY_ASSIGN(File lock_file, directory_.open_or_create_file(kLockFileName));
    TRY_ASSIGN(const ByteLock alone, ByteLock::acquire(lock_file, kCompactByte, 0));
    Work work(directory_, limits_, index);
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    std::sort(use.segments.begin(), use.segments.end(),
              [](const auto &a, const auto &b) { return a.modified_ns < b.modified_ns; });
    for (const SegmentFile &file : use.segments) {
        if (stop_.load()) break;
        if (is_worth_it(work, file)) TRY(compact(work, file.segment));
    }
    return {};
}

// At least half of the segment is values that nobody has tried to compress, as far as some entries
// in eight parts of it tell: so what is copied without becoming smaller is never more than what
// does.
bool Compactor::is_worth_it(Work &work, const SegmentFile &file) {
    const Judged judged = {file.segment, file.size_bytes};
    if (std::find(judged_.begin(), judged_.end(), judged) != judged_.end()) return false;
    if (!work.writer.has_no_writer(file.segment)) return false;
    std::uint64_t bytes = 0;
    std::uint64_t raw_bytes = 0;
    for (unsigned part = 0; part < kSampleParts; ++part) {
        const std::uint64_t offset =
            align_up(file.size_bytes / kSampleParts * part + 1, kRecordAlignment);
        const SegmentScan scan(work.index.identity().cache_id, file.segment, file.size_bytes,
                               offset);
        if (!sample(work, scan, bytes, raw_bytes).ok()) return false;
    }
    if (raw_bytes != 0 && raw_bytes >= bytes / 2) return true;
    if (judged_.size() == kJudgedMax) judged_.erase(judged_.begin());
    judged_.push_back(judged);
    return false;
}

Status Compactor::sample(Work &work, SegmentScan scan, std::uint64_t &bytes,
                         std::uint64_t &raw_bytes) {
    for (unsigned count = 0; count < kSampleRecords; ++count) {
        TRY_ASSIGN(const auto record, scan.next(work.reader));
        if (!record) return {};
        const RecordHeader &header = record->header;
        bytes += header.record_size();
        const bool raw = header.codec == Codec::none && !header.incompressible;
        if (raw && may_compress(header.raw_size)) raw_bytes += header.record_size();
    }
    return {};
}

// Goes over the segment until nothing in it is left to be copied: a search of the segments may have
// published entries behind our back.
Status Compactor::compact(Work &work, std::uint32_t segment) {
    TRY_ASSIGN(const bool begun, begin(work, segment));
    if (!begun) return {};
    Status status;
    for (std::uint64_t left = 1; left != 0 && status.ok();) {
        const auto copied = copy_all(work, segment);
        if (!copied.ok()) status = copied.error();
        left = copied.ok() ? copied.value() : 0;
    }
    if (status.ok()) status = finish(work, segment);
    std::uint64_t name = name_of(segment);
    work.index.counter(Counter::compacting).compare_exchange_strong(name, 0);
    return status;
}

// How many entries were copied; busy: it has to stop.
Result<std::uint64_t> Compactor::copy_all(Work &work, std::uint32_t segment) {
    // It may have grown until it was ours.
    TRY_ASSIGN(const FileInfo file, directory_.info(segment_file_name(segment)));
    SegmentScan scan(work.index.identity().cache_id, segment, file.size_bytes);
    std::uint64_t count = 0;
    for (bool more = true; more;) {
        if (stop_.load()) return Error::busy;
        std::vector<Copied> copied;
        const auto result = copy_some(work, scan, copied);
        TRY(move_slots(work, segment, copied));
        if (!result.ok()) return result.error();
        more = result.value();
        count += copied.size();
        if (!copied.empty()) sleep_us(kPauseUs);
    }
    return count;
}

// Not while segments are searched for entries that the index lacks: what is found in this one later
// would go with it.
Result<bool> Compactor::begin(Work &work, std::uint32_t segment) {
    TRY_ASSIGN(const ByteLock lock, lock_eviction(work.writer));
    if (work.index.counter(Counter::rescan).load() != 0) return false;
    if (work.index.counter(Counter::victim).load() == name_of(segment)) return false;
    auto compacting = work.index.counter(Counter::compacting);
    // Named first, then looked: as in Evictor::choose_victim().
    compacting.store(name_of(segment));
    if (work.writer.has_no_writer(segment)) return true;
    compacting.store(0);
    return false;
}

// False: the segment has no more.
Result<bool> Compactor::copy_some(Work &work, SegmentScan &scan, std::vector<Copied> &copied) {
    const std::uint64_t begin = scan.offset();
    while (scan.offset() < begin + kPieceBytes) {
        TRY_ASSIGN(const auto record, scan.next(work.reader));
        if (!record) return false;
        TRY(copy(work, *record, copied));
    }
    return true;
}

Status Compactor::copy(Work &work, const ScannedRecord &record, std::vector<Copied> &copied) {
    Index &index = work.index;
    const std::uint64_t hash = index.hash(record.head->key());
    Index::Place place;
    if (!index.slot_at(hash, record.location, place)) {
        // An entry that damage hides would go with the segment. The next miss has it searched for.
        const bool hidden = record.header.state == RecordState::live && index.suspicious(hash);
        return hidden ? Status(Error::busy) : Status();
    }
    RecordHeader header;
    const ReadBlob read =
        work.reader.read_stored(index.identity().cache_id, record.location, header);
    if (read.outcome == ReadOutcome::unreadable) return Error::io;
    if (read.outcome != ReadOutcome::found) return {};  // damaged: it goes with the segment
    Bytes value = read.blob->value();
    if (header.codec == Codec::none && !header.incompressible && may_compress(value.size())) {
        const Bytes frame = work.compressor.compress(value);
        header.incompressible = frame.empty();
        if (!frame.empty()) {
            value = frame;
            header.codec = Codec::zstd;
            header.value_size = static_cast<std::uint32_t>(frame.size());
            header.value_check = value_checksum(frame);
        }
    }
    header.state = RecordState::live;
    TRY_ASSIGN(Writer::Appended appended,
               work.writer.append(index, header, read.blob->key(), value, Writer::Purpose::put));
    const Slot target =
        Slot::make(appended.location, size_class(header.record_size()), Slot::tag_of(hash));
    copied.push_back({record.location, hash, header.stamp_ns, target, std::move(appended)});
    return {};
}

// busy: the evictor has taken the segment, or somebody has deleted the index.
Result<ByteLock> Compactor::lock_if_ours(Work &work, std::uint32_t segment) {
    auto lock = lock_eviction(work.writer);
    if (!lock.ok()) return lock;
    const auto index_file = work.index.file().info();
    const bool deleted = !index_file.ok() || index_file->links == 0;
    const bool named = work.index.counter(Counter::compacting).load() == name_of(segment);
    if (deleted || !named) return Error::busy;
    return lock;
}

// A copy that no slot leads to must not be taken for the entry when the index is rebuilt.
Status Compactor::move_slots(Work &work, std::uint32_t segment, const std::vector<Copied> &copied) {
    if (copied.empty()) return {};
    const auto lock = lock_if_ours(work, segment);
    for (const Copied &entry : copied) {
        const auto moved = [&](Slot old) { return entry.target.with_hits(old.hits()).word(); };
        if (lock.ok() && work.index.change_slot(entry.key_hash, entry.from, moved)) continue;
        (void)work.writer.mark(entry.copy.location, entry.stamp_ns, RecordState::unused);
    }
    return lock.ok() ? Status() : Status(lock.error());
}

Status Compactor::finish(Work &work, std::uint32_t segment) {
    // What was durable must stay so: the copies before the originals go.
    if (work.index.counter(Counter::unsynced).load() != 1) TRY(work.writer.sync_segments());
    std::optional<std::string> discarded;
    {
        TRY_ASSIGN(const ByteLock lock, lock_if_ours(work, segment));
        TRY_ASSIGN(discarded, work.writer.retire_segment(work.index, Counter::compacting, segment));
    }
    if (discarded) (void)directory_.discard_file(*discarded);
    work.reader.segments().forget_deleted();
    return {};
}

}  // namespace cairn
