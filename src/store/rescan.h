// Finds the entries that segments hold and a damaged or lost index lacks, and publishes them again.
// SPDX-License-Identifier: MIT
//
// First all records are listed, by their headers. Then, key by key, the newest record that is whole
// is published, unless a newer one says that the key was removed. In this order nothing is
// published that an older call has long replaced or removed.
//
// Runs in steps, so that the look-up that needs it is delayed by a bounded time; several processes
// may do it at once, since publishing an entry twice is publishing it once. Takes 24 bytes of
// memory for each record while it lasts.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "os/file.h"
#include "store/index.h"
#include "store/publish.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/space.h"
#include "store/writer.h"

namespace cairn {

class Rescan {
  public:
    // All outlive the Rescan.
    Rescan(const Directory &directory, Index &index, RecordReader &reader, Writer &writer)
        : directory_(directory), index_(index), reader_(reader), writer_(writer) {}

    // Goes on until everything has been looked at (true) or the time is up (false). After an error,
    // which is that of a file that could not be read or of an index that could not grow, nothing is
    // concluded from what was not found.
    Result<bool> step(std::uint64_t deadline_ns);

    std::uint64_t recovered() const { return recovered_; }
    std::uint64_t bytes_total() const { return bytes_total_; }
    std::uint64_t bytes_left() const { return bytes_left_; }

  private:
    struct Listed {
        std::uint64_t key_hash;
        std::uint64_t stamp_ns;
        std::uint32_t segment;
        std::uint32_t place;  // offset in units of kRecordAlignment; the state in the top bit
        Location location() const {
            return {segment, std::uint64_t{place & ~kRemoved} * kRecordAlignment};
        }
        bool removed() const { return (place & kRemoved) != 0; }
    };
    static constexpr std::uint32_t kRemoved = 1u << 31;

    Status begin();
    Status list_record();
    Status settle_key();
    Result<bool> adopt(const Listed &listed, bool has_older);
    Status take_back(const Listed &removal);
    Examine examiner(Bytes key, std::uint64_t stamp_ns);

    const Directory &directory_;
    Index &index_;
    RecordReader &reader_;
    Writer &writer_;

    bool begun_ = false;
    bool sorted_ = false;
    std::vector<SegmentFile> segments_;  // still to be listed; the last one is under way
    std::optional<SegmentScan> scan_;
    std::vector<Listed> listed_;  // sorted: one key's together, its newest last
    std::uint64_t recovered_ = 0;
    std::uint64_t bytes_total_ = 0;
    std::uint64_t bytes_left_ = 0;
};

}  // namespace cairn
