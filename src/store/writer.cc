// SPDX-License-Identifier: MIT
#include "store/writer.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "os/environment.h"
#include "store/index_file.h"
#include "store/locks.h"
#include "store/marks.h"
#include "store/record_reader.h"
#include "store/relocation.h"
#include "store/segment_format.h"
#include "store/segment_scan.h"

namespace cairn {
namespace {

constexpr std::uint64_t kLitterEachNs = 100'000'000;
// Where more numbers in a row are locked, somebody has locked the whole file.
constexpr unsigned kWritersMax = 256;

}  // namespace

// A segment that this process writes. Its last owner gives unused blocks back and unlocks it.
class Writer::ActiveSegment {
  public:
    ActiveSegment(const Directory &directory, SegmentLock lock, std::uint32_t number,
                  std::uint64_t cache_id, std::uint64_t tail, std::uint64_t reserved)
        : directory_(directory),
          lock_(std::move(lock)),
          number_(number),
          cache_id_(cache_id),
          tail_(tail),
          reserved_(reserved) {}
    ~ActiveSegment() {
        // If this fails, the blocks stay reserved until the next writer fills them. A deleted file
        // gives all of them back, even while another process has it open.
        const auto info = file().info();
        (void)file().truncate(info.ok() && info->links == 0 ? 0 : tail_);
    }

    const File &file() const { return lock_.file(); }
    // Of the index that it was created for. The index may have been replaced since.
    std::uint64_t cache_id() const { return cache_id_; }
    std::uint64_t tail() const { return tail_; }
    std::uint64_t reserved() const { return reserved_; }
    void set_reserved(std::uint64_t end) { reserved_ = end; }
    Location take(std::uint64_t size) {
        tail_ += size;
        return {number_, tail_ - size};
    }
    // Asks for the name only where the file has got or lost one: a backup of hard links has others.
    bool deleted() {
        const auto info = file().info();
        if (!info.ok() || info->links == 0) return info.ok();  // in doubt, it is there
        if (info->links == links_.load(std::memory_order_relaxed)) return false;
        const auto named = directory_.info(segment_file_name(number_));
        const bool is_there = named.ok() ? is_same_file(named.value(), info.value())
                                         : named.error() != Error::not_found;
        if (is_there) links_.store(info->links, std::memory_order_relaxed);
        return !is_there;
    }

  private:
    const Directory &directory_;
    const SegmentLock lock_;
    const std::uint32_t number_;
    const std::uint64_t cache_id_;
    std::uint64_t tail_;                    // where the next record goes; under the writer's mutex
    std::uint64_t reserved_;                // blocks are ours up to here; under the writer's mutex
    std::atomic<std::uint64_t> links_ = 1;  // with its name
};

void Writer::release_segment() {
    State *const state = state_.existing();
    if (state == nullptr) return;
    const MutexLock lock(state->mutex);
    state->active.reset();
}

Result<Writer::Appended> Writer::append(Index &index, const RecordHeader &header, Bytes key,
                                        Bytes value, Account::Purpose purpose) {
    const std::uint64_t size = header.record_size();
    TRY_ASSIGN(const Appended place, choose_location(index, size, purpose));
    const Location location = place.location;
    const auto head =
        encode_record_header(header, key, record_seed(index.identity().cache_id, location));
    static constexpr std::array<std::byte, kRecordAlignment> kZeros = {};
    const std::size_t key_end = kRecordHeaderSize + key.size();
    const std::size_t value_end = header.value_offset() + value.size();
    const auto padding = static_cast<std::size_t>(size - kRecordEndSize - value_end);
    const auto end = record_end(head, trace_of(index.identity()));
    const Bytes pieces[] = {head,
                            key,
                            Bytes(kZeros).first(header.value_offset() - key_end),
                            value,
                            Bytes(kZeros).first(padding),
                            end};
    const Status written = place.segment->file().write_at(location.offset, pieces);
    if (written.ok()) return place;
    // Only its end may be missing, and then a scan would take it for whole.
    (void)mark_state(directory_, {location, header.stamp_ns}, RecordState::unused);
    if (check_file_size(location.offset + size).ok()) return written.error();
    release_segment();  // a shorter segment may do
    return append(index, header, key, value, purpose);
}

bool Writer::was_deleted(const Appended &record) {
    return record.segment->deleted();
}

Result<Writer::Appended> Writer::choose_location(Index &index, std::uint64_t record_size,
                                                 Account::Purpose purpose) {
    State &state = state_.get();
    const MutexLock lock(state.mutex);
    if (state.active != nullptr) {
        ActiveSegment &segment = *state.active;
        const std::uint64_t end = segment.tail() + record_size;
        if (end <= segment_bytes_ && segment.cache_id() == index.identity().cache_id) {
            const Status reserved = reserve(index, segment, end, purpose);
            if (reserved.ok()) return Appended{segment.take(record_size), state.active};
            if (check_file_size(end).ok()) return reserved.error();  // else try a shorter segment
        }
    }
    TRY_ASSIGN(std::shared_ptr<ActiveSegment> segment, take_segment(index, record_size, purpose));
    segments_taken_.fetch_add(1, std::memory_order_relaxed);
    Appended place{segment->take(record_size), segment};
    if (segment->tail() >= segment_bytes_) return place;  // full: do not keep it
    state.active = std::move(segment);
    return place;
}

// Reserves blocks for the segment up to `end`.
Status Writer::reserve(Index &index, ActiveSegment &segment, std::uint64_t end,
                       Account::Purpose purpose) {
    if (end <= segment.reserved()) return {};
    TRY(check_file_size(end));
    TRY_ASSIGN(const auto space, account_.take(index));
    const DiskUse &use = space.use;
    // What stays is written by the segment, one after the other.
    const std::uint64_t step =
        kind_ == SegmentKind::kept ? segment_bytes_ : account_.limits().step_bytes;
    const std::uint64_t wanted = std::min(align_up(end, step), segment_bytes_);
    std::uint64_t target = std::max(end, wanted);
    const auto fits = [&] {
        return use.bytes + align_up(target - segment.reserved(), kPage) <=
               account_.allowed_bytes(purpose);
    };
    if (!fits() || !check_file_size(target).ok()) target = end;
    if (!fits()) return Error::full;
    TRY(reserve_blocks(segment.file(), segment.reserved(), target - segment.reserved()));
    segment.set_reserved(target);
    return {};
}

Result<std::shared_ptr<Writer::ActiveSegment>> Writer::take_segment(Index &index,
                                                                    std::uint64_t record_size,
                                                                    Account::Purpose purpose) {
    const std::uint64_t needed = align_up(kSegmentHeaderSize + record_size, kPage);
    if (needed + index_size(1) > account_.allowed_bytes(purpose)) return Error::too_large;
    // If no file may be that large, eviction does not help.
    TRY(check_file_size(needed));
    const std::uint64_t now_ns = monotonic_ns();
    if (now_ns >= litter_due_ns_.load(std::memory_order_relaxed)) {
        litter_due_ns_.store(now_ns + kLitterEachNs, std::memory_order_relaxed);
        TRY(remove_litter(index));
    }
    TRY_ASSIGN(const auto space, account_.take(index));
    const DiskUse &use = space.use;
    if (auto segment = take_over(index, use, record_size, purpose)) return segment;
    return create_segment(index, use, record_size, purpose);
}

// Removes what killed processes left behind.
Status Writer::remove_litter(const Index &index) const {
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory_));
    remove_abandoned_indexes(directory_, use);
    for (const std::string &name : use.temporary_files) {
        if (is_under_construction(name)) continue;
        const auto info = directory_.info(name);
        if (!info.ok()) continue;
        // Nobody needs what was retired; it stays for a while because who retired it deletes it.
        const bool is_in_the_way =
            name.starts_with("discarded-") && info->disk_bytes > segment_bytes_ + kPage;
        const bool is_young = info->modified_ns + kTemporaryAgeNs > wall_clock_ns();
        if (is_young && !is_in_the_way) continue;
        (void)discard_retired(directory_, index, name);
    }
    for (const SegmentFile &file : use.segments) {
        if (file.disk_bytes > segment_bytes_ + kPage) mend_large(index, file);
    }
    return {};
}

// A segment larger than others holds one record, or several of a process with a larger limit. If none
// is whole, its writer was killed: no slot leads to it and no process will continue the segment. One that
// is larger than one of several records can be has been extended by damage. It must not take the place
// of entries, so it loses what follows the last record.
void Writer::mend_large(const Index &index, const SegmentFile &segment) const {
    const auto lock = SegmentLock::of_segment(directory_, segment.segment);
    if (!lock.ok()) return;
    const bool is_too_large = segment.size_bytes > kRecordAlignment << kOffsetBits;
    const auto reader = std::make_unique<RecordReader>(directory_);
    SegmentScan scan(index.identity(), segment.segment, segment.size_bytes);
    std::uint64_t end = 0;
    do {
        const auto record = scan.next(*reader);
        if (!record.ok()) return;
        if (!record.value()) break;
        end = record.value()->location.offset + record.value()->header.record_size();
    } while (is_too_large);
    if (end == 0) {
        (void)discard_segment(directory_, segment_file_name(segment.segment));
    } else if (is_too_large && end < segment.size_bytes) {
        (void)lock->file().truncate(end);
    }
}

// Takes over the fullest segment that has room for the record, no writer, and is not the victim.
std::shared_ptr<Writer::ActiveSegment> Writer::take_over(Index &index, const DiskUse &use,
                                                         std::uint64_t record_size,
                                                         Account::Purpose purpose) {
    if (use.bytes + align_up(record_size, kPage) > account_.allowed_bytes(purpose)) return nullptr;
    std::vector<SegmentFile> candidates;
    for (const SegmentFile &file : use.segments) {
        if (kind_of_segment(file.segment) != kind_) continue;
        const std::uint64_t tail = align_up(file.size_bytes, kRecordAlignment);
        // A segment with less room is not worth a look at each change of segments.
        const std::uint64_t room = std::max(record_size, segment_bytes_ / 4);
        if (tail + room <= segment_bytes_) candidates.push_back(file);
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const auto &a, const auto &b) { return a.size_bytes > b.size_bytes; });
    for (const SegmentFile &candidate : candidates) {
        if (auto taken = try_take_over(index, candidate.segment, record_size)) return taken;
    }
    return nullptr;
}

std::shared_ptr<Writer::ActiveSegment> Writer::try_take_over(Index &index, std::uint32_t segment,
                                                             std::uint64_t record_size) {
    auto lock = SegmentLock::of_segment(directory_, segment);
    if (!lock.ok()) return nullptr;
    // Lock, then look at the victim. The evictor names the victim, then looks at the lock: so one
    // of the two sees the other.
    if (index.victim() == segment) return nullptr;
    const File &file = lock->file();
    std::array<std::byte, kSegmentHeaderSize> header;
    const auto count = file.read_at(0, header);
    if (!count.ok()) return nullptr;
    if (count.value() < header.size()) {  // its creator died before it wrote the header
        (void)discard_segment(directory_, segment_file_name(segment));
        return nullptr;
    }
    const auto identity = decode_segment_header(header, segment);
    const auto info = file.info();
    if (identity != index.identity() || !info.ok()) return nullptr;
    // Another process may have retired it before we locked it: then it has another name, or none.
    const auto named = directory_.info(segment_file_name(segment));
    if (!named.ok() || named->inode != info->inode) return nullptr;
    const std::uint64_t tail = align_up(info->size_bytes, kRecordAlignment);
    if (tail + record_size > segment_bytes_) return nullptr;
    if (!reserve_blocks(file, tail, record_size).ok()) return nullptr;
    return std::make_shared<ActiveSegment>(directory_, std::move(*lock), segment,
                                           identity->cache_id, tail, tail + record_size);
}

Result<std::shared_ptr<Writer::ActiveSegment>> Writer::create_segment(Index &index,
                                                                      const DiskUse &use,
                                                                      std::uint64_t record_size,
                                                                      Account::Purpose purpose) {
    const std::uint64_t needed = align_up(kSegmentHeaderSize + record_size, kPage);
    const std::uint64_t first_step =
        kind_ == SegmentKind::kept ? segment_bytes_ : account_.limits().first_step_bytes;
    std::uint64_t blocks = std::max(needed, first_step);
    if (use.bytes + blocks > account_.allowed_bytes(purpose) || !check_file_size(blocks).ok()) {
        blocks = needed;
    }
    if (use.bytes + blocks > account_.allowed_bytes(purpose)) return Error::full;

    unsigned writers = 0;
    for (unsigned attempts = 0; attempts < kFirstKeptSegment; ++attempts) {
        const std::uint32_t first = kind_ == SegmentKind::fresh ? 0 : kFirstKeptSegment;
        const std::uint32_t number = first + index.next_segment_number();
        auto lock = SegmentLock::of_number(directory_, number);
        if (lock.error() == Error::busy && ++writers < kWritersMax) continue;
        if (!lock.ok()) return lock.error();
        // Who has a segment of this number open that was retired, and not cut yet, would read from that.
        if (directory_.info(retired_name(number)).ok()) continue;
        auto file = directory_.create_file(segment_file_name(number));
        if (file.error() == Error::exists) continue;
        if (!file.ok()) return file.error();
        // A process with another lock file may have locked it meanwhile, to take it over, or have
        // deleted it as a segment whose creator died.
        const Status held = lock->hold(std::move(*file));
        if (held.error() == Error::busy) continue;
        TRY(held);
        TRY_ASSIGN(const FileInfo info, lock->file().info());
        if (info.links == 0) continue;
        const Status reserved = reserve_blocks(lock->file(), 0, blocks);
        const auto header = encode_segment_header(index.identity(), number);
        const Bytes pieces[] = {header};
        const Status written = lock->file().write_at(0, pieces);
        if (!reserved.ok() || !written.ok()) {
            (void)directory_.discard_file(segment_file_name(number));
            return reserved.ok() ? written.error() : reserved.error();
        }
        return std::make_shared<ActiveSegment>(directory_, std::move(*lock), number,
                                               index.identity().cache_id, kSegmentHeaderSize,
                                               blocks);
    }
    return Error::full;
}

}  // namespace cairn
