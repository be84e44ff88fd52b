// Compresses what was stored, off everybody's path.
// SPDX-License-Identifier: MIT
//
// Puts write values as they are given. When a segment is full, or was left behind by a process that
// ended, and most of it could be smaller, its entries are copied into another segment, compressed,
// and the old one is deleted. None is lost by that, and none is slower to store.
//
// It works like one more process: it has a writer, file descriptors and locks of its own and shares
// nothing with the store it belongs to but the index. So it can be in a thread, and a child of
// fork(), which has no such thread, misses nothing. Of all processes one compresses at a time: the
// one that holds kCompactByte. Which segment it works on stands in Counter::compacting, so that
// nobody writes to it; the evictor may take that segment, as the last of all, and then takes its
// name out of there.
//
// Why no entry is lost: a slot is moved from a record to its copy by compare-and-swap, under the
// eviction lock, while the segment is still named; the old file is deleted after the last one, also
// under that lock. Of an original and its copy, which have the same stamp, a
// rebuilding of the index takes either, and none if one of them was removed.
//
// Thread safety: any thread; stop() comes last.
// Ownership: whoever owns the index stops it first. Failure: what cannot be copied stays where it
// is; the next segment that is finished makes it try again.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/thread.h"
#include "store/codec.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/writer.h"

namespace cairn {

class Compactor {
  public:
    // `directory` outlives the compactor.
    Compactor(const Directory &directory, const WriterLimits &limits)
        : directory_(directory), limits_(limits) {}
    ~Compactor() { stop(); }
    Compactor(const Compactor &) = delete;
    Compactor &operator=(const Compactor &) = delete;

    // Begins in a thread of its own, or lets the one that is at work look once more. Any thread.
    void start(Index &index);
    // On this thread: all that there is now. busy: another process is at it.
    Status run(Index &index);
    // Waits for the piece that is being compressed.
    void stop();

  private:
    // An entry that was copied, and whose slot still leads to the original.
    struct Copied {
        Location from;
        std::uint64_t key_hash;
        std::uint64_t stamp_ns;
        Slot target;
        Writer::Appended copy;
    };
    // A segment as it was when compressing it did not seem worth it.
    struct Judged {
        std::uint32_t segment;
        std::uint64_t size_bytes;
        bool operator==(const Judged &) const = default;
    };
    // What a run needs; nothing of it outlives the run.
    struct Work {
        Work(const Directory &directory, const WriterLimits &limits, Index &used)
            : index(used), reader(directory), writer(directory, limits) {}
        Index &index;
        RecordReader reader;
        Writer writer;
        Compressor compressor;
    };

    void start_locked(Index &index) REQUIRES_LOCK(start_mutex_);
    void run_thread();
    Status run_alone(Index &index) REQUIRES_LOCK(mutex_);
    Status compact(Work &work, std::uint32_t segment);
    bool is_worth_it(Work &work, const SegmentFile &file) REQUIRES_LOCK(mutex_);
    static Status sample(Work &work, SegmentScan scan, std::uint64_t &bytes,
                         std::uint64_t &raw_bytes);
    static Result<bool> begin(Work &work, std::uint32_t segment);
    Result<std::uint64_t> copy_all(Work &work, std::uint32_t segment);
    static Result<bool> copy_some(Work &work, SegmentScan &scan, std::vector<Copied> &copied);
    static Status copy(Work &work, const ScannedRecord &record, std::vector<Copied> &copied);
    static Result<ByteLock> lock_if_ours(Work &work, std::uint32_t segment);
    static Status move_slots(Work &work, std::uint32_t segment, const std::vector<Copied> &copied);
    Status finish(Work &work, std::uint32_t segment);

    // Constant after construction.
    const Directory &directory_;
    const WriterLimits limits_;

    enum State : unsigned { idle, running, again };
    std::atomic<unsigned> state_ = idle;
    std::atomic<bool> stop_ = false;
    Index *index_ = nullptr;  // constant while the thread runs
    Mutex start_mutex_;
    Thread thread_;  // started under start_mutex_

    Mutex mutex_;  // held while one thread runs
    std::vector<Judged> judged_ GUARDED_BY(mutex_);
};

}  // namespace cairn
