// SPDX-License-Identifier: MIT
#include "store/writer.h"

#include <algorithm>
#include <array>

#include "os/deadline.h"
#include "os/environment.h"
#include "store/index_file.h"

namespace cairn {
namespace {

constexpr std::uint64_t kOwnerByte = 0;  // of a segment file, see Writer::SegmentLock
constexpr unsigned kPatienceUs = 4'000;
constexpr std::uint64_t kImpatienceNs = 1'000'000'000;
constexpr std::uint64_t kLitterEachNs = 100'000'000;
constexpr std::uint64_t kSegmentBytesMin = 64 * 1024;
// Half of what a slot can address, so that one eviction does not take long.
constexpr std::uint64_t kSegmentBytesMax = (std::uint64_t{1} << kOffsetBits) * kRecordAlignment / 2;
// A segment has at most this part of the limit.
constexpr std::uint64_t kSegmentsPerLimit = 64;
// Left for small files beside index and segments, and for the blocks of the directory itself.
constexpr std::uint64_t kMarginBytes = 64 * 1024;

// Blocks are reserved in steps: large, so that few puts pay for it; small, so that many writers fit
// below a limit.
std::uint64_t reserve_step(std::uint64_t segment_bytes) {
    return std::clamp<std::uint64_t>(segment_bytes / 8, 16 * 1024, 2 * 1024 * 1024);
}

// Some file systems cannot reserve blocks. There, write_at() fails when none are left.
Status reserve_blocks(const File &file, std::uint64_t begin, std::uint64_t size) {
    const Status status = file.reserve(begin, size);
    return status.error() == Error::unsupported ? Status() : status;
}

}  // namespace

WriterLimits writer_limits(std::uint64_t limit_bytes, WhenFull when_full) {
    const std::uint64_t share = limit_bytes / kSegmentsPerLimit;
    std::uint64_t size = kSegmentBytesMin;
    while (size < kSegmentBytesMax && size * 2 <= share) size *= 2;
    if (when_full == WhenFull::refuse) {
        const std::uint64_t copies = limit_bytes - std::min(kMarginBytes, share);
        return {limit_bytes, size, copies, copies - std::min(size, share), UINT64_MAX};
    }
    const std::uint64_t copies = limit_bytes - kMarginBytes;
    return {limit_bytes, size, copies, copies - size, copies - 3 * size};
}

// A segment that this process writes. Its last owner gives unused blocks back and unlocks it.
class Writer::ActiveSegment {
  public:
    ActiveSegment(SegmentLock lock, std::uint32_t number, std::uint64_t cache_id,
                  std::uint64_t tail, std::uint64_t reserved)
        : lock_(std::move(lock)),
          number_(number),
          cache_id_(cache_id),
          tail_(tail),
          reserved_(reserved) {}
    ~ActiveSegment() {
        // If this fails, the blocks stay reserved until the next writer fills them. A deleted file
        // gives all of them back, even while another process has it open.
        (void)file().truncate(deleted() ? 0 : tail_);
    }

    const File &file() const { return lock_.file(); }
    std::uint32_t number() const { return number_; }
    // Of the index that it was created for. The index may have been replaced since.
    std::uint64_t cache_id() const { return cache_id_; }
    std::uint64_t tail() const { return tail_; }
    std::uint64_t reserved() const { return reserved_; }
    void set_reserved(std::uint64_t end) { reserved_ = end; }
    Location take(std::uint64_t size) {
        tail_ += size;
        return {number_, tail_ - size};
    }
    bool deleted() const {
        const auto info = file().info();
        return info.ok() && info->links == 0;  // in doubt, it is there
    }

  private:
    const SegmentLock lock_;
    const std::uint32_t number_;
    const std::uint64_t cache_id_;
    std::uint64_t tail_;      // where the next record goes; under the writer's mutex
    std::uint64_t reserved_;  // blocks are ours up to here; under the writer's mutex
};

void Writer::release_segment() {
    State *const state = state_.existing();
    if (state == nullptr) return;
    const MutexLock lock(state->mutex);
    state->active.reset();
}

Result<Writer::Appended> Writer::append(Index &index, const RecordHeader &header, Bytes key,
                                        Bytes value, Purpose purpose) {
    const std::uint64_t size = header.record_size();
    TRY_ASSIGN(const Appended place, choose_location(index, size, purpose));
    const Location location = place.location;
    const auto head =
        encode_record_header(header, key, record_seed(index.identity().cache_id, location));
    static constexpr std::array<std::byte, kRecordAlignment> kZeros = {};
    const std::size_t key_end = kRecordHeaderSize + key.size();
    const std::size_t value_end = header.value_offset() + value.size();
    const auto padding = static_cast<std::size_t>(size - kRecordEndSize - value_end);
    const Bytes pieces[] = {head,
                            key,
                            Bytes(kZeros).first(header.value_offset() - key_end),
                            value,
                            Bytes(kZeros).first(padding),
                            record_end(head)};
    const Status written = place.segment->file().write_at(location.offset, pieces);
    if (written.ok()) return place;
    // Only its end may be missing, and then a scan would take it for whole.
    (void)mark(location, header.stamp_ns, RecordState::unused);
    if (check_file_size(location.offset + size).ok()) return written.error();
    release_segment();  // a shorter segment may do
    return append(index, header, key, value, purpose);
}

bool Writer::was_deleted(const Appended &record) {
    return record.segment->deleted();
}

Status Writer::mark(Location location, std::uint64_t stamp_ns, RecordState state) const {
    const auto octet = static_cast<std::byte>(state);
    return change_record(location, stamp_ns, kRecordStateOffset, Bytes(&octet, 1));
}

Status Writer::give_up(Location location, std::uint64_t stamp_ns, GivenUp reason,
                       std::uint64_t boot) const {
    return change_record(location, stamp_ns, kRecordGivenUpOffset, given_up_bytes(reason, boot));
}

Status Writer::mark_moved(Location location, std::uint64_t stamp_ns) const {
    return change_record(location, stamp_ns, kRecordUnmovedOffset, Bytes(&kMoved, 1));
}

// The number of a deleted segment may be in use again: compare the stamp.
Status Writer::change_record(Location location, std::uint64_t stamp_ns, std::size_t offset,
                             Bytes bytes) const {
    const auto file = directory_.open_file(segment_file_name(location.segment), Access::read_write);
    if (file.error() == Error::not_found) return {};
    if (!file.ok()) return file.error();
    std::array<std::byte, kRecordHeaderSize> head = {};
    TRY_ASSIGN(const std::size_t count, file->read_at(location.offset, head));
    const auto header = parse_record_header(head);
    if (count < head.size() || !header || header->stamp_ns != stamp_ns) return {};
    const Bytes pieces[] = {bytes};
    return file->write_at(location.offset + offset, pieces);
}

// ------------------------------------------------------------------------------------------------
// locks and space

// From here to the next line: REQUIRES: the state's mutex is held.

Status Writer::open_lock_file() {
    State &state = state_.get();
    if (state.lock_file != nullptr) {
        const auto info = state.lock_file->info();
        if (!info.ok() || info->links != 0) return {};  // a deleted file would exclude nobody
    }
    TRY_ASSIGN(File file, directory_.open_or_make_file(kLockFileName));
    state.lock_file = std::make_shared<File>(std::move(file));
    return {};
}

// Waits for a process that holds the lock; but if one was stopped meanwhile, only once a second.
Result<ByteLock> Writer::lock_byte(std::shared_ptr<const File> file, std::uint64_t byte) {
    const bool impatient = monotonic_ns() < impatient_until_ns_.load(std::memory_order_relaxed);
    auto lock = ByteLock::acquire(std::move(file), byte, impatient ? 0 : kPatienceUs);
    if (lock.ok() && impatient) impatient_until_ns_.store(0);
    if (!lock.ok() && !impatient) impatient_until_ns_.store(monotonic_ns() + kImpatienceNs);
    return lock;
}

Result<DiskUse> Writer::measure_and_note() {
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    pressed_.store(use.bytes > limits_.pressed_bytes, std::memory_order_relaxed);
    return use;
}

// Far from the limit, without the lock: each process takes one step at a time, and an eighth of the
// limit holds 64 steps. Near the limit, one process at a time.
Result<Writer::Space> Writer::take_space(Index &index) {
    if (!pressed()) {  // else it is near, most likely
        TRY_ASSIGN(DiskUse use, measure_and_note());
        if (use.bytes + limits_.limit_bytes / 8 < allowed_bytes(Purpose::put)) {
            return Space{std::move(use), std::nullopt};
        }
    }
    return lock_space(index);
}

// Trims what others appended to the index file, so that it does not cause evictions.
Result<Writer::Space> Writer::lock_space(Index &index) {
    TRY(open_lock_file());
    TRY_ASSIGN(ByteLock lock, lock_byte(state_.get().lock_file, kSpaceByte));
    (void)index.trim();
    TRY_ASSIGN(DiskUse use, measure_and_note());
    return Space{std::move(use), std::move(lock)};
}

Result<Writer::Appended> Writer::choose_location(Index &index, std::uint64_t record_size,
                                                 Purpose purpose) {
    State &state = state_.get();
    const MutexLock lock(state.mutex);
    if (state.active != nullptr) {
        ActiveSegment &segment = *state.active;
        const std::uint64_t end = segment.tail() + record_size;
        if (end <= limits_.segment_bytes && segment.cache_id() == index.identity().cache_id) {
            const Status reserved = reserve(index, segment, end, purpose);
            if (reserved.ok()) return Appended{segment.take(record_size), state.active};
            if (check_file_size(end).ok()) return reserved.error();  // else try a shorter segment
        }
    }
    TRY_ASSIGN(std::shared_ptr<ActiveSegment> segment, take_segment(index, record_size, purpose));
    segments_taken_.fetch_add(1, std::memory_order_relaxed);
    Appended place{segment->take(record_size), segment};
    if (segment->tail() >= limits_.segment_bytes) return place;  // full: do not keep it
    state.active = std::move(segment);
    return place;
}

// Reserves blocks for the segment up to `end`.
Status Writer::reserve(Index &index, ActiveSegment &segment, std::uint64_t end, Purpose purpose) {
    if (end <= segment.reserved()) return {};
    TRY(check_file_size(end));
    TRY_ASSIGN(const Space space, take_space(index));
    const DiskUse &use = space.use;
    const std::uint64_t step = reserve_step(limits_.segment_bytes);
    const std::uint64_t wanted = std::min(align_up(end, step), limits_.segment_bytes);
    std::uint64_t target = std::max(end, wanted);
    const auto fits = [&] {
        return use.bytes + align_up(target - segment.reserved(), kPage) <= allowed_bytes(purpose);
    };
    if (!fits() || !check_file_size(target).ok()) target = end;
    if (!fits()) return Error::full;
    TRY(reserve_blocks(segment.file(), segment.reserved(), target - segment.reserved()));
    segment.set_reserved(target);
    return {};
}

Result<std::shared_ptr<Writer::ActiveSegment>> Writer::take_segment(Index &index,
                                                                    std::uint64_t record_size,
                                                                    Purpose purpose) {
    const std::uint64_t needed = align_up(kSegmentHeaderSize + record_size, kPage);
    if (needed + index_size(1) > allowed_bytes(purpose)) return Error::too_large;
    // If no file may be that large, eviction does not help.
    TRY(check_file_size(needed));
    const std::uint64_t now_ns = monotonic_ns();
    if (now_ns >= litter_due_ns_.load(std::memory_order_relaxed)) {
        litter_due_ns_.store(now_ns + kLitterEachNs, std::memory_order_relaxed);
        TRY(remove_litter());
    }
    TRY_ASSIGN(const Space space, take_space(index));
    const DiskUse &use = space.use;
    if (auto segment = take_over(index, use, record_size, purpose)) return segment;
    return create_segment(index, use, record_size, purpose);
}

// Removes what killed processes left behind.
Status Writer::remove_litter() const {
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory_));
    remove_abandoned_indexes(directory_, use);
    for (const std::string &name : use.temporary_files) {
        if (is_under_construction(name)) continue;
        const auto info = directory_.info(name);
        if (!info.ok() || info->modified_ns + kTemporaryAgeNs > wall_clock_ns()) continue;
        (void)discard_segment(directory_, name);
    }
    for (const SegmentFile &file : use.segments) {
        if (file.disk_bytes > limits_.segment_bytes + kPage) remove_if_torn(file.segment);
    }
    return {};
}

// A segment larger than others holds one record. If its writer was killed before the record was
// whole, no slot leads to it and no process will continue the segment.
void Writer::remove_if_torn(std::uint32_t segment) const {
    const auto lock = lock_segment(segment);
    if (!lock.ok()) return;
    std::array<std::byte, kRecordHeaderSize> head;
    const auto count = lock->file().read_at(kSegmentHeaderSize, head);
    if (!count.ok()) return;
    const auto header = parse_record_header(Bytes(head).first(count.value()));
    if (header) {
        std::array<std::byte, kRecordEndSize> end;
        const std::uint64_t offset = kSegmentHeaderSize + header->record_size() - kRecordEndSize;
        const auto read = lock->file().read_at(offset, end);
        if (!read.ok()) return;
        if (read.value() == end.size() && same_bytes(end, record_end(head))) return;
    }
    (void)discard_segment(directory_, segment_file_name(segment));
}

// Takes over the fullest segment that has room for the record, no writer, and is not the victim.
std::shared_ptr<Writer::ActiveSegment> Writer::take_over(Index &index, const DiskUse &use,
                                                         std::uint64_t record_size,
                                                         Purpose purpose) {
    if (use.bytes + align_up(record_size, kPage) > allowed_bytes(purpose)) return nullptr;
    std::vector<SegmentFile> candidates;
    for (const SegmentFile &file : use.segments) {
        const std::uint64_t tail = align_up(file.size_bytes, kRecordAlignment);
        // A segment with less room is not worth a look at each change of segments.
        const std::uint64_t room = std::max(record_size, limits_.segment_bytes / 4);
        if (tail + room <= limits_.segment_bytes) candidates.push_back(file);
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
    auto lock = lock_segment(segment);
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
    if (tail + record_size > limits_.segment_bytes) return nullptr;
    if (!reserve_blocks(file, tail, record_size).ok()) return nullptr;
    return std::make_shared<ActiveSegment>(std::move(*lock), segment, identity->cache_id, tail,
                                           tail + record_size);
}

Result<std::shared_ptr<Writer::ActiveSegment>> Writer::create_segment(Index &index,
                                                                      const DiskUse &use,
                                                                      std::uint64_t record_size,
                                                                      Purpose purpose) {
    const std::uint64_t needed = align_up(kSegmentHeaderSize + record_size, kPage);
    std::uint64_t blocks = std::max(needed, reserve_step(limits_.segment_bytes));
    if (use.bytes + blocks > allowed_bytes(purpose) || !check_file_size(blocks).ok()) {
        blocks = needed;
    }
    if (use.bytes + blocks > allowed_bytes(purpose)) return Error::full;

    auto hint = index.counter(Counter::segment_hint);
    for (unsigned attempts = 0; attempts <= kSegmentIdMax; ++attempts) {
        const auto number =
            static_cast<std::uint32_t>(hint.fetch_add(1) % (kSegmentIdMax + std::uint64_t{1}));
        auto lock = lock_number(number);
        if (lock.error() == Error::busy) continue;
        if (!lock.ok()) return lock.error();
        auto file = directory_.create_file(segment_file_name(number));
        if (file.error() == Error::exists) continue;
        if (!file.ok()) return file.error();
        // A process with another lock file may have locked it meanwhile, to take it over, or have
        // deleted it as a segment whose creator died.
        const Status held = lock->hold(std::move(*file));
        if (!held.ok() && held.error() != Error::busy) return held.error();
        TRY_ASSIGN(const FileInfo info, lock->file().info());
        if (!held.ok() || info.links == 0) continue;
        const Status reserved = reserve_blocks(lock->file(), 0, blocks);
        const auto header = encode_segment_header(index.identity(), number);
        const Bytes pieces[] = {header};
        const Status written = lock->file().write_at(0, pieces);
        if (!reserved.ok() || !written.ok()) {
            (void)directory_.discard_file(segment_file_name(number));
            return reserved.ok() ? written.error() : reserved.error();
        }
        return std::make_shared<ActiveSegment>(std::move(*lock), number, index.identity().cache_id,
                                               kSegmentHeaderSize, blocks);
    }
    return Error::full;
}

// ------------------------------------------------------------------------------------------------
// for the index, the evictor and the compactor

// An index may take a sixteenth of the limit, in levels, and the store evicts for it. Beyond that,
// and near the limit, it takes single pages of space that is free.
Status Writer::grow_index(Index &index, std::uint64_t hash, Purpose purpose) {
    State &state = state_.get();
    const MutexLock mutex_lock(state.mutex);
    TRY_ASSIGN(const Space space, lock_space(index));
    TRY_ASSIGN(const FileInfo file, index.file().info());
    const std::uint64_t worth = limits_.limit_bytes / 16;
    const auto fits = [&](std::uint64_t bytes) {
        return space.use.bytes + bytes <= allowed_bytes(purpose);
    };
    const std::uint64_t page = index.growth_bytes_for(hash);
    const std::uint64_t level = index.growth_bytes();
    if (page > kPage && level <= worth && fits(level)) return index.grow();
    const bool is_worth_it = file.disk_bytes + page <= worth;
    if (page == 0 || (pressed() && !is_worth_it)) return Error::too_large;
    if (!fits(page)) return is_worth_it ? Error::full : Error::too_large;
    const Status grown = index.grow_for(hash);
    return grown.error() == Error::unsupported ? Status(Error::too_large) : grown;
}

Status Writer::measure(Index &index) {
    TRY_ASSIGN(const DiskUse use, measure_and_note());
    if (use.bytes <= limits_.limit_bytes) return {};
    State &state = state_.get();
    const MutexLock mutex_lock(state.mutex);
    TRY_ASSIGN(const Space space, lock_space(index));
    if (space.use.bytes > limits_.limit_bytes) return Error::full;
    return {};
}

Status Writer::make_file(Index &index, std::uint64_t size, const std::function<Status()> &make) {
    State &state = state_.get();
    const MutexLock mutex_lock(state.mutex);
    TRY_ASSIGN(const Space space, lock_space(index));
    // A cache whose limit was just lowered is evicting for as long as it takes.
    const bool is_below = space.use.bytes <= limits_.limit_bytes;
    const std::uint64_t after = space.use.bytes + align_up(size, kPage);
    if (is_below && after > limits_.limit_bytes) return Error::full;
    return make();
}

Result<ByteLock> Writer::lock_eviction(std::uint64_t patience_us) {
    TRY_ASSIGN(File opened, directory_.open_or_make_file(kLockFileName));
    const auto file = std::make_shared<const File>(std::move(opened));
    Backoff backoff(patience_us);
    for (;;) {
        auto lock = lock_byte(file, kEvictionByte);
        if (lock.ok() || lock.error() != Error::busy || !backoff.pause()) return lock;
    }
}

bool Writer::has_no_writer(std::uint32_t segment) const {
    const auto lock_file = directory_.open_or_make_file(kLockFileName);
    if (!lock_file.ok()) return false;
    const auto numbered = lock_file->is_locked(kFirstSegmentByte + segment, LockKind::exclusive);
    if (!numbered.ok() || numbered.value()) return false;
    const auto file = directory_.open_file(segment_file_name(segment), Access::read_only);
    if (file.error() == Error::denied) {  // who may not open it writes nothing
        return directory_.is_unreadable(segment_file_name(segment));
    }
    if (!file.ok()) return false;
    const auto locked = file->is_locked(kOwnerByte, LockKind::shared);
    return locked.ok() && !locked.value();
}

Writer::SegmentLock::~SegmentLock() {
    // Unlock before closing: a child of fork() may have the descriptors, too.
    if (file_.valid()) file_.unlock(kOwnerByte);
    if (lock_file_.valid()) lock_file_.unlock(kFirstSegmentByte + segment_);
}

Status Writer::SegmentLock::hold(File file) {
    file_ = std::move(file);
    TRY_ASSIGN(const bool locked, file_.try_lock(kOwnerByte, LockKind::exclusive));
    if (locked) return {};
    TRY_ASSIGN(const bool written, file_.is_locked(kOwnerByte, LockKind::shared));
    return written ? Status(Error::busy) : Status();
}

Result<Writer::SegmentLock> Writer::lock_number(std::uint32_t segment) const {
    TRY_ASSIGN(File lock_file, directory_.open_or_make_file(kLockFileName));
    TRY_ASSIGN(const bool locked,
               lock_file.try_lock(kFirstSegmentByte + segment, LockKind::exclusive));
    if (!locked) return Error::busy;
    return SegmentLock(std::move(lock_file), segment);
}

Result<Writer::SegmentLock> Writer::lock_segment(std::uint32_t segment) const {
    TRY_ASSIGN(SegmentLock lock, lock_number(segment));
    TRY_ASSIGN(File file, directory_.open_file(segment_file_name(segment), Access::read_write));
    TRY(lock.hold(std::move(file)));
    return lock;
}

Result<std::optional<std::string>> Writer::retire_segment(Index &index,
                                                          std::uint32_t segment) const {
    // Under its new name it is no segment any more, even if the file is deleted much later.
    const std::string name = segment_file_name(segment);
    const std::string discarded = "discarded-" + name + ".tmp";
    const Status status = directory_.rename(name, discarded);
    if (!status.ok() && status.error() != Error::not_found) return status.error();
    index.counter(Counter::retired).fetch_add(1);
    return status.ok() ? std::optional(discarded) : std::nullopt;
}

Status Writer::sync_segments() const {
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory_));
    for (const SegmentFile &segment : use.segments) {
        const std::string name = segment_file_name(segment.segment);
        const auto file = directory_.open_file(name, Access::read_only);
        if (file.error() == Error::not_found) continue;
        // It holds no entry for anybody.
        if (file.error() == Error::denied && directory_.is_unreadable(name)) continue;
        if (!file.ok()) return file.error();
        TRY(file->sync_data());
    }
    return directory_.sync();
}

}  // namespace cairn
