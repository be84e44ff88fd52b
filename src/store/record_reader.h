// Reads records from segments and verifies them.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods may be called from any thread.
// Failure: damage is an outcome (`damaged`), apart from what says nothing about the entry
// (`unreadable`: no descriptor, an I/O
//   error); neither is ever taken for a hit. std::bad_alloc without memory.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "os/file.h"
#include "store/blob.h"
#include "store/codec.h"
#include "store/record.h"
#include "store/segment_table.h"
#include "store/slot.h"

namespace cairn {

enum class ReadOutcome {
    found,
    other_key,   // a good record, of another key
    damaged,     // not what was written there, or no longer there
    unreadable,  // cannot be told now
};

struct ReadBlob {
    ReadOutcome outcome;
    BlobRef blob;  // with `found`
};

struct ReadInto {
    ReadOutcome outcome;
    std::uint64_t value_size = 0;  // with `found`; the value is in the buffer if it fits there
    std::uint32_t cost_us = 0;
};

struct ReadKey {
    ReadOutcome outcome;
    RecordHeader header;  // with `found`
};

class RecordReader {
  public:
    // As for SegmentTable.
    explicit RecordReader(const Directory &directory, LentFiles *lent = nullptr)
        : segments_(directory, lent) {}

    // The entry behind a slot, whole and verified, if it has this key.
    ReadBlob read(std::uint64_t cache_id, Slot slot, Bytes key);
    // The same without waiting for the disk; anything but `found` says nothing about the entry.
    ReadBlob read_cached(std::uint64_t cache_id, Slot slot, Bytes key);
    // As read(), into a buffer, of which all may be overwritten whatever the outcome. Without a
    // copy on the way, where the key is of ordinary size.
    ReadInto read_into(std::uint64_t cache_id, Slot slot, Bytes key, MutableBytes buffer);
    // The same without the value, which is neither read nor verified.
    ReadKey read_key(std::uint64_t cache_id, Slot slot, Bytes key);
    // Key and header of the entry at a place, whatever key it has.
    ReadBlob read_any_key(std::uint64_t cache_id, Location location, RecordHeader &header);
    // The same with the value, verified.
    ReadBlob read_any(std::uint64_t cache_id, Location location, RecordHeader &header);
    // The same with the value as it is stored: compressed, where the header says so.
    ReadBlob read_stored(std::uint64_t cache_id, Location location, RecordHeader &header);

    SegmentTable &segments() { return segments_; }

  private:
    enum class Form { raw, stored };

    ReadBlob read(std::uint64_t cache_id, Slot slot, Bytes key, Form form);
    ReadBlob read_any(std::uint64_t cache_id, Location location, RecordHeader &header, Form form);
    ReadBlob read_through(const SegmentTable::Reader &segment, std::uint64_t seed, Slot slot,
                          Bytes key, Form form);
    ReadBlob expand(Bytes key, Bytes frame, const RecordHeader &header);

    ReadBlob read_head(const SegmentTable::Reader &segment, std::uint64_t cache_id,
                       Location location, RecordHeader &header);
    ReadInto read_into_through(const SegmentTable::Reader &segment, std::uint64_t seed, Slot slot,
                               Bytes key, MutableBytes buffer);
    SegmentTable segments_;
    Decompressor decompressor_;
};

}  // namespace cairn
