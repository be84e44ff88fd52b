// SPDX-License-Identifier: MIT
#include "store/evictor.h"

#include <algorithm>
#include <cstddef>

#include "base/guarded.h"
#include "store/marks.h"

namespace cairn {
namespace {

// How much one step plans at most. Dropping an entry counts as kDropWork bytes of copying.
constexpr unsigned kPlanRecords = 128;
constexpr std::uint64_t kPlanBytes = 1024 * 1024;
constexpr std::uint64_t kDropWork = 256;
// What a segment leaves behind takes this part of it at most.
constexpr std::uint64_t kVictimPerLeft = 8;
// Deleting a file of this size mostly takes less time than having a thread do it.
constexpr std::uint64_t kQuickBytes = 1024 * 1024;

// Whether a record may hide an older value of its key from a rebuild that is due, or will be once somebody
// meets the damage. Nobody has marked that value: its slot was lost when the newer one was stored or removed.
bool hides_older(Index &index, std::uint64_t hash) {
    return index.rebuild_due() != RebuildReason::none || index.suspicious(hash);
}

}  // namespace

Result<Evictor::Progress> Evictor::step(Index &index, std::uint64_t budget_bytes) {
    if (!mutex_.try_lock()) return Progress::busy;
    const AdoptedLock lock(mutex_);
    return step_locked(index, budget_bytes);
}

Result<Evictor::Progress> Evictor::step_locked(Index &index, std::uint64_t budget_bytes) {
    const auto lock = eviction_lock_.acquire(directory_, kEvictionByte);
    if (lock.error() == Error::busy) return Progress::busy;
    if (!lock.ok()) return lock.error();
    if (!index.is_named(directory_)) return Progress::busy;  // slots move in another one now
    // Puts leave the room for it, and the first copies take that.
    if (!ghosts_.prepare(index, account_)) return Progress::busy;
    // If the victim is only named, the process that named it died before it looked for a writer.
    auto named = index.victim_without_writer();
    if (!named) {
        TRY_ASSIGN(named, choose_victim(index));
    }
    if (!named) return Progress::none;
    const std::uint32_t segment = *named;
    const Victim victim = {segment, index.retired(), index.identity().cache_id};
    if (planned_victim_ != victim) {
        TRY_ASSIGN(const std::uint64_t size_bytes, readable_bytes(segment));
        if (size_bytes == 0) drop_all(index, segment);
        scan_.emplace(index.identity(), segment, size_bytes);
        plan_.clear();
        left_bytes_ = 0;
        planned_victim_ = victim;
    }
    if (plan_.empty() && !scan_->at_end()) {
        const Status planned = guarded([&]() REQUIRES_LOCK(mutex_) { return plan_more(index); });
        if (!planned.ok()) {  // plan again, so that no entry is dropped unjudged
            plan_.clear();
            planned_victim_.reset();
            return planned.error();
        }
    }
    for (std::uint64_t done = 0; !plan_.empty() && done < budget_bytes; plan_.pop_back()) {
        const Planned &entry = plan_.back();
        if (entry.keep) {
            if (!copy(index, entry)) return Progress::busy;
        } else {
            evict(index, entry.key_hash, entry.location, Ghost::Kind::evicted);
        }
        done += entry.keep ? entry.size_bytes : kDropWork;
    }
    if (!plan_.empty() || !scan_->at_end()) return Progress::some;
    TRY(retire(index, segment, budget_bytes == UINT64_MAX));
    return Progress::retired;
}

Result<std::optional<std::uint32_t>> Evictor::choose_victim(Index &index) {
    const bool oldest_first = policy_.order == Policy::Order::oldest_segment_first;
    if (!oldest_first) next_victims_.clear();  // new segments go first
    const bool listed_now = next_victims_.empty();
    if (listed_now) TRY(list_victims(oldest_first));
    while (!next_victims_.empty()) {
        const SegmentFile listed = next_victims_.back();
        next_victims_.pop_back();
        const auto info = directory_.info(segment_file_name(listed.segment));
        if (!info.ok() || info->modified_ns != listed.modified_ns) continue;  // gone, or younger
        // Name the victim, then look for a writer. A writer locks a segment, then looks whether it
        // is named: so one of the two sees the other. It may still lock the victim for a moment
        // later on. That must not stop the eviction: once entries were dropped, older values of
        // their keys in other segments could come back.
        index.name_victim(listed.segment);
        if (!has_no_writer(directory_, listed.segment)) continue;
        index.name_victim_without_writer(listed.segment);
        return std::optional(listed.segment);
    }
    if (!listed_now) return choose_victim(index);
    index.forget_victim();
    return std::optional<std::uint32_t>();
}

// A segment's age is that of its last record: taking it over makes it younger.
Status Evictor::list_victims(bool oldest_first) {
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    std::sort(use.segments.begin(), use.segments.end(), [&](const auto &a, const auto &b) {
        return oldest_first ? a.modified_ns > b.modified_ns : a.modified_ns < b.modified_ns;
    });
    next_victims_ = std::move(use.segments);
    return {};
}

// 0: it was deleted, or may not be read.
Result<std::uint64_t> Evictor::readable_bytes(std::uint32_t segment) {
    // By its name: the open one may be a deleted file whose number is in use again.
    const auto file = directory_.info(segment_file_name(segment));
    if (file.error() == Error::not_found) return std::uint64_t{0};
    if (!file.ok()) return file.error();
    const bool is_denied = reader_.segments().reopen(segment).error() == Error::denied;
    if (is_denied && !reader_.segments().is_unreadable(segment)) return Error::denied;
    return is_denied ? 0 : file->size_bytes;
}

// What is in a segment that may not be read is found by its slots.
void Evictor::drop_all(Index &index, std::uint32_t segment) {
    index.for_each([&](Index::Place place, Slot slot) {
        if (slot.location().segment == segment) (void)index.drop(place, slot);
        return false;
    });
}

// Plans the next part of the segment.
Status Evictor::plan_more(Index &index) {
    TRY(index.refresh());
    std::vector<Candidate> candidates;
    const std::uint64_t begin = scan_->offset();
    for (unsigned count = 0; count < kPlanRecords && scan_->offset() < begin + kPlanBytes;
         ++count) {
        TRY_ASSIGN(const auto entry, next_entry(directory_, index, reader_, *scan_));
        if (!entry) break;
        TRY(entry->finished);
        if (!entry->slot) {
            // Not of a live one: an older one of its key may be the entry, if its put was killed.
            const bool is_removed = entry->record.header.state == RecordState::removed;
            if (is_removed && hides_older(index, entry->key_hash))
                leave_removal(index, entry->record);
            continue;
        }
        const auto &[location, header, head] = entry->record;
        plan_.push_back({location, entry->key_hash, header.record_size(), false});
        candidates.push_back({header.record_size(), header.stamp_ns, header.cost_us,
                              entry->slot->hits(), header.pinned, header.copied});
    }
    const std::uint64_t span = scan_->offset() - begin;
    policy_.choose(candidates,
                   copy_allowance(span, index.copy_debt(), account_.limits().limit_bytes));
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
        plan_[i].keep = candidates[i].keep;
        if (candidates[i].keep) kept += candidates[i].size_bytes;
    }
    index.set_copy_debt(debt_after(index.copy_debt(), span, kept));
    std::reverse(plan_.begin(), plan_.end());
    return {};
}

// Evicts the entry if it cannot be copied. False: others take space, or have deleted the copy, and it
// stays where it is.
bool Evictor::copy(Index &index, const Planned &entry) {
    const ReadRecord record =
        reader_.read_any(index.identity().cache_id, entry.location, RecordReader::Form::stored);
    if (record.outcome != ReadOutcome::found) {
        evict(index, entry.key_hash, entry.location, Ghost::Kind::damaged);
        return true;
    }
    RecordHeader header = record.header;
    header.copied = true;
    const Status moved = relocate(directory_, index, writer_,
                                  {entry.location, header, record.blob->key(), record.blob->value(),
                                   Account::Purpose::copy, hits_after_copy});
    if (moved.error() == Error::busy) return false;
    // Unless its slot leads elsewhere by now. It may have been removed meanwhile.
    evict(index, entry.key_hash, entry.location, Ghost::Kind::evicted);
    return true;
}

// Its ghost comes first: a process that dies in between leaves an entry with a ghost, and nobody
// asks for that before the entry is gone.
void Evictor::evict(Index &index, std::uint64_t hash, Location location, Ghost::Kind kind) {
    const bool is_entry = index.leads_to(hash, location);
    if (hides_older(index, hash)) {
        const ReadRecord read = reader_.read_any_key(index.identity().cache_id, location);
        // Or it was removed since it was planned.
        const bool is_removed = read.header.state == RecordState::removed;
        if (read.outcome == ReadOutcome::found && (is_entry || is_removed)) {
            leave_removal(index, {location, read.header, read.blob});
        }
    }
    if (is_entry) ghosts_.note(index, account_, hash, kind);
    const bool dropped = drop(index, hash, location);
    if (dropped && kind == Ghost::Kind::evicted) evicted_.fetch_add(1, std::memory_order_relaxed);
}

// Of what hides_older() a record without a value is left that says that there is no entry. Of tiny entries
// only some leave one, as room has to be made.
void Evictor::leave_removal(Index &index, const ScannedRecord &record) {
    const RecordHeader &header = record.header;
    // A mark of an earlier system start is void.
    const bool counts = header.state == RecordState::removed ||
                        (!reader_.is_dead(header) && !header.was_left(reader_.boot()));
    if (!counts) return;
    const std::uint64_t size = removal_of(0, header.key_size, 0, 0).record_size();
    if ((left_bytes_ + size) * kVictimPerLeft > scan_->offset()) return;
    const Status left =
        keep_removal(index, writer_, record, reader_.boot(), Account::Purpose::copy);
    if (left.ok()) left_bytes_ += size;
}

bool Evictor::drop(Index &index, std::uint64_t hash, Location location) {
    const bool dropped = index.change_slot(hash, location, [](Slot) { return kEmptySlot; });
    if (dropped) index.uncount_entry();
    return dropped;
}

Status Evictor::retire(Index &index, std::uint32_t segment, bool wait) {
    TRY(sync_copies(directory_, index));
    const auto file = directory_.info(segment_file_name(segment));
    const std::uint64_t disk_bytes = file.ok() ? file->disk_bytes : 0;
    TRY_ASSIGN(const auto discarded, retire_segment(directory_, index, segment));
    if (discarded) discard(index, *discarded, wait || disk_bytes <= kQuickBytes);
    account_.note_freed(disk_bytes);
    index.forget_victim();
    planned_victim_.reset();
    reader_.segments().forget_deleted();
    return {};
}

void Evictor::discard(const Index &index, const std::string &name, bool wait) {
    if (!wait && discard_.is_idle()) {
        discarded_ = name;
        discarded_from_ = &index;
        if (discard_.wake()) return;
    }
    (void)discard_retired(directory_, index, name);
}

bool Evictor::drop_one_entry(Index &index, Location spare, std::uint64_t start) {
    // There may be an entry too many for a moment, but none is forgotten.
    if (!ghosts_.prepare(index, account_)) return false;
    std::vector<Index::PlacedSlot> seen;
    const auto take = [&](Index::Place place, Slot slot) {
        if (slot.location() == spare) return false;
        seen.push_back({place, slot});
        return seen.size() == kPolicySample;
    };
    index.for_each_from(start, take);
    return drop_worst(index, seen);
}

bool Evictor::drop_from_buckets(Index &index, std::uint64_t hash, std::uint64_t start) {
    std::vector<Index::PlacedSlot> seen;
    index.visit_buckets(hash, [&](Index::Place place, Slot slot) {
        seen.push_back({place, slot});
    });
    if (seen.empty()) return false;
    // Another sample each time: what is in no sample would never go.
    const auto first = static_cast<std::ptrdiff_t>(start % seen.size());
    std::rotate(seen.begin(), seen.begin() + first, seen.end());
    return drop_worst(index, seen);
}

// Reads the headers of the first kPolicySample entries that may go, and lets the policy decide. A
// tentative slot goes last of all: its process may be dead, and a living one publishes it anew.
bool Evictor::drop_worst(Index &index, std::span<const Index::PlacedSlot> seen) {
    if (seen.empty()) return false;
    std::vector<Judged> entries;
    std::vector<Candidate> candidates;
    unsigned may_go = 0;
    for (const Index::PlacedSlot &one : seen) {
        if (one.slot.tentative()) continue;
        entries.push_back(
            {one, reader_.read_any_key(index.identity().cache_id, one.slot.location())});
        const auto &[outcome, blob, header] = entries.back().record;
        if (outcome == ReadOutcome::damaged) {  // nothing is lost with it
            drop_judged(index, entries.back());
            return true;
        }
        // One that cannot be read now may be pinned.
        const bool pinned = outcome != ReadOutcome::found || header.pinned;
        candidates.push_back({header.record_size(), header.stamp_ns, header.cost_us,
                              one.slot.hits(), pinned, header.copied});
        if (!pinned && ++may_go == kPolicySample) break;
    }
    if (candidates.empty()) {
        (void)index.drop(seen.front().place, seen.front().slot);
    } else {
        drop_judged(index, entries[policy_.first_to_go(candidates)]);
    }
    return true;
}

// A rebuild must not bring the entry back. So mark first: if we die in between, later values of the
// key say nothing of this record. If a hit has changed the slot since, the next look-up sees the mark
// and empties it.
void Evictor::drop_judged(Index &index, const Judged &entry) {
    const auto &[slot, record] = entry;
    const RecordId id = {slot.slot.location(), record.header.stamp_ns};
    (void)(hides_older(index, record.header.key_hash)
               ? mark_removed(directory_, id, reader_.boot())
               : mark_state(directory_, id, RecordState::unused));
    if (record.outcome == ReadOutcome::found) {
        ghosts_.note(index, account_, record.header.key_hash, Ghost::Kind::evicted);
    }
    const bool dropped = index.drop(slot.place, slot.slot);
    if (dropped) evicted_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cairn
