// Walks over the records of a segment, past damaged and unfinished ones.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Failure: system errors only; damage is skipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "store/record_reader.h"
#include "store/segment_format.h"

namespace cairn {

struct ScannedRecord {
    Location location;
    RecordHeader header;
    BlobRef head;  // has the key but no value
};

class SegmentScan {
  public:
    // From the first record, or from the first one at or behind `offset`.
    SegmentScan(const CacheIdentity &identity, std::uint32_t segment, std::uint64_t size_bytes,
                std::uint64_t offset = kRecordAlignment)
        : cache_id_(identity.cache_id),
          trace_(trace_of(identity)),
          segment_(segment),
          size_bytes_(std::min(size_bytes, kSegmentBytesMax)),
          offset_(offset) {}

    // The next record whose header and key verify, and which has its end or whose value verifies;
    // nullopt at the end of the segment.
    Result<std::optional<ScannedRecord>> next(RecordReader &reader);
    bool at_end() const { return offset_ + kRecordHeaderSize > size_bytes_; }
    std::uint32_t segment() const { return segment_; }
    // How far the scan has come, in bytes.
    std::uint64_t offset() const { return offset_; }
    // Where the records first stopped following one another: a writer may be writing one there.
    std::uint64_t first_gap() const { return first_gap_.value_or(offset_); }

  private:
    // No slot can lead to a record behind this, however long the file is.
    static constexpr std::uint64_t kSegmentBytesMax = kRecordAlignment << kOffsetBits;

    Result<bool> has_end(RecordReader &reader, const ScannedRecord &record);
    Result<bool> has_value(RecordReader &reader, const ScannedRecord &record) const;
    Status skip_damage(RecordReader &reader);

    std::uint64_t cache_id_;
    std::uint64_t trace_;
    std::uint32_t segment_;
    std::uint64_t size_bytes_;
    std::uint64_t offset_;
    std::optional<std::uint64_t> first_gap_;
};

}  // namespace cairn
