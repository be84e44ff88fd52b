// Reads records from segments and verifies them.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods, from any thread.
// Failure: `dead`, `damaged` and `unreadable` (no descriptor, an I/O error, which say nothing about the
// entry) are outcomes of their own; neither passes for a hit. std::bad_alloc without memory.
#pragma once

#include <atomic>
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
    other_key,   // a good record of another key
    dead,        // a good record of an entry that was removed or replaced
    damaged,     // or no longer there
    unreadable,  // cannot tell now
};

struct ReadBlob {
    ReadOutcome outcome;
    BlobRef blob = {};  // with `found`
};

struct ReadInto {
    ReadOutcome outcome;
    std::size_t value_size = 0;  // with `found`; if it fits, the value is in the buffer
    std::uint32_t cost_us = 0;
};

struct ReadRecord {
    ReadOutcome outcome;
    BlobRef blob = {};  // with `found`: the key, and the value if it was read
    RecordHeader header = {};
};

class RecordReader {
  public:
    // See SegmentTable.
    explicit RecordReader(const Directory &directory, LentFiles *lent = nullptr)
        : segments_(directory, lent) {}

    // `stored` leaves a compressed value as it is; `raw` decompresses it.
    enum class Form { raw, stored };

    // The entry behind a slot, verified, if it has this key.
    ReadBlob read(std::uint64_t cache_id, Slot slot, Bytes key, Form form = Form::raw);
    // As read(), without waiting for the disk. Only `found` says anything about the entry.
    ReadBlob read_cached(std::uint64_t cache_id, Slot slot, Bytes key);
    // As read(), into a buffer, which it may overwrite in any case. Avoids a copy unless the key is
    // long.
    ReadInto read_into(std::uint64_t cache_id, Slot slot, Bytes key, MutableBytes buffer);
    // As read(), but neither reads nor verifies the value.
    ReadRecord read_key(std::uint64_t cache_id, Slot slot, Bytes key);
    // The stamp of the record behind a slot; nullopt: it has another key. corrupt: it is damaged or
    // dead; denied: the segment may not be read; io: it is unreadable.
    Result<std::optional<std::uint64_t>> read_stamp(std::uint64_t cache_id, Slot slot, Bytes key);
    // Key and header of the record at a location, which may be dead.
    ReadRecord read_any_key(std::uint64_t cache_id, Location location);
    // The same with the verified value.
    ReadRecord read_any(std::uint64_t cache_id, Location location, Form form = Form::raw);

    // Has records that were replaced in this system start read as dead. Before, what they say counts
    // for nothing, as the newer one may have been lost.
    void set_boot(std::uint64_t boot) { boot_.store(boot, std::memory_order_relaxed); }
    std::uint64_t boot() const { return boot_.load(std::memory_order_relaxed); }

    bool is_dead(const RecordHeader &header) const;

    SegmentTable &segments() { return segments_; }

  private:
    // File::read_at() or File::read_cached_at().
    using ReadAt = Result<std::size_t> (File::*)(std::uint64_t, MutableBytes) const;

    static Result<std::size_t> bytes_to_read(const File &file, ReadAt read_at, Slot slot);
    template <typename Outcome, typename Read>
    Outcome read_twice(Location location, Read read);
    ReadBlob read_through(const File &file, ReadAt read_at, std::uint64_t seed, Slot slot,
                          Bytes key, Form form);
    ReadBlob expand(Bytes key, Bytes frame, const RecordHeader &header);
    ReadInto read_into_through(const File &file, std::uint64_t seed, Slot slot, Bytes key,
                               MutableBytes buffer);

    std::atomic<std::uint64_t> boot_ = 0;
    SegmentTable segments_;
    Decompressor decompressor_;
};

}  // namespace cairn
