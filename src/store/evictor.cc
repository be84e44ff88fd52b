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

// Of two segments, the oldest of each kind, so many records are looked at.
constexpr unsigned kLookRecords = 32;
// Where most of a segment stays, it is not looked at again before the others.
constexpr unsigned kMostPercent = 50;
// Learning takes about as long as a put; what it finds does not change quickly.
constexpr UseTime kLearnEach = kUseTimesPerTurnover / 4;
// Half of a turnover, in segments: so all counts fade once in that time.
constexpr std::uint64_t kFadeParts = 32;

unsigned none_after_copy(unsigned) {
    return 0;
}

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
    if (policy_.learns) update_taste(index);
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
            evict(index, entry, Ghost::Kind::evicted);
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
    // So do those of one kind that were written since, where only the other kind is left.
    const auto is_listed = [&](SegmentKind kind) REQUIRES_LOCK(mutex_) {
        return std::ranges::any_of(next_victims_, [&](const SegmentFile &file) {
            return kind_of_segment(file.segment) == kind;
        });
    };
    const bool has_kept = is_listed(SegmentKind::kept) || &writer_ != &kept_writer_;
    if (taste_ && !(has_kept && is_listed(SegmentKind::fresh))) next_victims_.clear();
    const bool listed_now = next_victims_.empty();
    if (listed_now) TRY(list_victims(oldest_first));
    if (taste_) {
        (void)guarded([&]() REQUIRES_LOCK(mutex_) -> Status {
            prefer_cheaper(index);
            return {};
        });
    }
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

// Who goes on with another's victim goes by what all have learned, too.
void Evictor::update_taste(Index &index) {
    const Learned now = {index.use_time(), index.clears()};
    if (learned_ && learned_->clears == now.clears) {
        const auto passed = static_cast<UseTime>(now.time - learned_->time);
        if (passed == 0 || (passed < kLearnEach && !reuse_.has_many_notes())) return;
    }
    learned_ = now;
    taste_.reset();
    (void)guarded([&]() REQUIRES_LOCK(mutex_) -> Status {
        taste_ = reuse_.learn(index, account_, reader_);
        return {};
    });
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

// Makes the next victim the one of two of which less stays: the oldest segment of either kind.
void Evictor::prefer_cheaper(Index &index) {
    const auto oldest_of = [&](SegmentKind kind) REQUIRES_LOCK(mutex_) {
        return std::find_if(next_victims_.rbegin(), next_victims_.rend(), [&](const auto &file) {
            return kind_of_segment(file.segment) == kind;
        });
    };
    const auto fresh = oldest_of(SegmentKind::fresh);
    const auto kept = oldest_of(SegmentKind::kept);
    if (fresh == next_victims_.rend() || kept == next_victims_.rend()) return;
    const auto of_fresh = percent_that_stays(index, *fresh);
    const auto of_kept = percent_that_stays(index, *kept);
    if (!of_fresh || !of_kept || *of_kept < *of_fresh || *of_kept == 0) {
        const auto next = !of_fresh ? fresh : kept;  // one that cannot be read goes first
        std::rotate(next_victims_.rbegin(), next, next + 1);
        return;
    }
    const std::uint32_t settled = kept->segment;
    std::rotate(next_victims_.rbegin(), fresh, fresh + 1);
    if (*of_kept < kMostPercent) return;
    const auto file = directory_.open_file(segment_file_name(settled), Access::read_write);
    if (file.ok()) (void)file->touch();
    std::erase_if(next_victims_, [&](const auto &other) { return other.segment == settled; });
}

// By its first records. nullopt: it cannot be read.
std::optional<unsigned> Evictor::percent_that_stays(Index &index, const SegmentFile &file) {
    std::uint64_t all = 0, stays = 0;
    SegmentScan scan(index.identity(), file.segment, file.size_bytes);
    for (unsigned count = 0; count < kLookRecords; ++count) {
        const auto record = scan.next(reader_);
        if (!record.ok()) return std::nullopt;
        if (!record.value()) break;
        const RecordHeader &header = record.value()->header;
        all += header.record_size();
        const auto found =
            index.slot_at(index.hash(record.value()->head->key()), record.value()->location);
        if (!found) continue;
        Uses uses;
        Candidate candidate = candidate_of(index, header, found->slot, uses);
        policy_.choose(std::span(&candidate, 1), {UINT64_MAX, UINT64_MAX},
                       taste_ ? &*taste_ : nullptr);
        if (candidate.keep) stays += candidate.size_bytes;
    }
    return all == 0 ? 0 : static_cast<unsigned>(stays * 100 / all);
}

// Sets `uses` to those of the key: what its record and its slot tell, or the sample, if that knows more.
// An entry that was not copied yet may have had a ghost.
Candidate Evictor::candidate_of(Index &index, const RecordHeader &header, Slot slot, Uses &uses) {
    const UseTime time = index.use_time();
    uses = header.uses.count == 0 ? Uses{1, time} : header.uses;
    const auto known = policy_.learns ? reuse_.uses_of(header.key_hash) : std::nullopt;
    if (policy_.learns && !known && !header.copied) {
        const auto ghost = ghosts_.find(index, header.key_hash);
        if (ghost) uses.count = std::min(uses.count + ghost->uses, kUsesMax);
    }
    uses = uses_with(uses, slot.hits(), time);
    if (known && known->count >= uses.count) uses = *known;
    Candidate candidate = {header.record_size(), header.stamp_ns, header.cost_us,
                           slot.hits(),          header.pinned,   header.copied};
    candidate.uses = uses.count;
    candidate.age = age_of(uses.last, time);
    candidate.lot = lot_of(header.key_hash);
    candidate.raw_bytes = header.raw_record_size();
    return candidate;
}

void Evictor::fade_hits(Index &index) {
    index.for_each_of_part(index.retired() % kFadeParts, kFadeParts,
                           [](Index::Place place, Slot slot) {
                               if (slot.hits() != fade(slot.hits()))
                                   Index::set_hits(place, slot, fade(slot.hits()));
                           });
}

void Evictor::learn(Index &index) {
    if (!policy_.learns || !reuse_.has_notes() || !mutex_.try_lock()) return;
    const AdoptedLock lock(mutex_);
    const auto alone = eviction_lock_.acquire(directory_, kEvictionByte);
    if (!alone.ok() || !index.is_named(directory_)) return;
    (void)reuse_.learn(index, account_, reader_);
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
        Uses uses;
        candidates.push_back(candidate_of(index, header, *entry->slot, uses));
        plan_.push_back({location, entry->key_hash, header.record_size(), uses, false});
    }
    const std::uint64_t span = scan_->offset() - begin;
    // Damage must not leave one that is never paid.
    const std::uint64_t limit = account_.limits().limit_bytes;
    const std::uint64_t debt = std::min(index.copy_debt(), limit);
    policy_.choose(candidates, copy_allowance(span, debt, limit), taste_ ? &*taste_ : nullptr);
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
        plan_[i].keep = candidates[i].keep;
        if (candidates[i].keep) kept += candidates[i].size_bytes;
    }
    index.set_copy_debt(debt_after(debt, span, kept));
    std::reverse(plan_.begin(), plan_.end());
    return {};
}

// Evicts the entry if it cannot be copied. False: others take space, or have deleted the copy, and it
// stays where it is.
bool Evictor::copy(Index &index, const Planned &entry) {
    const ReadRecord record =
        reader_.read_any(index.identity().cache_id, entry.location, RecordReader::Form::stored);
    if (record.outcome != ReadOutcome::found) {
        evict(index, entry, Ghost::Kind::damaged);
        return true;
    }
    RecordHeader header = record.header;
    header.copied = true;
    header.uses = entry.uses;
    const Status moved =
        relocate(directory_, index, writer_,
                 {entry.location, header, record.blob->key(), record.blob->value(),
                  Account::Purpose::copy, policy_.learns ? none_after_copy : hits_after_copy});
    if (moved.error() == Error::busy) return false;
    // Unless its slot leads elsewhere by now. It may have been removed meanwhile.
    evict(index, entry, Ghost::Kind::evicted);
    return true;
}

// Its ghost comes first: a process that dies in between leaves an entry with a ghost, and nobody
// asks for that before the entry is gone.
void Evictor::evict(Index &index, const Planned &entry, Ghost::Kind kind) {
    const std::uint64_t hash = entry.key_hash;
    const Location location = entry.location;
    const bool is_entry = index.leads_to(hash, location);
    if (hides_older(index, hash)) {
        const ReadRecord read = reader_.read_any_key(index.identity().cache_id, location);
        // Or it was removed since it was planned.
        const bool is_removed = read.header.state == RecordState::removed;
        if (read.outcome == ReadOutcome::found && (is_entry || is_removed)) {
            leave_removal(index, {location, read.header, read.blob});
        }
    }
    if (is_entry) ghosts_.note(index, account_, hash, kind, entry.uses.count);
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
    index.pass_use_time(disk_bytes, account_.limits().limit_bytes);
    index.forget_victim();
    planned_victim_.reset();
    reader_.segments().forget_deleted();
    if (policy_.learns) fade_hits(index);
    // Where processes take turns, each would hold a segment that is nearly empty; so the next one
    // takes this one over.
    const std::uint64_t retired = index.retired();
    if (retired != retired_ + 1) kept_writer_.release_segment();
    retired_ = retired;
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
        const unsigned uses = std::min(record.header.uses.count + slot.slot.hits(), kUsesMax);
        ghosts_.note(index, account_, record.header.key_hash, Ghost::Kind::evicted, uses);
    }
    const bool dropped = index.drop(slot.place, slot.slot);
    if (dropped) evicted_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cairn
