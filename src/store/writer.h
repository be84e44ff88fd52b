// Appends records to this process's own active segment.
// SPDX-License-Identifier: MIT
//
// A segment has one writer at a time: the process (open file description) that holds the exclusive
// lock on the segment's byte of the lock file. The kernel unlocks it when the process dies, and a
// later process appends behind the last byte, so that short-lived processes do not leave many small
// files. Nobody reads bytes that a crash left behind unpublished.
//
// Thread safety: any thread may append. The mutex is held while a location is chosen, not while
// bytes are written.
// Forking: each process has a state of its own, so a child takes a segment of its own.
// Failure: no_space, full, too_large, busy, io, ...; nothing is published, and the next append
// starts afresh.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/per_process.h"
#include "store/account.h"
#include "store/index.h"
#include "store/record.h"
#include "store/space.h"

namespace cairn {

// Entries that have stayed once lie apart from new ones: most of the new ones go soon, and a segment in
// which all stay need not be copied. The numbers of segments tell which is which.
enum class SegmentKind { fresh, kept };
constexpr SegmentKind kind_of_segment(std::uint32_t segment) {
    return segment < kFirstKeptSegment ? SegmentKind::fresh : SegmentKind::kept;
}

class Writer {
  public:
    // Both outlive the writer.
    Writer(const Directory &directory, Account &account, SegmentKind kind = SegmentKind::fresh)
        : directory_(directory),
          account_(account),
          kind_(kind),
          segment_bytes_(account.limits().segment_bytes) {}
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    // A written record, to be published while this object lives: until then the segment stays
    // locked by us.
    class ActiveSegment;
    struct Appended {
        Location location;
        std::shared_ptr<ActiveSegment> segment;
    };

    // Writes a record. Fills in the checksums that depend on its location.
    Result<Appended> append(Index &index, const RecordHeader &header, Bytes key, Bytes value,
                            Account::Purpose purpose);
    // Whether the record's file is deleted: then no other process can find the record.
    static bool was_deleted(const Appended &record);
    // Grows with each segment that we begin to write to.
    std::uint64_t segments_taken() const { return segments_taken_.load(std::memory_order_relaxed); }

    // Stops writing to the active segment. The next append of any process may take it over.
    void release_segment();

  private:
    struct State {
        Mutex mutex;
        std::shared_ptr<ActiveSegment> active;
    };

    Result<Appended> choose_location(Index &index, std::uint64_t record_size,
                                     Account::Purpose purpose);
    Status reserve(Index &index, ActiveSegment &segment, std::uint64_t end,
                   Account::Purpose purpose);
    Result<std::shared_ptr<ActiveSegment>> take_segment(Index &index, std::uint64_t record_size,
                                                        Account::Purpose purpose);
    Status remove_litter(const Index &index) const;
    void mend_large(const Index &index, const SegmentFile &segment) const;
    std::shared_ptr<ActiveSegment> take_over(Index &index, const DiskUse &use,
                                             std::uint64_t record_size, Account::Purpose purpose);
    std::shared_ptr<ActiveSegment> try_take_over(Index &index, std::uint32_t segment,
                                                 std::uint64_t record_size);
    Result<std::shared_ptr<ActiveSegment>> create_segment(Index &index, const DiskUse &use,
                                                          std::uint64_t record_size,
                                                          Account::Purpose purpose);

    // Constant after construction.
    const Directory &directory_;
    Account &account_;
    const SegmentKind kind_;
    const std::uint64_t segment_bytes_;

    PerProcess<State> state_;
    std::atomic<std::uint64_t> segments_taken_ = 0;
    std::atomic<std::uint64_t> litter_due_ns_ = 0;  // from then on, look for litter again
};

}  // namespace cairn
