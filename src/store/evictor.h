// Makes room: gives up whole segments, and carries over what the policy wants to keep.
// SPDX-License-Identifier: MIT
//
// One process does it at a time, in small steps, under a lock that the kernel releases if the
// process dies. Which segment is being given up stands in the index (Counter::victim), so that any
// process goes on where another one stopped: what was carried over has slots that point elsewhere,
// and is left alone.
//
// Why readers are safe: a slot changes from the old place to the new one, or to empty, by
// compare-and-swap; the old file is deleted only when no slot points to it, and whoever still has
// it open goes on reading it. A reader that comes too late finds no file, sees that the slot has
// changed, and looks again. Why writers are safe: a segment whose writer lives, or has records
// there that it has yet to publish, is locked by it and never chosen; a chosen segment is never
// taken over for writing.
//
// Thread safety: any thread; a thread that finds another at work does nothing and says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "os/thread.h"
#include "store/index.h"
#include "store/policy.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/writer.h"

namespace cairn {

class Evictor {
  public:
    // All outlive the evictor.
    Evictor(const Directory &directory, RecordReader &reader, Writer &writer, const Policy &policy)
        : directory_(directory), reader_(reader), writer_(writer), policy_(policy) {}

    enum class Progress {
        some,     // there is more to do in this segment
        retired,  // a segment was deleted
        busy,     // somebody else is at work
        none,     // nothing can be given up
    };

    // Handles entries of about `budget_bytes`.
    Result<Progress> step(Index &index, std::uint64_t budget_bytes);

    // Removes the least valuable of some entries that are not at `spare`, for a limit on entries.
    bool drop_one_entry(Index &index, Location spare, std::uint64_t start);
    // The same of those in the buckets of a hash, which are full.
    bool drop_from_buckets(Index &index, std::uint64_t hash);
    // Empties the slot that points to a place, if one does.
    static void forget(Index &index, std::uint64_t hash, Location location);

  private:
    struct Seen {
        Index::Place place;
        Slot slot;
    };
    bool drop_worst(Index &index, std::vector<Seen> &seen);

    struct Planned {
        Location location;
        std::uint64_t key_hash;
        std::uint64_t size_bytes;
        bool keep;
    };

    Result<Progress> step_locked(Index &index, std::uint64_t budget_bytes) REQUIRES_LOCK(mutex_);
    Result<bool> choose_victim(Index &index);
    Status plan_more(Index &index) REQUIRES_LOCK(mutex_);
    void carry(Index &index, const Planned &entry);
    Status retire(Index &index, std::uint32_t segment, bool wait) REQUIRES_LOCK(mutex_);

    const Directory &directory_;
    RecordReader &reader_;
    Writer &writer_;
    const Policy &policy_;

    // Deletes a file in a thread of its own: where the file system tells the disk at once what is
    // free, deleting some megabytes takes tens of milliseconds.
    void discard(const std::string &name, bool wait) REQUIRES_LOCK(mutex_);

    struct Discard {
        const Directory *directory;
        std::string name;
        std::atomic<bool> done = true;
        Thread thread;
    };
    Discard discard_;

    Mutex mutex_;
    struct Victim {
        std::uint32_t segment;
        std::uint64_t retired_before;  // Counter::retired: its number may be given out again
        std::uint64_t cache_id;        // of the index, which may be another, too
        bool operator==(const Victim &) const = default;
    };
    std::optional<Victim> planned_victim_ GUARDED_BY(mutex_);
    std::optional<SegmentScan> scan_
        GUARDED_BY(mutex_);  // of that segment; what is behind it is planned or done
    std::vector<Planned> plan_ GUARDED_BY(mutex_);  // what is left to do, last first
};

}  // namespace cairn
