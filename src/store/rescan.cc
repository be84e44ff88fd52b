// SPDX-License-Identifier: MIT
#include "store/rescan.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "os/environment.h"
#include "store/publish.h"

namespace cairn {

Status Rescan::begin() {
    TRY_ASSIGN(DiskUse use, measure_disk_use(directory_));
    segments_ = std::move(use.segments);
    for (const SegmentFile &file : segments_) bytes_total_ += file.size_bytes;
    bytes_left_ = bytes_total_;
    begun_ = true;
    return {};
}

Result<bool> Rescan::step(std::uint64_t deadline_ns) {
    if (!begun_) TRY(begin());
    for (unsigned count = 0; !segments_.empty(); ++count) {
        if (count % 16 == 15 && monotonic_ns() > deadline_ns) return false;
        TRY(list_record());
    }
    if (!sorted_) {
        std::sort(listed_.begin(), listed_.end(), [](const Listed &a, const Listed &b) {
            // Of a record and its copy the one that was removed counts.
            return std::tuple(a.key_hash, a.stamp_ns, a.removed()) <
                   std::tuple(b.key_hash, b.stamp_ns, b.removed());
        });
        // Stamps go on from the latest, also if the counter was lost.
        for (const Listed &listed : listed_) index_.raise_stamp(listed.stamp_ns);
        sorted_ = true;
    }
    for (unsigned count = 0; !listed_.empty(); ++count) {
        if (count % 16 == 15 && monotonic_ns() > deadline_ns) return false;
        TRY(settle_key());
    }
    // Everything that is stored is published now; what still looks damaged has nothing behind it.
    index_.clear_damaged();
    index_.counter(Counter::rescan).store(static_cast<std::uint64_t>(RescanReason::none));
    return true;
}

// Lists the next record.
Status Rescan::list_record() {
    const SegmentFile &file = segments_.back();
    const std::uint64_t before = scan_ ? scan_->offset() : 0;
    if (!scan_) scan_.emplace(index_.identity().cache_id, file.segment, file.size_bytes);
    TRY_ASSIGN(const auto record, scan_->next(reader_));
    bytes_left_ -= std::min(bytes_left_, scan_->offset() - before);
    if (!record) {
        segments_.pop_back();
        scan_.reset();
        return {};
    }
    const RecordHeader &header = record->header;
    if (header.state == RecordState::unused) return {};
    const auto place = static_cast<std::uint32_t>(record->location.offset / kRecordAlignment);
    const std::uint32_t removed = header.state == RecordState::removed ? kRemoved : 0;
    listed_.push_back(
        {header.key_hash, header.stamp_ns, record->location.segment, place | removed});
    return {};
}

// Decides on one key, from its newest record down.
Status Rescan::settle_key() {
    const std::uint64_t hash = listed_.back().key_hash;
    bool settled = false;
    for (; !listed_.empty() && listed_.back().key_hash == hash; listed_.pop_back()) {
        if (settled) continue;
        if (listed_.back().removed()) {
            TRY(take_back(listed_.back()));
            settled = true;
        } else {
            const bool has_older =
                listed_.size() > 1 && listed_[listed_.size() - 2].key_hash == hash;
            TRY_ASSIGN(settled, adopt(listed_.back(), has_older));
        }
    }
    return {};
}

// Tells how new a rival is. One that claims to be newer than `stamp_ns` must be whole: after a
// power loss its header may be there without its value.
Examine Rescan::examiner(Bytes key, std::uint64_t stamp_ns) {
    return [this, key, stamp_ns](Slot rival) -> Result<std::optional<SameKey>> {
        const std::uint64_t cache_id = index_.identity().cache_id;
        const ReadKey head = reader_.read_key(cache_id, rival, key);
        if (head.outcome == ReadOutcome::unreadable) return Error::io;
        if (head.outcome == ReadOutcome::damaged) return Error::corrupt;
        if (head.outcome != ReadOutcome::found) return std::optional<SameKey>();
        if (head.header.stamp_ns < stamp_ns) return std::optional(SameKey{head.header.stamp_ns});
        const ReadBlob whole = reader_.read(cache_id, rival, key);
        if (whole.outcome == ReadOutcome::unreadable) return Error::io;
        const bool good = whole.outcome == ReadOutcome::found;
        return std::optional(SameKey{good ? head.header.stamp_ns : 0});
    };
}

// Publishes a record; false: it is not whole.
Result<bool> Rescan::adopt(const Listed &listed, bool has_older) {
    const Location location = listed.location();
    const std::uint64_t hash = listed.key_hash;
    const bool known = index_.probe(hash, [&](Index::Place, Slot slot) {
        return !slot.tentative() && slot.location() == location;
    });
    if (known && !has_older) return true;  // whoever reads it verifies it
    RecordHeader header;
    const ReadBlob whole = reader_.read_any(index_.identity().cache_id, location, header);
    if (whole.outcome == ReadOutcome::unreadable) return Error::io;
    if (whole.outcome != ReadOutcome::found) return false;
    if (known) return true;
    if (index_.hash(whole.blob->key()) != hash) return false;
    if (header.state == RecordState::removed) {  // since it was listed
        TRY(take_back(listed));
        return true;
    }
    if (header.state != RecordState::live) return false;
    const Slot slot = Slot::make(location, size_class(header.record_size()), Slot::tag_of(hash));
    for (;;) {
        const auto published = publish(index_, hash, slot, PublishPolicy::if_newer, header.stamp_ns,
                                       examiner(whole.blob->key(), header.stamp_ns));
        if (published.ok()) {
            const auto outcome = published->outcome;
            if (outcome == Published::Outcome::added) {
                index_.counter(Counter::entries).fetch_add(1);
            }
            if (outcome != Published::Outcome::exists) ++recovered_;
            // Whoever removes marks first and looks for the slot then: one of us sees the other.
            const ReadBlob now = reader_.read_any_key(index_.identity().cache_id, location, header);
            const bool removed =
                now.outcome == ReadOutcome::found && header.state == RecordState::removed;
            if (removed) TRY(take_back(listed));
            return true;
        }
        if (published.error() != Error::full) return published.error();
        if (index_.free_damaged(hash)) continue;
        const Status grown = writer_.grow_index(index_);
        if (grown.ok()) continue;
        // An index that may not grow holds as many entries as it can.
        if (grown.error() == Error::full || grown.error() == Error::too_large) return true;
        return grown.error();
    }
}

// Takes back what was published although a later record says that the key was removed.
Status Rescan::take_back(const Listed &removal) {
    RecordHeader header;
    const ReadBlob record =
        reader_.read_any_key(index_.identity().cache_id, removal.location(), header);
    if (record.outcome == ReadOutcome::unreadable) return Error::io;
    if (record.outcome != ReadOutcome::found) return {};
    TRY_ASSIGN(const auto found,
               find_published(index_, removal.key_hash, examiner(record.blob->key(), UINT64_MAX)));
    if (!found || found->stamp_ns > removal.stamp_ns) return {};
    std::uint64_t word = found->slot.word();
    if (found->place.ref().compare_exchange_strong(word, kEmptySlot)) {
        index_.counter(Counter::entries).fetch_sub(1);
    }
    return {};
}

}  // namespace cairn
