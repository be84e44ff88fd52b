// Compresses stored values in the background.
// SPDX-License-Identifier: MIT
//
// Puts write values as they are. When a segment is full, or its process has ended, and most of it
// could be smaller, the compactor copies its entries into another segment, compressed, and retires
// the old one. No entry is lost, and no put gets slower.
//
// One process at a time compresses: the one that holds kCompactByte. It also holds the segment's
// lock, so that no process writes to the segment or evicts it.
//
// Why no entry is lost:
//  - A slot moves from a record to its copy by compare-and-swap, under the eviction lock, which
//    Store::clear() takes, too.
//  - The old file is deleted after the last move, under that lock, and only if no slot can be
//    hidden by damage or in a level that was not mapped, and the index is still the one in use: a
//    rebuild puts another one in its place under that lock.
//
// Why no removed entry comes back:
//  - relocation.h says what becomes of the copy that a dying process leaves. An original and its copy
//    have the same stamp; a rebuild takes either, and neither if one of them is dead.
//  - The original of a removed copy may still be there, and the marks of older records that were replaced
//    in this system start are void after the next one. Then only the record that was removed says that
//    there is no entry. So what it says is copied, without its value, until the rebuild after the
//    next start has marked the others for ever.
//
// Thread safety: any thread; stop() comes last. A child of fork() may go on; in one that was made
// while the thread was mapping a level, it may do nothing.
// Failure: an entry that cannot be copied stays where it is. The next finished segment makes the
// compactor try again.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/per_process.h"
#include "os/worker.h"
#include "store/account.h"
#include "store/codec.h"
#include "store/index.h"
#include "store/locks.h"
#include "store/record_reader.h"
#include "store/relocation.h"
#include "store/writer.h"

namespace cairn {

class Compactor {
  public:
    // All outlive the compactor. `purpose` says how much of the limit copies may use.
    Compactor(const Directory &directory, RecordReader &reader, Account &account,
              Account::Purpose purpose)
        : directory_(directory), reader_(reader), account_(account), purpose_(purpose) {}
    Compactor(const Compactor &) = delete;
    Compactor &operator=(const Compactor &) = delete;

    // Runs in a thread of its own. If that is at work already, it will look once more. The index
    // outlives the compactor.
    void start(Index &index) {
        background_index_ = &index;
        (void)worker_.wake();
    }
    // Compresses all that is worth it, on this thread. busy: another compactor or a rebuild is at
    // work, or somebody changes the cache; full: no room for copies; corrupt: damage of the index
    // may hide entries. An error of one segment does not stop the others; the first one is
    // returned.
    Status run(Index &index);
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
    struct State {
        Mutex run_mutex;  // held while one thread runs
        std::vector<Judged> judged GUARDED_BY(run_mutex);
    };
    // The objects of one run. Copies have segments of their own: among puts, those that are
    // compressed would be copied again with the others. Entries that were kept stay among such.
    struct Work {
        Work(const Directory &directory, Account &account)
            : fresh(directory, account), kept(directory, account, SegmentKind::kept) {}
        Writer &writer_for(std::uint32_t segment) {
            return kind_of_segment(segment) == SegmentKind::kept ? kept : fresh;
        }
        Writer fresh, kept;
        Compressor compressor;
    };

    Status run_alone(Index &index, State &state) REQUIRES_LOCK(state.run_mutex);
    static Samples take_samples(Index &index);
    bool is_worth_it(const Index &index, const Sample &sample);
    Result<bool> compact(Index &index, Work &work, std::uint32_t segment);
    // The records that were removed in this system start, as far as is known.
    struct Removals {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;  // that it takes to keep them
    };
    Result<Removals> removals_in(SegmentScan scan) const;
    bool is_removal(const RecordHeader &header) const;
    // Returns how many removals were kept.
    Result<std::uint64_t> copy_all(Index &index, Work &work, const SegmentLock &lock,
                                   SegmentScan scan);
    Result<std::uint64_t> copy(Index &index, Work &work, const SegmentLock &lock,
                               const SegmentEntry &entry);
    Result<ByteLock> lock_unless_gone(const Index &index, const SegmentLock &lock) const;
    Status finish(Index &index, const SegmentLock &lock, std::uint32_t segment);

    // Constant after construction.
    const Directory &directory_;
    RecordReader &reader_;
    Account &account_;
    const Account::Purpose purpose_;

    PerProcess<State> state_;
    std::atomic<Index *> background_index_ = nullptr;
    Worker worker_{[this] { (void)run(*background_index_.load()); }};
};

}  // namespace cairn
