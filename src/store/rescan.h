// Finds the entries that segments hold and a damaged or lost index lacks, and publishes them again.
// SPDX-License-Identifier: MIT
//
// First the damaged slots are emptied; from then on a search is due (Index::ask_for_search), until
// one has come to its end. Then all records are listed, by their headers. Then, key by key, the
// newest record that is whole is published, unless a newer one says that the key was removed. In
// this order nothing is published that an older call has long replaced or removed.
//
// Meanwhile others go on storing and removing. Before an older record is published in a place where
// none is, it has to be known that no newer one was taken out since the listing: our tentative slot
// keeps others from publishing the key, whoever took an entry out before has counted that
// (Counter:: removals), and when that count has changed, what was written since is listed too.
//
// Runs in steps, so that the look-up that needs it is delayed by a bounded time; several processes
// may do it at once, since publishing an entry twice is publishing it once. Takes 24 bytes of
// memory for each record while it lasts.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
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
        bool operator==(const Listed &) const = default;
        // Of a record and its copy the one that was removed counts.
        friend bool operator<(const Listed &a, const Listed &b) {
            return std::tuple(a.key_hash, a.stamp_ns, a.removed(), a.segment, a.place) <
                   std::tuple(b.key_hash, b.stamp_ns, b.removed(), b.segment, b.place);
        }
    };
    static constexpr std::uint32_t kRemoved = 1u << 31;
    // Up to where a segment is listed. All that is written to it later lies behind that.
    struct ListedTo {
        std::uint32_t segment;
        std::uint64_t offset;
    };
    enum class Adopted {
        settled,     // nothing older of the key may be published
        not_whole,   // an older one may be published
        given_up,    // replaced, or its segment was given up: only a copy of it may be published
        superseded,  // newer records have been listed: begin again with those
    };

    bool counts(const RecordHeader &header) const;
    Status begin();
    Status list_record();
    Status begin_segment(std::uint32_t segment, std::uint64_t from);
    ListedTo end_segment() const;
    Status list_newer();
    Status list_tail(std::uint32_t segment, std::uint64_t size_bytes);
    void add(std::vector<Listed> &listed, const ScannedRecord &record) const;
    std::span<const Listed> newer_of_key() const;
    Status settle_key();
    Result<Adopted> settle_records();
    Result<Adopted> adopt(const Listed &listed, bool has_older);
    Result<Adopted> publish_record(const Listed &listed, const RecordHeader &header, Bytes key);
    Result<bool> may_publish(const Listed &listed, Adopted &why_not);
    void mark_others(std::uint64_t stamp_ns);
    bool has_slot(const Listed &listed) const;
    void tell_compactor(const Listed &listed);
    Result<RecordState> state_now(const Listed &listed);
    bool is_superseded(const Listed &listed) const;
    Result<bool> segment_exists(std::uint32_t segment) const;
    Status take_back(const Listed &removal);
    Examine examiner(Bytes key, std::uint64_t stamp_ns);

    const Directory &directory_;
    Index &index_;
    RecordReader &reader_;
    Writer &writer_;

    bool begun_ = false;
    std::uint64_t due_ = 0;  // Counter::rescan when the search began
    bool sorted_ = false;
    std::vector<SegmentFile> segments_;  // still to be listed; the last one is under way
    std::optional<SegmentScan> scan_;
    bool scanned_is_final_ = false;  // nobody wrote to the segment when its size was asked for
    std::uint64_t scanned_size_ = 0;
    std::vector<Listed> listed_;  // sorted: one key's together, its newest last
    std::vector<Listed> newer_;   // sorted; written since
    std::vector<Listed> key_;     // the records of the key that is being settled, newest first
    std::vector<ListedTo> listed_to_;
    std::uint64_t removals_ = 0;  // as counted before the last listing
    std::uint64_t recovered_ = 0;
    std::uint64_t bytes_total_ = 0;
    std::uint64_t bytes_left_ = 0;
};

}  // namespace cairn
