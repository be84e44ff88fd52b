// Appends records to this process's own active segment.
// SPDX-License-Identifier: MIT
//
// A segment has one writer at a time: the process (open file description) that holds the exclusive
// lock on the segment's byte of the lock file. The kernel releases the lock when the process dies,
// and a later process goes on behind the last byte, so that short-lived processes do not leave a
// trail of small files. Bytes behind a crash that nobody published are never looked at.
//
// Thread safety: append may be called from any thread. The mutex is held while a place is chosen,
// not while bytes are copied. Forking: the state lives in memory that a child finds zeroed; the
// child then takes a segment of its own.
// Failure: no_space, full, too_large, busy, io, ...; nothing was published, and the next append
// starts afresh.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/mapping.h"
#include "store/index.h"
#include "store/record.h"
#include "store/space.h"

namespace cairn {

enum class WhenFull { make_room, refuse };

struct WriterLimits {
    std::uint64_t limit_bytes;    // all files of the cache together
    std::uint64_t segment_bytes;  // a segment's size; larger records get a segment of their own
    std::uint64_t carry_bytes;    // what all may use when something is carried over
    std::uint64_t put_bytes;      // the same when something is put: so much less that making room
                                  // never lacks room
    std::uint64_t pressed_bytes;  // when more is used, room should be made
};

// Chooses the segment size for a limit: small enough that one segment is a small part of the cache.
// Who refuses instead of making room may fill the cache up to a 32nd.
WriterLimits writer_limits(std::uint64_t limit_bytes, WhenFull when_full = WhenFull::make_room);

class Writer {
  public:
    // `directory` outlives the writer.
    Writer(const Directory &directory, const WriterLimits &limits)
        : directory_(directory), limits_(limits) {}
    ~Writer();
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    // A record that was written, and that is to be published while this object lives: until then it
    // keeps the segment ours.
    class ActiveSegment;
    struct Appended {
        Location location;
        std::shared_ptr<ActiveSegment> segment;
    };
    enum class Purpose { put, carry };

    // Writes a record. Fills in the checksums that depend on the place, which `announce` is told
    // before anything is written there.
    Result<Appended> append(Index &index, const RecordHeader &header, Bytes key, Bytes value,
                            Purpose purpose,
                            const std::function<void(Location)> &announce = nullptr);
    // Makes what was written to the record's segment durable.
    static Status sync(const Appended &record);
    // Whether the record's file is gone: then nobody else can find it.
    static bool was_deleted(const Appended &record);
    // Says of a record what a rebuilding of the index is to make of it. If this fails, an entry may
    // come back with damage. A record that is gone needs no mark.
    Status mark(Location location, std::uint64_t stamp_ns, RecordState state) const;
    // Says that a newer record takes its place, in this system start. Errors as mark().
    Status mark_replaced(Location location, std::uint64_t stamp_ns, std::uint64_t boot) const;

    // Lets the index take an entry of this hash: reserves disk space for a new level, or for a page
    // of one. full: room must be made first; too_large: no room is to be made for that.
    Status grow_index(Index &index, std::uint64_t hash);

    // Whether so little space is left that room should be made, as of the last time that space was
    // taken or measured.
    bool pressed() const { return pressed_.load(std::memory_order_relaxed); }
    // Takes that time now. full: more is used than the limit allows.
    Status measure(Index &index);

    const WriterLimits &limits() const { return limits_; }
    // Grows whenever another segment is written to.
    std::uint64_t segments_taken() const { return segments_taken_.load(std::memory_order_relaxed); }

    // For the evictor and the compactor.
    Result<ByteLock> lock_eviction();
    bool has_no_writer(std::uint32_t segment) const;
    // Keeps writers and whoever makes room away from a segment. busy: somebody writes to it.
    //
    // It holds the segment's byte of the lock file, which no client of a broker is ever lent. It
    // holds the first byte of the segment too, unless a client of a broker does: so two that have
    // different lock files, because one was deleted by hand, still exclude each other. A client can
    // only read, so its lock is shared, and a shared lock keeps nobody away.
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
    // Takes a segment that nothing leads to any more out of the cache. The name of the file that is
    // left to delete; none: somebody has deleted it. REQUIRES: the eviction lock is held.
    Result<std::optional<std::string>> retire_segment(Index &index, std::uint32_t segment) const;
    // Makes all records that were written durable.
    Status sync_segments() const;

    // Stops writing to the active segment, which the next append of any process may take over.
    void release_segment();

  private:
    // All zero: no active segment, mutex unlocked.
    struct State {
        Mutex mutex;
        // Owned; a child leaks its parent's, which are not its own to release.
        std::shared_ptr<ActiveSegment> *active;
        // Owned; a description of this process's own: parent and child must exclude each other.
        std::shared_ptr<File> *lock_file;
    };

    Status change_record(Location location, std::uint64_t stamp_ns, std::size_t offset,
                         Bytes bytes) const;
    // The state, made when it is first needed: most processes only read.
    Result<State *> state();
    struct Place {
        std::shared_ptr<ActiveSegment> segment;
        std::uint64_t offset;
    };
    Status open_lock_file();
    Result<SegmentLock> lock_number(std::uint32_t segment) const;
    Result<ByteLock> lock_byte(std::uint64_t byte);
    Result<DiskUse> measure_and_note();
    struct Space {
        DiskUse use;
        std::optional<ByteLock> lock;
    };
    Result<Space> take_space(Index &index);
    Result<Space> lock_space(Index &index);
    std::uint64_t allowed_bytes(Purpose purpose) const {
        return purpose == Purpose::carry ? limits_.carry_bytes : limits_.put_bytes;
    }
    Result<Place> choose_place(Index &index, std::uint64_t record_size, Purpose purpose);
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

    std::atomic<std::byte *> state_page_ = nullptr;  // wiped in a forked child
    std::atomic<bool> pressed_ = false;
    std::atomic<std::uint64_t> segments_taken_ = 0;
    std::atomic<std::uint64_t> impatient_until_ns_ =
        0;  // a lock could not be had: do not wait for it
};

}  // namespace cairn
