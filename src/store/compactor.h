// Compresses what was stored, off everybody's path.
// SPDX-License-Identifier: MIT
//
// Puts write values as they are given. When a segment is full, or was left behind by a process that
// ended, and most of it could be smaller, its entries are copied into another segment, compressed,
// and the old one is deleted. None is lost by that, and none is slower to store.
//
// It works like one more process: it opens the index itself, and has a writer, file descriptors and
// locks of its own. So it can be in a thread, and a child of fork(), which has no such thread, goes
// on without it. Of all processes one compresses at a time: the one that holds kCompactByte. It
// holds the lock of the segment's writer as well, so that nobody writes there or gives it up.
//
// Why no entry is lost: a slot is moved from a record to its copy by compare-and-swap, under the
// eviction lock, which clearing the cache takes, too; the old file is deleted after the last one,
// also under that lock, and only if no slot can be hidden by damage, in a level of the index that
// was not looked at, or by a search of the segments that is under way; and such a search publishes
// nothing of the segment whose number stands in Counter::compacting.
//
// Why none comes back that was removed: store/relocation.h says what becomes of the copy of a
// process that dies; of an original and its copy, which have the same stamp, a rebuilding of the
// index takes either, and none if one of them was removed; a record that says so is copied, too.
//
// Thread safety: any thread; stop() comes last.
// Failure: what cannot be copied stays where it is; the next segment that is finished makes it try
// again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
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
    // `directory` outlives the compactor. `purpose`: the part of the limit that copies may use.
    Compactor(const Directory &directory, std::string cache_name, const WriterLimits &limits,
              Writer::Purpose purpose)
        : directory_(directory),
          cache_name_(std::move(cache_name)),
          limits_(limits),
          purpose_(purpose) {}
    ~Compactor() { stop(); }
    Compactor(const Compactor &) = delete;
    Compactor &operator=(const Compactor &) = delete;

    // Begins in a thread of its own, or lets the one that is at work look once more.
    void start();
    // On this thread: all that there is now. busy: somebody else is at it, writes to the index, or
    // searches the segments; full: no room for copies; corrupt: damage of the index may hide
    // entries of a segment. Of errors that concern one segment the first is given, and the others
    // are compressed all the same.
    Status run();
    // Waits for the piece that is being compressed.
    void stop();

  private:
    // A segment as it was when compressing it did not seem worth it.
    struct Judged {
        std::uint32_t segment;
        std::uint64_t size_bytes;
        bool operator==(const Judged &) const = default;
    };
    // Some of a segment's entries, each with the same chance to be among them.
    struct Sample {
        std::vector<Location> places;
        std::uint64_t seen = 0;
    };
    using Samples = std::unordered_map<std::uint32_t, Sample>;
    // What a run needs; nothing of it outlives the run.
    struct Work {
        Work(const Directory &directory, const WriterLimits &limits, std::unique_ptr<Index> opened)
            : index(std::move(opened)), reader(directory), writer(directory, limits) {}
        std::unique_ptr<Index> index;
        RecordReader reader;
        Writer writer;
        Compressor compressor;
        std::vector<Writer::Appended> targets;  // a copy in each segment written to
        bool removals_copied = false;           // of the segment that is being compressed
    };
    // A forked child has none of its parent's threads: it gets a state of its own.
    struct State {
        State(Compactor &compactor, std::uint64_t number) : owner(compactor), process(number) {}
        Compactor &owner;
        const std::uint64_t process;
        enum : unsigned { idle, running, again };
        std::atomic<unsigned> stage = idle;
        Mutex start_mutex;
        Thread thread;    // started under start_mutex
        Mutex run_mutex;  // held while one thread runs
        std::vector<Judged> judged GUARDED_BY(run_mutex);
    };

    State *state();
    static void start_thread(State &state);
    static void run_thread(State &state);
    Status run_alone(State &state) REQUIRES_LOCK(state.run_mutex);
    Result<std::unique_ptr<Index>> open_index() const;
    static Samples take_samples(Index &index);
    static bool is_worth_it(Work &work, const Sample &sample);
    Status compact(Work &work, std::uint32_t segment);
    Result<std::uint64_t> copy_all(Work &work, const Writer::SegmentLock &lock,
                                   std::uint32_t segment);
    Result<bool> copy_some(Work &work, const Writer::SegmentLock &lock, SegmentScan &scan,
                           std::uint64_t &count);
    Result<bool> copy(Work &work, const Writer::SegmentLock &lock, const ScannedRecord &record);
    Status copy_removal(Work &work, const ScannedRecord &record);
    static Status compress(Work &work, RecordHeader &header, Bytes &value);
    static Result<ByteLock> lock_unless_gone(Work &work, const Writer::SegmentLock &lock);
    static void note_target(Work &work, const Writer::Appended &copy);
    Result<bool> finish(Work &work, const Writer::SegmentLock &lock, std::uint32_t segment);

    // Constant after construction.
    const Directory &directory_;
    const std::string cache_name_;
    const WriterLimits limits_;
    const Writer::Purpose purpose_;

    std::atomic<State *> state_ = nullptr;
    std::atomic<bool> stop_ = false;
};

}  // namespace cairn
