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
// Forking: the state is in memory that a child finds zeroed; the child takes a segment of its own.
// Failure: no_space, full, too_large, busy, io, ...; nothing is published, and the next append
// starts afresh.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/per_process.h"
#include "store/index.h"
#include "store/record.h"
#include "store/space.h"

namespace cairn {

enum class WhenFull { evict, refuse };

struct WriterLimits {
    std::uint64_t limit_bytes;    // all files of the cache together
    std::uint64_t segment_bytes;  // a segment's size; a larger record gets a segment of its own
    std::uint64_t copy_bytes;     // all files, after a copy
    std::uint64_t put_bytes;      // all files, after a put: less, so that eviction never lacks room
    std::uint64_t pressed_bytes;  // if all files hold more, evict
};

// Chooses the segment size for a limit, so that a segment is a small part of the cache. A cache
// that refuses when full may be filled up to a 32nd.
WriterLimits writer_limits(std::uint64_t limit_bytes, WhenFull when_full = WhenFull::evict);

class Writer {
  public:
    // `directory` outlives the writer.
    Writer(const Directory &directory, const WriterLimits &limits)
        : directory_(directory), limits_(limits) {}
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    // A written record, to be published while this object lives: until then the segment stays
    // locked by us.
    class ActiveSegment;
    struct Appended {
        Location location;
        std::shared_ptr<ActiveSegment> segment;
    };
    enum class Purpose { put, copy };

    // Writes a record. Fills in the checksums that depend on its location.
    Result<Appended> append(Index &index, const RecordHeader &header, Bytes key, Bytes value,
                            Purpose purpose);
    // Whether the record's file is deleted: then no other process can find the record.
    static bool was_deleted(const Appended &record);
    // These say something of any record, for rebuilds. If they fail, damage may bring an entry back.
    // They succeed when the record is gone.
    Status mark(Location location, std::uint64_t stamp_ns, RecordState state) const;
    // That it was given up in this system start.
    Status give_up(Location location, std::uint64_t stamp_ns, GivenUp reason,
                   std::uint64_t boot) const;
    // That the slot of its entry leads to it, a copy, now.
    Status mark_moved(Location location, std::uint64_t stamp_ns) const;

    // Makes room in the index for an entry of this hash: reserves disk space for a level, or for a
    // page of one. full: evict first; too_large: that would not be worth it.
    Status grow_index(Index &index, std::uint64_t hash, Purpose purpose = Purpose::put);

    // Whether so little space was left that the store should evict, when somebody last measured.
    bool pressed() const { return pressed_.load(std::memory_order_relaxed); }
    // Measures now. full: the files hold more than the limit.
    Status measure(Index &index);

    // Calls make(), which makes a file of this size, unless the cache would exceed its limit by it.
    // Meanwhile nobody else takes the space. full: there is no room; busy; or as make().
    Status make_file(Index &index, std::uint64_t size, const std::function<Status()> &make);

    const WriterLimits &limits() const { return limits_; }
    // Grows with each segment that we begin to write to.
    std::uint64_t segments_taken() const { return segments_taken_.load(std::memory_order_relaxed); }

    // For all who retire segments, or lead slots to records of segments without a writer.
    // Excludes other threads, too. Waits for `patience_us` longer than for other locks.
    Result<ByteLock> lock_eviction(std::uint64_t patience_us = 0);
    bool has_no_writer(std::uint32_t segment) const;
    // Keeps other writers and the evictor away from a segment. busy: it has a writer.
    //
    // Holds the segment's byte of the lock file, and the first byte of the segment. The second
    // excludes processes with another lock file, after one was deleted by hand. A broker lends its
    // clients the segments for reading, but never the lock file. So a client can at most lock the
    // segment's first byte in shared mode, which excludes nobody.
    class SegmentLock {
      public:
        SegmentLock(SegmentLock &&) = default;
        ~SegmentLock();
        const File &file() const { return file_; }

      private:
        friend class Writer;
        SegmentLock(File lock_file, std::uint32_t segment)
            : lock_file_(std::move(lock_file)), segment_(segment) {}
        Status hold(File file);

        File lock_file_;  // a description of its own
        std::uint32_t segment_;
        File file_;
    };
    Result<SegmentLock> lock_segment(std::uint32_t segment) const;
    // Takes a segment that no slot leads to out of the cache. Returns the name of the file to be
    // deleted; nullopt: another process deleted it. REQUIRES: the eviction lock is held.
    Result<std::optional<std::string>> retire_segment(Index &index, std::uint32_t segment) const;
    // Makes all records durable.
    Status sync_segments() const;

    // Stops writing to the active segment. The next append of any process may take it over.
    void release_segment();

  private:
    struct State {
        Mutex mutex;
        std::shared_ptr<ActiveSegment> active;
        // A description of this process's own: parent and child must exclude each other.
        std::shared_ptr<File> lock_file;
    };

    Status change_record(Location location, std::uint64_t stamp_ns, std::size_t offset,
                         Bytes bytes) const;
    Status open_lock_file();
    Result<SegmentLock> lock_number(std::uint32_t segment) const;
    Result<ByteLock> lock_byte(std::shared_ptr<const File> file, std::uint64_t byte);
    Result<DiskUse> measure_and_note();
    struct Space {
        DiskUse use;
        std::optional<ByteLock> lock;
    };
    Result<Space> take_space(Index &index);
    Result<Space> lock_space(Index &index);
    std::uint64_t allowed_bytes(Purpose purpose) const {
        return purpose == Purpose::copy ? limits_.copy_bytes : limits_.put_bytes;
    }
    Result<Appended> choose_location(Index &index, std::uint64_t record_size, Purpose purpose);
    Status reserve(Index &index, ActiveSegment &segment, std::uint64_t end, Purpose purpose);
    Result<std::shared_ptr<ActiveSegment>> take_segment(Index &index, std::uint64_t record_size,
                                                        Purpose purpose);
    Status remove_litter() const;
    void remove_if_torn(std::uint32_t segment) const;
    std::shared_ptr<ActiveSegment> take_over(Index &index, const DiskUse &use,
                                             std::uint64_t record_size, Purpose purpose);
    std::shared_ptr<ActiveSegment> try_take_over(Index &index, std::uint32_t segment,
                                                 std::uint64_t record_size);
    Result<std::shared_ptr<ActiveSegment>> create_segment(Index &index, const DiskUse &use,
                                                          std::uint64_t record_size,
                                                          Purpose purpose);

    // Constant after construction.
    const Directory &directory_;
    const WriterLimits limits_;

    PerProcess<State> state_;
    std::atomic<bool> pressed_ = false;
    std::atomic<std::uint64_t> segments_taken_ = 0;
    std::atomic<std::uint64_t> impatient_until_ns_ = 0;  // until then, do not wait for locks
    std::atomic<std::uint64_t> litter_due_ns_ = 0;       // from then on, look for litter again
};

}  // namespace cairn
