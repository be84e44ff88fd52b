// Lists the records of all segments by their headers, for a rebuild of the index (store/rebuild.h).
// SPDX-License-Identifier: MIT
//
// Lists all of them once, in steps, and then again and again what was written or has died since. It
// takes 24 bytes of memory for each record.
//
// Thread safety: externally synchronised.
// Failure: a file that cannot be read now.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "os/file.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/space.h"

namespace cairn {

// A record that says something of its key.
struct Listed {
    static constexpr std::uint32_t kDead = 1u << 31;
    static constexpr std::uint32_t kRemoved = 1u << 30;
    static constexpr std::uint32_t kRemoval = 1u << 29;
    static_assert(kOffsetBits <= 29);

    std::uint64_t key_hash;
    std::uint64_t stamp_ns;
    std::uint32_t segment;
    std::uint32_t place;  // offset in units of kRecordAlignment, and flags above it

    Location location() const {
        return {segment, std::uint64_t{place & (kRemoval - 1)} * kRecordAlignment};
    }
    bool dead() const { return (place & kDead) != 0; }
    bool removed() const { return (place & kRemoved) != 0; }     // and dead
    bool is_removal() const { return (place & kRemoval) != 0; }  // and removed
    bool operator==(const Listed &) const = default;
    // Of a record and its copy, the dead one counts.
    friend bool operator<(const Listed &a, const Listed &b) {
        return std::tuple(a.key_hash, a.stamp_ns, a.dead(), a.segment, a.place) <
               std::tuple(b.key_hash, b.stamp_ns, b.dead(), b.segment, b.place);
    }
};

class Listing {
  public:
    // All outlive the Listing. `index` is the one to be replaced.
    Listing(const Directory &directory, Index &index, RecordReader &reader)
        : directory_(directory), old_(index), reader_(reader) {}

    // Lists these segments first. `made`: the new index. Both give stamps above all that are listed,
    // even if the last one was lost.
    void begin(std::vector<SegmentFile> segments, Index &made);
    // False: the time is up.
    Result<bool> list_all(std::uint64_t deadline_ns);
    // Lists what was written since the last listing, or has died. A segment with a writer is listed
    // from its first gap again.
    Status list_newer();

    // By list_all(), sorted: a key's records together, the newest last.
    const std::vector<Listed> &first() const { return first_; }
    // All records of a key, the newest first. One that has died since it was listed may be there
    // twice.
    void collect(std::uint64_t key_hash, std::vector<Listed> &records) const;
    // Of which the records may not have been finished.
    bool had_writer(std::uint32_t segment) const { return written_.contains(segment); }

    // Keys to be looked at again: those with newer records, with a record of a put that may not have
    // come to its end, or with an unmoved copy.
    void note_undecided(std::uint64_t key_hash) { undecided_.push_back(key_hash); }
    std::vector<std::uint64_t> take_undecided();

    // What a record says of its key: there is an entry, there is none, nothing, nothing yet.
    enum class Fate { live, dead, ignored, unmoved };
    Fate fate_of(const RecordHeader &header) const;
    // This system start: what the process knows, as damage to the index may just have changed what
    // that says.
    std::uint64_t boot() const;

    std::uint64_t bytes_total() const { return bytes_total_; }
    std::uint64_t bytes_left() const { return bytes_left_; }

  private:
    Status begin_segment(std::uint32_t segment, std::uint64_t from);
    Result<bool> list_record();
    void add(const ScannedRecord &record);
    void note_stamps();

    const Directory &directory_;
    Index &old_;
    Index *made_ = nullptr;
    RecordReader &reader_;

    std::vector<SegmentFile> segments_;  // still to be listed; the last one is being listed
    std::optional<SegmentScan> scan_;
    bool scanned_is_final_ = false;  // the segment had no writer after we asked for its size
    std::uint64_t scanned_size_ = 0;
    std::vector<Listed> found_;  // by the listing at hand
    std::vector<Listed> first_;
    std::vector<Listed> newer_;  // since then, sorted
    std::vector<std::uint64_t> undecided_;
    // How far a segment is listed. Everything written to it later is behind this offset.
    std::unordered_map<std::uint32_t, std::uint64_t> listed_to_;
    std::unordered_set<std::uint32_t> written_;  // segments that had a writer when they were listed
    std::uint64_t bytes_total_ = 0;
    std::uint64_t bytes_left_ = 0;
};

}  // namespace cairn
