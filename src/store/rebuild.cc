// SPDX-License-Identifier: MIT
#include "store/rebuild.h"

#include <algorithm>
#include <unordered_map>

#include "base/guarded.h"
#include "os/deadline.h"
#include "os/environment.h"
#include "store/marks.h"

namespace cairn {
namespace {

// For the eviction lock, which others hold for moments. Who gives in goes on later.
constexpr std::uint64_t kLockPatienceUs = 20'000;

}  // namespace

Rebuild::~Rebuild() {
    if (made_ && !is_in_place_ && is_ours()) (void)directory_.remove_file(made_->name);
}

Result<bool> Rebuild::step(std::uint64_t deadline_ns) {
    // Another process was faster, or somebody deleted the cache.
    if (!old_.is_named(directory_)) return true;
    if (!made_) TRY(begin());
    if (old_.rebuild_due() == RebuildReason::none) return true;
    TRY_ASSIGN(const bool is_listed, listing_.list_all(deadline_ns));
    if (!is_listed) return false;
    for (unsigned count = 0; settled_ != listing_.first().size(); ++count) {
        if (count % 16 == 15 && monotonic_ns() > deadline_ns) return false;
        TRY(settle_key());
    }
    return put_in_place();
}

// From now on a rebuild is due, also where only slots tell of the damage, until one has come to its
// end: each removal notes itself. Asks also where one is due, as that may be taken back at this
// moment by the rebuild that made this index.
Status Rebuild::begin() {
    old_.ask_for_rebuild();
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    remove_abandoned_indexes(directory_, use);
    const auto make = [&]() -> Status {
        TRY_ASSIGN(made_, construct_index(directory_, old_.identity()));
        return {};
    };
    TRY(with_room([&] { return account_.make_file(old_, index_size(1), make); }));
    newest_first_ = old_.is_after_start();
    made_->index->ask_for_rebuild();
    due_ = made_->index->rebuild_request();
    listing_.begin(std::move(use.segments), *made_->index);
    return {};
}

// Nobody else knows the new index yet.
Status Rebuild::settle_key() {
    const std::uint64_t hash = listing_.first()[settled_].key_hash;
    listing_.collect(hash, key_);
    settled_ += key_.size();
    TRY_ASSIGN(const auto choice, choose());
    if (!choice) return {};
    note_losers(choice->listed);
    if (!choice->is_entry) return {};
    if (!choice->slot) ++recovered_;
    const Slot slot = slot_for(*choice);
    return growing(hash, [&]() -> Status {
        const auto place = made_->index->insert(hash, slot);
        return place.ok() ? Status() : Status(place.error());
    });
}

// The record that the old index leads to; if none, the newest whole one, if none newer is dead. After
// a system start the newest one first: of the index an older state may be on the disk than of the
// segments.
Result<std::optional<Rebuild::Choice>> Rebuild::choose() {
    if (key_.size() == 1 && !key_.front().dead()) {
        const auto slot = slot_of(key_.front());  // readers verify it
        if (slot) return std::optional(Choice{key_.front(), true, slot->size_class(), slot});
    }
    note_if_undecided();
    for (const Listed &listed : key_) {
        const bool counts = !newest_first_ && !listed.dead();
        const auto slot = counts ? slot_of(listed) : std::nullopt;
        if (!slot || was_removed_after(listed.stamp_ns)) continue;
        TRY_ASSIGN(const Found found, look_at(listed));
        if (found.state != State::whole) continue;
        return std::optional(Choice{listed, true, found.size_class, slot});
    }
    std::uint64_t oldest_stamp = 0;
    for (const Listed &listed : key_) {
        if (listed.stamp_ns < oldest_stamp) break;
        TRY_ASSIGN(const Found found, look_at(listed));
        if (found.state == State::whole) {
            TRY_ASSIGN(const auto dead, dead_copy_of(listed));
            if (dead) return std::optional(Choice{*dead, false, 0, {}});
            return std::optional(Choice{listed, true, found.size_class, slot_of(listed)});
        }
        if (found.state == State::dead) {
            return std::optional(Choice{as_dead(listed, found), false, 0, {}});
        }
        // Evicted or moved meanwhile: only its copy counts.
        if (found.state == State::gone) oldest_stamp = listed.stamp_ns;
    }
    return std::optional<Choice>();
}

// A copy or the original of a record, if that is dead. It may have died since it was listed, and
// its slot with it.
Result<std::optional<Listed>> Rebuild::dead_copy_of(const Listed &listed) {
    for (const Listed &other : key_) {
        if (other.stamp_ns != listed.stamp_ns || other == listed) continue;
        TRY_ASSIGN(const Found found, look_at(other));
        if (found.state == State::dead) return std::optional(as_dead(other, found));
    }
    return std::optional<Listed>();
}

Listed Rebuild::as_dead(Listed listed, const Found &found) {
    listed.place |= Listed::kDead | (found.is_removed ? Listed::kRemoved : 0);
    return listed;
}

// By a removal that did not find its record.
bool Rebuild::was_removed_after(std::uint64_t stamp_ns) const {
    return std::ranges::any_of(key_, [&](const Listed &listed) {
        return listed.is_removal() && listed.stamp_ns > stamp_ns;
    });
}

// Of several live records one may be about to be published, and another one to give in. That is
// over where the segment has no writer any more.
void Rebuild::note_if_undecided() {
    const bool has_several = std::ranges::count(key_, false, &Listed::dead) > 1;
    const bool may_change = has_several && std::ranges::any_of(key_, [&](const Listed &listed) {
                                return !listed.dead() && listing_.had_writer(listed.segment);
                            });
    if (may_change) listing_.note_undecided(key_.front().key_hash);
}

std::optional<Slot> Rebuild::slot_of(const Listed &listed) const {
    const auto found = old_.slot_at(listed.key_hash, listed.location());
    return found ? std::optional(found->slot) : std::nullopt;
}

Slot Rebuild::slot_for(const Choice &choice) {
    if (choice.slot) return *choice.slot;
    const Listed &listed = choice.listed;
    return Slot::make(listed.location(), choice.size_class, Slot::tag_of(listed.key_hash));
}

// It may have changed since. In a segment that is being evicted, what has no slot was dropped.
Result<Rebuild::Found> Rebuild::look_at(const Listed &listed) {
    if (listed.dead()) return Found{State::dead, 0, listed.removed()};
    const Location location = listed.location();
    const ReadRecord record = reader_.read_any(old_.identity().cache_id, location);
    if (record.outcome == ReadOutcome::unreadable) return Error::io;
    if (record.outcome == ReadOutcome::dead &&
        listing_.fate_of(record.header) == Listing::Fate::dead) {
        return Found{State::dead, 0, record.header.state == RecordState::removed};
    }
    const bool is_dropped = old_.victim_without_writer() == location.segment && !slot_of(listed);
    if (is_dropped) return Found{State::gone};
    if (record.header.unmoved) return Found{State::not_whole};
    if (record.outcome == ReadOutcome::found) {
        const bool is_same = old_.hash(record.blob->key()) == listed.key_hash;
        return Found{is_same ? State::whole : State::not_whole,
                     size_class(record.header.record_size())};
    }
    const auto info = directory_.info(segment_file_name(location.segment));
    if (!info.ok() && info.error() != Error::not_found) return info.error();
    return Found{info.ok() ? State::not_whole : State::gone};
}

// Calls change() until it finds a place in the new index. The index may not grow beyond what the
// cache allows: it holds as many entries as it can.
template <typename Change>
Status Rebuild::growing(std::uint64_t hash, Change change) {
    for (;;) {
        const Status status = change();
        if (status.error() != Error::full) return status;
        const Status grown = with_room(
            [&] { return account_.grow_index(*made_->index, hash, Account::Purpose::copy); });
        if (grown.error() == Error::too_large) return {};
        TRY(grown);
    }
}

// Calls take(), and evicts as long as there is no room for what it takes: for a moment there are two
// indexes.
template <typename Take>
Status Rebuild::with_room(Take take) {
    Backoff backoff(kLockPatienceUs);
    for (;;) {
        const Status status = take();
        if (status.error() == Error::busy && backoff.pause()) continue;
        if (status.error() != Error::full || evictor_ == nullptr || is_locked_) return status;
        TRY_ASSIGN(const Evictor::Progress progress, evictor_->step(old_, UINT64_MAX));
        if (progress == Evictor::Progress::none) return status;
        if (progress == Evictor::Progress::busy && !backoff.pause()) return Error::busy;
    }
}

// Brings the new index up to date with what was written since the last listing.
Status Rebuild::take_newer() {
    TRY(listing_.list_newer());
    for (const std::uint64_t hash : listing_.take_undecided()) TRY(update_key(hash));
    return {};
}

// What the old index leads to is the entry, whatever was written: a put may not have come to its end,
// or may have given in.
Status Rebuild::update_key(std::uint64_t hash) {
    listing_.collect(hash, key_);
    const std::uint64_t cache_id = old_.identity().cache_id;
    ReadRecord record = {ReadOutcome::damaged};
    for (const Listed &listed : key_) {
        record = reader_.read_any_key(cache_id, listed.location());
        if (record.outcome == ReadOutcome::unreadable) return Error::io;
        if (record.outcome == ReadOutcome::found) break;
    }
    if (record.outcome != ReadOutcome::found) return {};
    const Bytes key = record.blob->key();
    const Examine examine = examiner(key);
    TRY_ASSIGN(const auto published, find_published(old_, hash, examine));
    const bool is_newest = published && published->stamp_ns >= key_.front().stamp_ns;
    const bool counts = is_newest || !newest_first_;
    const bool is_removed = published && was_removed_after(published->stamp_ns);
    if (is_removed) {  // the record that says so may be gone before this one
        TRY(mark_removed(directory_, {published->slot.location(), published->stamp_ns},
                         listing_.boot()));
    }
    if (published && counts && !is_removed) {
        // A power loss may have taken its value, and even its end, so that it was not listed.
        const ReadRecord whole = reader_.read_any(cache_id, published->slot.location());
        if (whole.outcome == ReadOutcome::unreadable) return Error::io;
        note_if_undecided();
        if (whole.outcome == ReadOutcome::found) {
            const Listed winner = listed_at(hash, *published);
            // Once its original is given up, only the slot would say that it counts.
            if (whole.header.unmoved)
                (void)mark_moved(directory_, {winner.location(), winner.stamp_ns});
            note_losers(winner);
            const std::uint64_t stamp_max_ns = newest_first_ ? published->stamp_ns : UINT64_MAX;
            return publish_in_new(winner, published->slot, stamp_max_ns, examine);
        }
    }
    TRY_ASSIGN(const auto choice, choose());
    if (!choice) return {};
    note_losers(choice->listed);
    const std::uint64_t stamp_ns = choice->listed.stamp_ns;
    if (choice->is_entry)
        return publish_in_new(choice->listed, slot_for(*choice), stamp_ns, examine);
    return take_away(hash, stamp_ns, examine);
}

// Takes what the new index leads to away, unless it is newer.
Status Rebuild::take_away(std::uint64_t hash, std::uint64_t stamp_ns, const Examine &examine) {
    Index &index = *made_->index;
    TRY_ASSIGN(const auto older, find_published(index, hash, examine));
    if (!older || older->stamp_ns > stamp_ns) return {};
    // The record that says so may be gone before this one.
    TRY(mark_removed(directory_, {older->slot.location(), older->stamp_ns}, listing_.boot()));
    index.drop(older->place, older->slot);
    return {};
}

// What may not be read gives way, like what is damaged.
Examine Rebuild::examiner(Bytes key) {
    return [this, key](Slot slot) {
        auto stamp = reader_.read_stamp(old_.identity().cache_id, slot, key);
        if (stamp.error() == Error::denied) return decltype(stamp)(Error::corrupt);
        return stamp;
    };
}

Listed Rebuild::listed_at(std::uint64_t hash, const PublishedSlot &found) {
    const Location location = found.slot.location();
    const std::uint64_t units = location.offset / kRecordAlignment;
    return {hash, found.stamp_ns, location.segment, static_cast<std::uint32_t>(units)};
}

// Unless the new index leads to a record with a stamp above that one. What gives way may be of a
// put that has not come to its end.
Status Rebuild::publish_in_new(const Listed &winner, Slot slot, std::uint64_t stamp_max_ns,
                               const Examine &examine) {
    Index &index = *made_->index;
    return growing(winner.key_hash, [&]() -> Status {
        const auto done =
            publish(index, winner.key_hash, slot, PublishPolicy::replace, stamp_max_ns, examine);
        if (!done.ok()) return done.error();
        if (done->outcome == Published::Outcome::added) index.count_entry();
        if (done->outcome == Published::Outcome::replaced) {
            const Listed other = listed_at(winner.key_hash, done->other);
            losers_.push_back({other, winner});
            listing_.note_undecided(winner.key_hash);
        }
        return {};
    });
}

// Does most of the work before it takes the lock.
Result<bool> Rebuild::put_in_place() {
    TRY(take_newer());
    const auto lock = IndexNameLock::acquire(directory_, kLockPatienceUs);
    if (lock.error() == Error::busy) return false;
    if (!lock.ok()) return lock.error();
    const bool is_done = old_.rebuild_due() == RebuildReason::none;  // by another process
    if (is_done || !old_.is_named(directory_)) return true;
    is_locked_ = true;
    const Status status = take_place();
    is_locked_ = false;
    if (!status.ok()) return status.error();
    return true;
}

Status Rebuild::take_place() {
    TRY(take_newer());
    drop_slots_of_lost_segments();
    // Nobody gives the name of the new one away before this is over.
    TRY_ASSIGN(const ByteLock held, ByteLock::acquire(made_->index->file(), kNameByte, 0));
    old_.seal();
    // What was published before the seal, and the name.
    const Status status = guarded([&]() -> Status {
        TRY(take_newer());
        forget_winners();
        made_->index->take_over(old_, listing_.boot());
        TRY(directory_.rename(made_->name, kIndexFileName));
        is_in_place_ = true;
        return {};
    });
    if (!status.ok()) {
        old_.unseal();
        return status;
    }
    made_->index->take_over_late(old_);
    mark_losers();
    made_->index->take_back(due_);
    return {};
}

// Segments may have been retired since they were listed. The lock is held: none is from now on.
void Rebuild::drop_slots_of_lost_segments() {
    std::unordered_map<std::uint32_t, bool> exists;
    Index &index = *made_->index;
    std::uint64_t count = 0;
    index.for_each([&](Index::Place place, Slot slot) {
        const std::uint32_t segment = slot.location().segment;
        auto [known, is_new] = exists.try_emplace(segment, true);
        if (is_new) {
            const auto info = directory_.info(segment_file_name(segment));
            known->second = info.ok() || info.error() != Error::not_found;
        }
        if (known->second) {
            ++count;
        } else {
            index.drop(place, slot);
        }
        return false;
    });
    index.set_entries(count);
}

void Rebuild::note_losers(const Listed &winner) {
    for (const Listed &listed : key_) {
        const bool is_winner = listed.location() == winner.location();
        if (!listed.dead() && !is_winner) losers_.push_back({listed, winner});
    }
}

// A record may have been chosen after another one was, or its winner may not be there any more.
// Nobody else knows the new index yet: later on damage could hide what it leads to.
void Rebuild::forget_winners() {
    Index &index = *made_->index;
    std::erase_if(losers_, [&](const Loser &loser) {
        const Listed &winner = loser.winner;
        const bool is_copy = loser.listed.stamp_ns == winner.stamp_ns && !winner.removed();
        return index.leads_to(loser.listed.key_hash, loser.listed.location()) ||
               (is_copy && !index.leads_to(winner.key_hash, winner.location()));
    });
}

// Has the records say what was decided. A process that died between publishing and marking did not,
// and a system start made void what others say. All puts that published in the old index were taken
// over, and those that have not, begin again.
void Rebuild::mark_losers() {
    const std::uint64_t boot = listing_.boot();
    for (const Loser &loser : losers_) {
        const Listed &listed = loser.listed;
        const Listed &winner = loser.winner;
        const Location location = listed.location();
        const bool is_copy = listed.stamp_ns == winner.stamp_ns;
        const auto give_up = [&](GivenUp reason) {
            (void)mark_given_up(directory_, {location, listed.stamp_ns}, reason, boot);
        };
        if (winner.removed()) {
            (void)mark_removed(directory_, {location, listed.stamp_ns}, boot);
        } else if (listed.stamp_ns < winner.stamp_ns) {
            give_up(GivenUp::replaced);
        } else if (!is_copy) {
            // One that is not whole needs no mark, and a power loss may spoil that.
            const auto record = reader_.read_any(old_.identity().cache_id, location);
            if (record.outcome != ReadOutcome::found) continue;
            (void)mark_state(directory_, {location, listed.stamp_ns}, RecordState::unused);
        } else {
            give_up(GivenUp::left);
        }
    }
}

}  // namespace cairn
