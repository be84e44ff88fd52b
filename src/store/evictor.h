// Makes room: copies what the policy wants to keep of a segment, drops the rest, and retires it.
// SPDX-License-Identifier: MIT
//
// One process does it at a time, in small steps, under a lock that the kernel releases if the
// process dies. The index names the segment that is being evicted, so any process can
// continue where another stopped. Copied entries have slots that lead elsewhere, and are left
// alone.
//
// Why writers are safe: a living writer locks its segment until all its records there are
// published, and the evictor never chooses a locked segment. No writer takes over a victim.
//
// What stays goes to segments of its own (SegmentKind). Where the policy learns, the oldest segment of
// either kind is looked at, and the one goes of which less stays. A segment of kept entries of which
// most stay is put behind the others then. And a part of the index is gone over with each segment, so
// that counts of hits fade (store/uses.h).
//
// Thread safety: any thread. A thread that finds another at work returns `busy`.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "os/worker.h"
#include "store/account.h"
#include "store/ghosts.h"
#include "store/index.h"
#include "store/locks.h"
#include "store/policy.h"
#include "store/record_reader.h"
#include "store/relocation.h"
#include "store/reuse.h"
#include "store/segment_scan.h"
#include "store/space.h"
#include "store/writer.h"

namespace cairn {

class Evictor {
  public:
    // All outlive the evictor. `writer`: for what stays where segments are few.
    Evictor(const Directory &directory, RecordReader &reader, Account &account, Writer &writer,
            Ghosts &ghosts, Reuse &reuse, const Policy &policy)
        : directory_(directory),
          reader_(reader),
          account_(account),
          kept_writer_(directory, account, SegmentKind::kept),
          writer_(has_few_segments(account.limits()) ? writer : kept_writer_),
          ghosts_(ghosts),
          reuse_(reuse),
          policy_(policy) {}

    enum class Progress {
        some,     // the victim has more entries
        retired,  // a segment was deleted
        busy,     // another thread or process is at work
        none,     // there is no segment to evict
    };
    static constexpr bool has_worked(Progress progress) {
        return progress == Progress::some || progress == Progress::retired;
    }

    // Copies or drops entries of about `budget_bytes`.
    Result<Progress> step(Index &index, std::uint64_t budget_bytes);

    // Drops the entry that the policy wants to go first of a sample without `spare`, for a limit on
    // entries. `start`, any number, chooses the sample.
    bool drop_one_entry(Index &index, Location spare, std::uint64_t start);
    // The same of those in the buckets of a hash, which are full.
    bool drop_from_buckets(Index &index, std::uint64_t hash, std::uint64_t start);
    // Empties the slot that leads to a location. False: there is none. Nothing is remembered of it.
    static bool drop(Index &index, std::uint64_t hash, Location location);
    // Stops writing to a segment of what stays.
    void release_segment() { kept_writer_.release_segment(); }
    // Takes in what was noted of reuse, unless another process is at work.
    void learn(Index &index);
    // Entries evicted since this was made.
    std::uint64_t evicted() const { return evicted_.load(std::memory_order_relaxed); }

  private:
    struct Judged {
        Index::PlacedSlot slot;
        ReadRecord record;
    };

    bool drop_worst(Index &index, std::span<const Index::PlacedSlot> seen);
    void drop_judged(Index &index, const Judged &entry);

    struct Planned {
        Location location;
        std::uint64_t key_hash;
        std::uint64_t size_bytes;
        Uses uses;
        bool keep;
    };
    // Of a cache with fewer, one more that is half full would be too large a part.
    static constexpr std::uint64_t kFewSegments = 32;
    static bool has_few_segments(const SpaceLimits &limits) {
        return limits.limit_bytes / limits.segment_bytes < kFewSegments;
    }

    Result<Progress> step_locked(Index &index, std::uint64_t budget_bytes) REQUIRES_LOCK(mutex_);
    Result<std::optional<std::uint32_t>> choose_victim(Index &index) REQUIRES_LOCK(mutex_);
    Status list_victims(bool oldest_first) REQUIRES_LOCK(mutex_);
    void prefer_cheaper(Index &index) REQUIRES_LOCK(mutex_);
    std::optional<unsigned> percent_that_stays(Index &index, const SegmentFile &file)
        REQUIRES_LOCK(mutex_);
    void update_taste(Index &index) REQUIRES_LOCK(mutex_);
    Candidate candidate_of(Index &index, const RecordHeader &header, Slot slot, Uses &uses);
    static void fade_hits(Index &index);
    Result<std::uint64_t> readable_bytes(std::uint32_t segment);
    static void drop_all(Index &index, std::uint32_t segment);
    Status plan_more(Index &index) REQUIRES_LOCK(mutex_);
    bool copy(Index &index, const Planned &entry) REQUIRES_LOCK(mutex_);
    void evict(Index &index, const Planned &entry, Ghost::Kind kind) REQUIRES_LOCK(mutex_);
    void leave_removal(Index &index, const ScannedRecord &record) REQUIRES_LOCK(mutex_);
    Status retire(Index &index, std::uint32_t segment, bool wait) REQUIRES_LOCK(mutex_);

    const Directory &directory_;
    RecordReader &reader_;
    Account &account_;
    Writer kept_writer_;
    Writer &writer_;  // of what stays
    Ghosts &ghosts_;
    Reuse &reuse_;
    const Policy &policy_;
    std::atomic<std::uint64_t> evicted_ = 0;

    // Deletes a file, in a thread of its own if it need not wait: on a file system that tells the disk at
    // once what is free, deleting some megabytes takes tens of milliseconds.
    void discard(const Index &index, const std::string &name, bool wait) REQUIRES_LOCK(mutex_);

    PatientLock eviction_lock_;
    Mutex mutex_;
    struct Victim {
        std::uint32_t segment;
        std::uint64_t retired_before;  // Index::retired(): the number may be used again later
        std::uint64_t cache_id;        // of the index, which may be another one later
        bool operator==(const Victim &) const = default;
    };
    std::optional<Victim> planned_victim_ GUARDED_BY(mutex_);
    // Of that segment: all before the scan's offset is planned or done.
    std::optional<SegmentScan> scan_ GUARDED_BY(mutex_);
    std::uint64_t retired_ GUARDED_BY(mutex_) = 0;  // Index::retired() when this last retired one
    struct Learned {
        UseTime time;
        std::uint64_t clears;  // Index::clears(): what was known before is void
    };
    std::optional<Learned> learned_ GUARDED_BY(mutex_);
    std::optional<Taste> taste_ GUARDED_BY(mutex_);  // what it is planned by, if the policy learns
    std::uint64_t left_bytes_ GUARDED_BY(mutex_) = 0;  // see leave_removal()
    std::vector<Planned> plan_ GUARDED_BY(mutex_);     // still to be done, last first
    // Segments to be evicted next, last first, unless they have changed since they were listed.
    std::vector<SegmentFile> next_victims_ GUARDED_BY(mutex_);

    // Constant while the worker runs.
    std::string discarded_;
    const Index *discarded_from_ = nullptr;
    Worker discard_{[this] { (void)discard_retired(directory_, *discarded_from_, discarded_); }};
};

}  // namespace cairn
