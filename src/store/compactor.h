// Compresses stored values in the background.
// SPDX-License-Identifier: MIT
//
// Puts write values as they are. When a segment is full, or its process has ended, and most of it
// could be smaller, the compactor copies its entries into another segment, compressed, and retires
// the old one. No entry is lost, and no put gets slower.
//
// It works like another process: it opens the index itself, and has a writer, file descriptors and
// locks of its own. So it can run in a thread, and a child of fork(), which lacks that thread,
// needs nothing from it. One process at a time compresses: the one that holds kCompactByte. It also
// holds the segment's lock, so that no process writes to the segment or evicts it.
//
// Why no entry is lost:
//  - A slot moves from a record to its copy by compare-and-swap, under the eviction lock, which
//    Store::clear() takes, too.
//  - The old file is deleted after the last move, under that lock, and only if no slot can be
//    hidden by damage or in a level that was not mapped, and the index is still the one in use: a
//    rebuild puts another one in its place under that lock.
//
// Why no removed entry comes back: relocation.h says what becomes of the copy that a dying process
// leaves. An original and its copy have the same stamp; a rebuild takes either, and neither if one of
// them is dead.
//
// Thread safety: any thread; stop() comes last.
// Failure: an entry that cannot be copied stays where it is. The next finished segment makes the
// compactor try again.
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
#include "os/per_process.h"
#include "os/worker.h"
#include "store/codec.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/writer.h"

namespace cairn {

class Compactor {
  public:
    // `directory` outlives the compactor. `purpose` says how much of the limit copies may use.
    Compactor(const Directory &directory, std::string cache_name, const WriterLimits &limits,
              Writer::Purpose purpose)
        : directory_(directory),
          cache_name_(std::move(cache_name)),
          limits_(limits),
          purpose_(purpose) {}
    Compactor(const Compactor &) = delete;
    Compactor &operator=(const Compactor &) = delete;

    // Runs in a thread of its own. If that is at work already, it will look once more.
    void start() { (void)worker_.wake(); }
    // Compresses all that is worth it, on this thread. busy: another compactor or a rebuild is at
    // work, or somebody changes the cache; full: no room for copies; corrupt: damage of the index
    // may hide entries. An error of one segment does not stop the others; the first one is
    // returned.
    Status run();
    // Waits until the thread has finished the piece at hand.
    void stop() { worker_.stop(); }

  private:
    // A segment at the time when it was not worth compressing.
    struct Judged {
        std::uint32_t segment;
        std::uint64_t size_bytes;
        bool operator==(const Judged &) const = default;
    };
    // A random sample of a segment's entries.
    struct Sample {
        std::vector<Location> places;
        std::uint64_t seen = 0;
    };
    using Samples = std::unordered_map<std::uint32_t, Sample>;
    // The objects of one run.
    struct Work {
        Work(const Directory &directory, const WriterLimits &limits, std::unique_ptr<Index> opened)
            : index(std::move(opened)), reader(directory), writer(directory, limits) {}
        std::unique_ptr<Index> index;
        RecordReader reader;
        Writer writer;
        Compressor compressor;
    };
    struct State {
        Mutex run_mutex;  // held while one thread runs
        std::vector<Judged> judged GUARDED_BY(run_mutex);
    };

    Status run_alone(State &state) REQUIRES_LOCK(state.run_mutex);
    Result<std::unique_ptr<Index>> open_index() const;
    static Samples take_samples(Index &index);
    static bool is_worth_it(Work &work, const Sample &sample);
    Status compact(Work &work, std::uint32_t segment);
    Status copy_all(Work &work, const Writer::SegmentLock &lock, std::uint32_t segment);
    Result<bool> copy(Work &work, const Writer::SegmentLock &lock, const ScannedRecord &record);
    static Status compress(Work &work, RecordHeader &header, Bytes &value);
    Result<ByteLock> lock_unless_gone(Work &work, const Writer::SegmentLock &lock) const;
    Status finish(Work &work, const Writer::SegmentLock &lock, std::uint32_t segment);

    // Constant after construction.
    const Directory &directory_;
    const std::string cache_name_;
    const WriterLimits limits_;
    const Writer::Purpose purpose_;

    PerProcess<State> state_;
    Worker worker_{[this] { (void)run(); }};
};

}  // namespace cairn
