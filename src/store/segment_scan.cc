// SPDX-License-Identifier: MIT
#include "store/segment_scan.h"

#include <array>

namespace cairn {

Result<std::optional<ScannedRecord>> SegmentScan::next(RecordReader &reader) {
    static_assert(kSegmentHeaderSize == kRecordAlignment);
    while (!at_end()) {
        ScannedRecord record = {{segment_, offset_}, {}, {}};
        ReadRecord read = reader.read_any_key(cache_id_, record.location);
        if (read.outcome == ReadOutcome::unreadable) return Error::io;
        bool ended = false;
        if (read.outcome == ReadOutcome::found) {
            record.header = read.header;
            record.head = std::move(read.blob);
            TRY_ASSIGN(ended, has_end(reader, record));
        }
        if (ended) {
            offset_ += record.header.record_size();
            return std::optional(std::move(record));
        }
        if (!first_gap_) first_gap_ = offset_;
        // A reader that reaches this record through a slot checks only the value, so accept it if
        // the value verifies.
        bool whole = false;
        if (record.head) {
            TRY_ASSIGN(whole, has_value(reader, record));
        }
        if (whole) {
            // Another record may begin where its end should be.
            offset_ +=
                align_up(record.header.value_offset() + record.header.value_size, kRecordAlignment);
            return std::optional(std::move(record));
        }
        TRY(skip_damage(reader));
    }
    return std::optional<ScannedRecord>();
}

// Whether the record has its end, and so was written completely.
Result<bool> SegmentScan::has_end(RecordReader &reader, const ScannedRecord &record) {
    const auto segment = reader.segments().open(segment_);
    if (!segment.ok() && segment.error() == Error::not_found) return false;
    if (!segment.ok()) return segment.error();
    std::array<std::byte, kRecordEndSize> end;
    const std::uint64_t offset =
        record.location.offset + record.header.record_size() - kRecordEndSize;
    TRY_ASSIGN(const std::size_t count, segment->file().read_at(offset, end));
    return count == end.size() && same_bytes(end, record_end(record.head->buffer(), trace_));
}

// A power loss may have taken only the end of a record. One that was removed says that there is no entry: it
// must not be passed by because readers give no value of it.
Result<bool> SegmentScan::has_value(RecordReader &reader, const ScannedRecord &record) const {
    const RecordHeader &header = record.header;
    if (header.state != RecordState::removed) {
        const ReadRecord whole =
            reader.read_any(cache_id_, record.location, RecordReader::Form::stored);
        if (whole.outcome == ReadOutcome::unreadable) return Error::io;
        return whole.outcome == ReadOutcome::found;
    }
    const auto segment = reader.segments().open(segment_);
    if (segment.error() == Error::not_found) return false;
    if (!segment.ok()) return segment.error();
    const BlobRef blob = Blob::allocate(header.value_size);
    if (!blob) return Error::no_memory;
    const MutableBytes value = blob->buffer().first(header.value_size);
    const std::uint64_t offset = record.location.offset + header.value_offset();
    TRY_ASSIGN(const std::size_t count, segment->file().read_at(offset, value));
    return count == value.size() && value_checksum(value) == header.value_check;
}

// Moves on to the next offset that begins like a record.
Status SegmentScan::skip_damage(RecordReader &reader) {
    offset_ += kRecordAlignment;
    const auto segment = reader.segments().open(segment_);
    if (!segment.ok()) {
        offset_ = size_bytes_;
        if (segment.error() == Error::not_found) return {};  // deleted meanwhile
        return segment.error();
    }
    std::array<std::byte, 16384> window;
    while (!at_end()) {
        // A hole may be as long as a file, and reading it would take seconds.
        const auto data = segment->file().next_data(offset_);
        if (data.error() == Error::not_found) {
            offset_ = size_bytes_;
            return {};
        }
        if (data.ok())
            offset_ = std::max(offset_, data.value() / kRecordAlignment * kRecordAlignment);
        TRY_ASSIGN(const std::size_t count, segment->file().read_at(offset_, window));
        if (count < kRecordHeaderSize) {
            offset_ = size_bytes_;
            return {};
        }
        std::size_t i = 0;
        for (; i + kRecordHeaderSize <= count; i += kRecordAlignment) {
            if (get_le<std::uint32_t>(window, i) != kRecordMagic) continue;
            offset_ += i;
            return {};
        }
        offset_ += i;
    }
    return {};
}

}  // namespace cairn
