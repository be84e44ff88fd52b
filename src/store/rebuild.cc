// SPDX-License-Identifier: MIT
#include "store/rebuild.h"

#include <algorithm>
#include <optional>

#include "base/guarded.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "store/publish.h"
#include "store/relocation.h"

namespace cairn {
namespace {

// For the eviction lock, which others hold for moments. Who gives in goes on later.
constexpr std::uint64_t kLockPatienceUs = 20'000;
// How long one look-up may rebuild. This happens once for each damage.
constexpr std::uint64_t kRebuildNs = 100'000'000;
// The background check works for less than this at a time; another look-up may work for longer.
constexpr std::uint64_t kRebuildPatienceUs = 2'000;
constexpr std::uint64_t kRetryAfterNs = 5'000'000'000;
constexpr unsigned kPauseUs = 2'500;

}  // namespace

// Empties damaged slots first, so that it does not empty what it published.
Status Rebuild::begin() {
    index_.clear_damaged();
    due_ = index_.counter(Counter::rebuild).load();
    removals_ = index_.counter(Counter::removals).load();
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    segments_ = std::move(use.segments);
    for (const SegmentFile &file : segments_) bytes_total_ += file.size_bytes;
    bytes_left_ = bytes_total_;
    begun_ = true;
    return {};
}

Result<bool> Rebuild::step(std::uint64_t deadline_ns) {
    // On the stack: a thread that is cancelled here unlocks, and a child of fork() does not.
    std::optional<ByteLock> lock;
    lock_ = &lock;
    auto done = go_on(deadline_ns);
    lock_ = nullptr;
    return done;
}

Result<bool> Rebuild::go_on(std::uint64_t deadline_ns) {
    if (!begun_) TRY(begin());
    for (unsigned count = 0; !segments_.empty(); ++count) {
        if (count % 16 == 15 && monotonic_ns() > deadline_ns) return false;
        TRY(list_record());
    }
    if (!sorted_) {
        std::sort(listed_.begin(), listed_.end());
        // Later stamps must be greater, even if the counter was lost.
        for (const Listed &listed : listed_) index_.raise_stamp(listed.stamp_ns);
        sorted_ = true;
    }
    for (unsigned count = 0; !listed_.empty(); ++count) {
        if (count % 16 == 15) {
            lock_->reset();  // others wait for it
            if (monotonic_ns() > deadline_ns) return false;
        }
        TRY_ASSIGN(const bool locked, lock_segments());
        if (!locked) return false;
        TRY(settle_key());
    }
    // All stored entries are published now, unless there was more damage meanwhile.
    index_.counter(Counter::rebuild)
        .compare_exchange_strong(due_, static_cast<std::uint64_t>(RebuildReason::none));
    return true;
}

// Lists the next record.
Status Rebuild::list_record() {
    const std::uint32_t segment = segments_.back().segment;
    const std::uint64_t before = scan_ ? scan_->offset() : 0;
    if (!scan_) TRY(begin_segment(segment, kSegmentHeaderSize));
    TRY_ASSIGN(const auto record, scan_->next(reader_));
    bytes_left_ -= std::min(bytes_left_, scan_->offset() - before);
    if (record) {
        add(listed_, *record);
        return {};
    }
    listed_to_.push_back(end_segment());
    segments_.pop_back();
    scan_.reset();
    return {};
}

Status Rebuild::begin_segment(std::uint32_t segment, std::uint64_t from) {
    // Ask for the writer before the size: a writer that takes over later writes behind that end.
    scanned_is_final_ = writer_.has_no_writer(segment);
    const auto info = directory_.info(segment_file_name(segment));
    if (!info.ok() && info.error() != Error::not_found) return info.error();
    scanned_size_ = info.ok() ? info->size_bytes : 0;
    scan_.emplace(index_.identity().cache_id, segment, scanned_size_, from);
    return {};
}

// In a segment with a writer, a record that is being written may lie before finished ones.
Rebuild::ListedTo Rebuild::end_segment() const {
    const std::uint64_t end = align_up(scanned_size_, kRecordAlignment);
    return {scan_->segment(), scanned_is_final_ ? end : scan_->first_gap()};
}

bool Rebuild::counts(const RecordHeader &header) const {
    if (header.state == RecordState::removed) return true;
    const std::uint64_t boot = index_.counter(Counter::boot).load(std::memory_order_relaxed);
    return header.state == RecordState::live && !header.was_replaced(boot);
}

void Rebuild::add(std::vector<Listed> &listed, const ScannedRecord &record) const {
    const RecordHeader &header = record.header;
    if (!counts(header)) return;
    const auto place = static_cast<std::uint32_t>(record.location.offset / kRecordAlignment);
    const std::uint32_t removed = header.state == RecordState::removed ? kRemoved : 0;
    listed.push_back({header.key_hash, header.stamp_ns, record.location.segment, place | removed});
}

// Lists what was written since the last listing.
Status Rebuild::list_newer() {
    const std::uint64_t removals = index_.counter(Counter::removals).load();
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory_));
    for (const SegmentFile &file : use.segments) TRY(list_tail(file.segment, file.size_bytes));
    std::sort(newer_.begin(), newer_.end());
    newer_.erase(std::unique(newer_.begin(), newer_.end()), newer_.end());
    removals_ = removals;
    return {};
}

Status Rebuild::list_tail(std::uint32_t segment, std::uint64_t size_bytes) {
    auto known = std::ranges::find(listed_to_, segment, &ListedTo::segment);
    if (known == listed_to_.end()) {
        known = listed_to_.insert(known, ListedTo{segment, kSegmentHeaderSize});
    }
    if (known->offset >= size_bytes) return {};
    TRY(begin_segment(segment, known->offset));
    for (;;) {
        TRY_ASSIGN(const auto record, scan_->next(reader_));
        if (!record) break;
        add(newer_, *record);
    }
    *known = end_segment();
    scan_.reset();
    return {};
}

// The newer records of the key that is being settled; the newest is the last.
std::span<const Rebuild::Listed> Rebuild::newer_of_key() const {
    const std::uint64_t hash = key_.front().key_hash;
    const auto begin = std::ranges::lower_bound(newer_, hash, {}, &Listed::key_hash);
    const auto end = std::ranges::upper_bound(newer_, hash, {}, &Listed::key_hash);
    return {begin, end};
}

// Decides on one key.
Status Rebuild::settle_key() {
    key_.clear();
    const std::uint64_t hash = listed_.back().key_hash;
    for (; !listed_.empty() && listed_.back().key_hash == hash; listed_.pop_back()) {
        key_.push_back(listed_.back());
    }
    for (;;) {
        const auto newer = newer_of_key();
        key_.insert(key_.end(), newer.begin(), newer.end());
        std::sort(key_.rbegin(), key_.rend());
        key_.erase(std::unique(key_.begin(), key_.end()), key_.end());
        TRY_ASSIGN(const Adopted adopted, settle_records());
        if (adopted != Adopted::superseded) return {};
    }
}

// Goes from the newest record down.
Result<Rebuild::Adopted> Rebuild::settle_records() {
    std::uint64_t oldest_stamp = 0;
    for (std::size_t i = 0; i < key_.size() && key_[i].stamp_ns >= oldest_stamp; ++i) {
        Adopted adopted = Adopted::settled;
        if (key_[i].removed()) {
            TRY(take_back(key_[i]));
        } else {
            TRY_ASSIGN(adopted, adopt(key_[i], i + 1 < key_.size()));
        }
        if (adopted == Adopted::settled) mark_others(key_[i].stamp_ns);
        if (adopted == Adopted::settled || adopted == Adopted::superseded) return adopted;
        if (adopted == Adopted::gone) oldest_stamp = key_[i].stamp_ns;
    }
    return Adopted::settled;
}

// Tells how new a rival is. One that claims to be newer than `stamp_ns` must be whole: a power loss
// may have kept its header without its value.
Examine Rebuild::examiner(Bytes key, std::uint64_t stamp_ns) {
    return [this, key, stamp_ns](Slot rival) -> Result<std::optional<std::uint64_t>> {
        const std::uint64_t cache_id = index_.identity().cache_id;
        TRY_ASSIGN(const auto stamp, reader_.read_stamp(cache_id, rival, key));
        if (!stamp || *stamp < stamp_ns) return stamp;
        const ReadBlob whole = reader_.read(cache_id, rival, key);
        if (whole.outcome == ReadOutcome::unreadable) return Error::io;
        const bool good = whole.outcome == ReadOutcome::found;
        return std::optional(good ? *stamp : 0);
    };
}

// Records that were replaced or copied before the last system start counted until now, as the newer
// record could have been lost with the power. It was not: mark them again.
void Rebuild::mark_others(std::uint64_t stamp_ns) {
    const std::uint64_t boot = index_.counter(Counter::boot).load();
    const bool published = std::ranges::any_of(key_, [&](const Listed &listed) {
        return listed.stamp_ns == stamp_ns && has_slot(listed);
    });
    for (const Listed &other : key_) {
        if (other.stamp_ns > stamp_ns) continue;
        // Of two copies, no slot leads to this one, nor will.
        const bool left =
            published && !is_being_moved(index_, other.location()) && !has_slot(other);
        if (other.stamp_ns == stamp_ns && !left) continue;
        (void)writer_.mark_replaced(other.location(), other.stamp_ns, boot);
    }
}

bool Rebuild::has_slot(const Listed &listed) const {
    return index_.leads_to(listed.key_hash, listed.location());
}

Result<Rebuild::Adopted> Rebuild::adopt(const Listed &listed, bool has_older) {
    const Location location = listed.location();
    const bool known = has_slot(listed);
    if (known && !has_older) return Adopted::settled;  // readers will verify it
    const ReadRecord whole = reader_.read_any(index_.identity().cache_id, location);
    if (whole.outcome == ReadOutcome::unreadable) return Error::io;
    if (whole.outcome != ReadOutcome::found) {
        TRY_ASSIGN(const bool exists, segment_exists(location.segment));
        return exists ? Adopted::not_whole : Adopted::gone;
    }
    if (known) return Adopted::settled;
    if (index_.hash(whole.blob->key()) != listed.key_hash) return Adopted::not_whole;
    return publish_record(listed, whole.header, whole.blob->key());
}

// Else a segment could be retired between our last look at it and the exchange of a slot, and the
// older entry would be lost as well.
Result<bool> Rebuild::lock_segments() {
    if (*lock_) return true;
    auto lock = writer_.lock_eviction(kLockPatienceUs);
    if (lock.error() == Error::busy) return false;
    if (!lock.ok()) return lock.error();
    lock_->emplace(std::move(*lock));
    return true;
}

Result<Rebuild::Adopted> Rebuild::publish_record(const Listed &listed, const RecordHeader &header,
                                                 Bytes key) {
    const Slot slot = Slot::make(listed.location(), size_class(header.record_size()),
                                 Slot::tag_of(listed.key_hash));
    Adopted adopted = Adopted::settled;
    for (;;) {
        const auto published =
            publish(index_, listed.key_hash, slot, PublishPolicy::if_newer, listed.stamp_ns,
                    examiner(key, listed.stamp_ns), [&](const PublishedSlot *) -> Result<bool> {
                        TRY_ASSIGN(const auto obstacle, obstacle_to(listed));
                        adopted = obstacle.value_or(adopted);
                        return !obstacle;
                    });
        if (published.ok()) {
            if (published->outcome == Published::Outcome::added) {
                index_.counter(Counter::entries).fetch_add(1);
            }
            if (published->outcome != Published::Outcome::exists) ++recovered_;
            return adopted;
        }
        if (published.error() != Error::full) return published.error();
        if (index_.free_damaged(listed.key_hash)) continue;
        const Status grown = writer_.grow_index(index_, listed.key_hash);
        if (grown.ok()) continue;
        // The index may not grow: it holds as many entries as it can.
        if (grown.error() == Error::full || grown.error() == Error::too_large) return adopted;
        return grown.error();
    }
}

// Asked while nobody else can publish the key. Returns why the record may not be published, if so.
Result<std::optional<Rebuild::Adopted>> Rebuild::obstacle_to(const Listed &listed) {
    using Obstacle = std::optional<Adopted>;
    // A compactor that is past this record looks again.
    std::uint64_t compacting = std::uint64_t{listed.segment} + 1;
    index_.counter(Counter::compacting).compare_exchange_strong(compacting, 0);
    // Before its state: a relocated record is marked before the announcement is taken back.
    if (is_being_moved(index_, listed.location())) return Obstacle(Adopted::gone);
    // The record or its copy may have been marked since.
    for (const Listed &copy : key_) {
        if (copy.stamp_ns != listed.stamp_ns) continue;
        TRY_ASSIGN(const RecordState state, state_now(copy));
        if (state == RecordState::removed) return Obstacle(Adopted::settled);
        if (state == RecordState::unused && copy == listed) return Obstacle(Adopted::gone);
    }
    if (index_.victim() == listed.segment) return Obstacle(Adopted::gone);
    if (index_.counter(Counter::removals).load() == removals_) return Obstacle();
    TRY(list_newer());
    return is_superseded(listed) ? Obstacle(Adopted::superseded) : Obstacle();
}

// `unused` also for a record that is gone.
Result<RecordState> Rebuild::state_now(const Listed &listed) {
    TRY_ASSIGN(const bool exists, segment_exists(listed.segment));
    if (!exists) return RecordState::unused;
    const ReadRecord now = reader_.read_any_key(index_.identity().cache_id, listed.location());
    if (now.outcome == ReadOutcome::unreadable) return Error::io;
    const bool counts_now = now.outcome == ReadOutcome::found && counts(now.header);
    return counts_now ? now.header.state : RecordState::unused;
}

// Whether a newer record was listed that was not taken into account.
bool Rebuild::is_superseded(const Listed &listed) const {
    return std::ranges::any_of(newer_of_key(), [&](const Listed &newer) {
        return listed < newer && std::ranges::count(key_, newer) == 0;
    });
}

Result<bool> Rebuild::segment_exists(std::uint32_t segment) const {
    const auto info = directory_.info(segment_file_name(segment));
    if (!info.ok() && info.error() != Error::not_found) return info.error();
    return info.ok();
}

// Drops a published entry for which there is a newer tombstone.
Status Rebuild::take_back(const Listed &removal) {
    const ReadRecord record = reader_.read_any_key(index_.identity().cache_id, removal.location());
    if (record.outcome == ReadOutcome::unreadable) return Error::io;
    if (record.outcome != ReadOutcome::found) return {};
    TRY_ASSIGN(const auto found,
               find_published(index_, removal.key_hash, examiner(record.blob->key(), UINT64_MAX)));
    if (!found || found->stamp_ns > removal.stamp_ns) return {};
    index_.drop(found->place, found->slot);
    return {};
}

Result<bool> Repair::step(Index &index, std::uint64_t duration_ns) {
    if (rebuild_ == nullptr || &rebuild_->index() != &index) {
        if (monotonic_ns() < not_before_ns_) return Error::busy;
        rebuild_.reset(new (std::nothrow) Rebuild(directory_, index, reader_, writer_));
        if (rebuild_ == nullptr) return Error::no_memory;
        log_.write(Severity::info, "cache %s: rebuilding the index from the segments",
                   cache_name_.c_str());
    }
    auto step = guarded(
        [&]() REQUIRES_LOCK(mutex_) { return rebuild_->step(monotonic_ns() + duration_ns); });
    bytes_total_.store(rebuild_->bytes_total(), std::memory_order_relaxed);
    bytes_left_.store(rebuild_->bytes_left(), std::memory_order_relaxed);
    if (step.ok() && !step.value()) return step;
    bytes_left_.store(0, std::memory_order_relaxed);
    if (step.ok()) {
        log_.write(Severity::info, "cache %s: %llu entries found again", cache_name_.c_str(),
                   static_cast<unsigned long long>(rebuild_->recovered()));
    } else {
        log_.write(Severity::warning, "cache %s: rebuilding the index failed, trying again later",
                   cache_name_.c_str());
        not_before_ns_ = monotonic_ns() + kRetryAfterNs;
    }
    rebuild_.reset();
    return step;
}

bool Repair::rebuild(Index &index) {
    Backoff backoff(kRebuildPatienceUs);
    do {
        if (mutex_.try_lock()) {
            const AdoptedLock lock(mutex_);
            return step(index, kRebuildNs).ok();
        }
    } while (backoff.pause());
    return false;
}

void Repair::check_in_background(Index &index) {
    if (index.rebuild_due() == RebuildReason::none || background_index_ != nullptr) return;
    background_index_ = &index;
    // Without a thread there is no check; look-ups that meet damage rebuild all the same.
    (void)worker_.wake();
}

void Repair::run_background() {
    const auto file = directory_.open_or_make_file(kLockFileName);
    if (!file.ok()) return;
    const auto alone = file->try_lock(kRebuildByte, LockKind::exclusive);
    if (!alone.ok() || !alone.value()) return;  // another process does it
    do {
        if (!mutex_.try_lock()) continue;
        const AdoptedLock lock(mutex_);
        if (background_index_->rebuild_due() == RebuildReason::none) return;
        // A rebuild looks at the clock every 16 records, so a duration of 0 is a slice of 16.
        const auto done = step(*background_index_, 0);
        if (!done.ok() || done.value()) return;
    } while (worker_.wait_until(Deadline::in_us(kPauseUs)));
}

}  // namespace cairn
