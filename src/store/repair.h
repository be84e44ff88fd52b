// Decides when to rebuild the index from the segments: at once for a look-up that met damage, and
// in the background after a system start.
// SPDX-License-Identifier: MIT
//
// After a system start, what was not synced may be half written. Every look-up verifies what it
// reads, so nothing needs checking before use. The background check only brings back entries that a
// lost part of the index hid. It looks at 16 records, mostly one page of the disk each, every
// 2.5 ms: at most 26 MB/s, and more for entries that come back, as those are read whole.
//
// Thread safety: any thread. A thread that finds another at work waits two milliseconds at most.
// Failure: after an error the rebuild is abandoned and tried again later.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/worker.h"
#include "store/account.h"
#include "store/evictor.h"
#include "store/index.h"
#include "store/rebuild.h"
#include "store/record_reader.h"

namespace cairn {

class Repair {
  public:
    // All outlive the Repair. `evictor`: see Rebuild.
    Repair(const Directory &directory, RecordReader &reader, Account &account, Evictor *evictor,
           const Log &log, std::string cache_name)
        : directory_(directory),
          reader_(reader),
          account_(account),
          evictor_(evictor),
          log_(log),
          cache_name_(std::move(cache_name)) {}

    // For a look-up that met damage: rebuilds for a bounded time. True: look again.
    bool rebuild(Index &index);

    // Starts the background check if the index asks for a rebuild. The index outlives the Repair.
    void check_in_background(Index &index);
    void stop() { worker_.stop(); }

    std::uint64_t bytes_total() const { return bytes_total_.load(std::memory_order_relaxed); }
    std::uint64_t bytes_left() const { return bytes_left_.load(std::memory_order_relaxed); }

  private:
    enum class Progress { unfinished, done, failed };
    Progress step(Index &index, std::uint64_t duration_ns) REQUIRES_LOCK(mutex_);
    void run_background();

    const Directory &directory_;
    RecordReader &reader_;
    Account &account_;
    Evictor *const evictor_;
    const Log &log_;
    const std::string cache_name_;

    Mutex mutex_;
    std::unique_ptr<Rebuild> rebuild_ GUARDED_BY(mutex_);
    std::uint64_t not_before_ns_ GUARDED_BY(mutex_) = 0;  // after a failure

    std::atomic<std::uint64_t> bytes_total_ = 0;
    std::atomic<std::uint64_t> bytes_left_ = 0;

    Index *background_index_ = nullptr;  // constant while the worker runs
    Worker worker_{[this] { run_background(); }};
};

}  // namespace cairn
