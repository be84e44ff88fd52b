// Walks over the records of a segment, past whatever is damaged or was never finished.
// SPDX-License-Identifier: MIT
//
// Thread safety: belongs to one thread.
// Failure: an error is one of the system's; damage is skipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "store/record_reader.h"

namespace cairn {

struct ScannedRecord {
    Location location;
    RecordHeader header;
    BlobRef head;  // its key; no value
};

class SegmentScan {
  public:
    // From the first record; or from the first one at or behind `offset`.
    SegmentScan(std::uint64_t cache_id, std::uint32_t segment, std::uint64_t size_bytes,
                std::uint64_t offset = kRecordAlignment)
        : cache_id_(cache_id),
          segment_(segment),
          size_bytes_(std::min(size_bytes, kSegmentBytesMax)),
          offset_(offset) {}

    // The next record that was written to its end, or whose value verifies, and whose header and
    // key do; nullopt at the end of the segment.
    Result<std::optional<ScannedRecord>> next(RecordReader &reader);
    bool at_end() const { return offset_ + kRecordHeaderSize > size_bytes_; }
    std::uint32_t segment() const { return segment_; }
    // Bytes behind us.
    std::uint64_t offset() const { return offset_; }
    // Where records no longer follow one another: there one may be under way.
    std::uint64_t first_gap() const { return first_gap_.value_or(offset_); }

  private:
    // No slot leads to a record that begins later, however long a file was made.
    static constexpr std::uint64_t kSegmentBytesMax = kRecordAlignment << kOffsetBits;

    Result<bool> has_end(RecordReader &reader, const ScannedRecord &record);
    Result<bool> has_value(RecordReader &reader, const ScannedRecord &record) const;
    Status skip_damage(RecordReader &reader);

    std::uint64_t cache_id_;
    std::uint32_t segment_;
    std::uint64_t size_bytes_;
    std::uint64_t offset_;
    std::optional<std::uint64_t> first_gap_;
};

}  // namespace cairn
