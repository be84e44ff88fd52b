// SPDX-License-Identifier: MIT
#include "store/listing.h"

#include <algorithm>

#include "os/environment.h"
#include "store/locks.h"

namespace cairn {

void Listing::begin(std::vector<SegmentFile> segments, Index &made) {
    made_ = &made;
    segments_ = std::move(segments);
    for (const SegmentFile &file : segments_) bytes_total_ += file.size_bytes;
    bytes_left_ = bytes_total_;
}

Result<bool> Listing::list_all(std::uint64_t deadline_ns) {
    for (unsigned count = 0; !segments_.empty(); ++count) {
        if (count % 16 == 15 && monotonic_ns() > deadline_ns) return false;
        const std::uint64_t before = scan_ ? scan_->offset() : 0;
        if (!scan_) TRY(begin_segment(segments_.back().segment, kSegmentHeaderSize));
        TRY_ASSIGN(const bool has_more, list_record());
        bytes_left_ -= std::min(bytes_left_, scan_->offset() - before);
        if (has_more) continue;
        segments_.pop_back();
        scan_.reset();
    }
    if (!found_.empty()) {
        note_stamps();
        first_ = std::move(found_);
        std::sort(first_.begin(), first_.end());
        found_.clear();
    }
    return true;
}

Status Listing::begin_segment(std::uint32_t segment, std::uint64_t from) {
    // The size before the writer: if there is none then, all up to that size is written, and a writer
    // that takes over later writes behind it.
    const auto info = directory_.info(segment_file_name(segment));
    if (!info.ok() && info.error() != Error::not_found) return info.error();
    scanned_size_ = info.ok() ? info->size_bytes : 0;
    scanned_is_final_ = has_no_writer(directory_, segment);
    // A segment that may not be read does not keep us from the others.
    const bool is_denied = reader_.segments().open(segment).error() == Error::denied;
    if (is_denied && !reader_.segments().is_unreadable(segment)) return Error::denied;
    if (is_denied) scanned_size_ = 0;
    scan_.emplace(old_.identity(), segment, scanned_size_, from);
    return {};
}

// The next one of the segment that was begun. False: there are no more.
Result<bool> Listing::list_record() {
    TRY_ASSIGN(const auto record, scan_->next(reader_));
    if (record) {
        add(*record);
        return true;
    }
    // In a segment with a writer, a record that is being written may lie before finished ones.
    if (!scanned_is_final_) written_.insert(scan_->segment());
    listed_to_[scan_->segment()] =
        scanned_is_final_ ? align_up(scanned_size_, kRecordAlignment) : scan_->first_gap();
    return false;
}

std::uint64_t Listing::boot() const {
    const std::uint64_t known = reader_.boot();
    return known != 0 ? known : old_.boot(std::memory_order_relaxed);
}

Listing::Fate Listing::fate_of(const RecordHeader &header) const {
    const std::uint64_t boot = this->boot();
    if (header.state == RecordState::unused) return Fate::ignored;
    // Also a copy that is unmoved: it was found by its slot.
    if (header.state == RecordState::removed || header.was_replaced(boot)) return Fate::dead;
    if (header.was_left(boot)) return Fate::ignored;
    return header.unmoved ? Fate::unmoved : Fate::live;
}

void Listing::add(const ScannedRecord &record) {
    const RecordHeader &header = record.header;
    const Fate fate = fate_of(header);
    if (fate == Fate::ignored) return;
    const auto place = static_cast<std::uint32_t>(record.location.offset / kRecordAlignment);
    const std::uint32_t flags = (fate == Fate::dead ? Listed::kDead : 0) |
                                (header.state == RecordState::removed ? Listed::kRemoved : 0) |
                                (header.removal ? Listed::kRemoval : 0);
    found_.push_back({header.key_hash, header.stamp_ns, record.location.segment, place | flags});
    // The slot of its entry may be about to move to it.
    if (fate == Fate::unmoved) undecided_.push_back(header.key_hash);
}

void Listing::note_stamps() {
    for (const Listed &listed : found_) {
        old_.raise_stamp(listed.stamp_ns);
        made_->raise_stamp(listed.stamp_ns);
    }
}

Status Listing::list_newer() {
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory_));
    for (const SegmentFile &file : use.segments) {
        const auto known = listed_to_.try_emplace(file.segment, kSegmentHeaderSize).first;
        if (known->second >= file.size_bytes) continue;
        TRY(begin_segment(file.segment, known->second));
        for (bool has_more = true; has_more;) {
            TRY_ASSIGN(has_more, list_record());
        }
    }
    scan_.reset();
    note_stamps();
    const auto known_end = static_cast<std::ptrdiff_t>(newer_.size());
    for (const Listed &listed : found_) {
        const bool is_known =
            std::binary_search(first_.begin(), first_.end(), listed) ||
            std::binary_search(newer_.begin(), newer_.begin() + known_end, listed);
        if (is_known) continue;
        newer_.push_back(listed);
        undecided_.push_back(listed.key_hash);
    }
    std::sort(newer_.begin(), newer_.end());
    found_.clear();
    return {};
}

void Listing::collect(std::uint64_t key_hash, std::vector<Listed> &records) const {
    records.clear();
    for (const std::vector<Listed> *list : {&first_, &newer_}) {
        const auto begin = std::ranges::lower_bound(*list, key_hash, {}, &Listed::key_hash);
        const auto end = std::ranges::upper_bound(*list, key_hash, {}, &Listed::key_hash);
        records.insert(records.end(), begin, end);
    }
    std::sort(records.rbegin(), records.rend());
}

std::vector<std::uint64_t> Listing::take_undecided() {
    std::vector<std::uint64_t> hashes = std::move(undecided_);
    undecided_.clear();
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    return hashes;
}

}  // namespace cairn
