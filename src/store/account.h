// Keeps a cache below its limit: says whether there is room for more, and takes it.
// SPDX-License-Identifier: MIT
//
// The file system keeps the account (store/space.h). Files that are neither index nor segment count for
// half of the limit at most. Who wants more takes the space lock, adds up,
// and reserves blocks before it unlocks.
//
// Thread safety: any thread.
// Failure: full: the files would hold more than they may; busy: others take space; else as the
// kernel says.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"
#include "os/byte_lock.h"
#include "os/file.h"
#include "os/per_process.h"
#include "store/index.h"
#include "store/locks.h"
#include "store/space.h"

namespace cairn {

enum class WhenFull { evict, refuse };

struct SpaceLimits {
    std::uint64_t limit_bytes;       // all files of the cache together
    std::uint64_t segment_bytes;     // a segment's size; a larger record gets a segment of its own
    std::uint64_t first_step_bytes;  // a writer takes so many for a new segment
    std::uint64_t step_bytes;        // and then so many at a time, if a record needs no more
    std::uint64_t copy_bytes;        // all files, after a copy
    std::uint64_t put_bytes;      // all files, after a put: less, so that eviction never lacks room
    std::uint64_t pressed_bytes;  // if all files hold more, evict
};

// Chooses the segment size for a limit, so that a segment is a small part of the cache, but no tiny
// file. A cache that refuses when full may be filled up to a 32nd.
SpaceLimits space_limits(std::uint64_t limit_bytes, WhenFull when_full = WhenFull::evict);

class Account {
  public:
    enum class Purpose { put, copy };

    // `directory` outlives the account.
    Account(const Directory &directory, const SpaceLimits &limits)
        : directory_(directory), limits_(limits) {}
    Account(const Account &) = delete;
    Account &operator=(const Account &) = delete;

    const SpaceLimits &limits() const { return limits_; }
    // What all files may hold together.
    std::uint64_t allowed_bytes(Purpose purpose) const {
        return purpose == Purpose::copy ? limits_.copy_bytes : limits_.put_bytes;
    }
    // Whether so little space was left that the store should evict, when somebody last measured.
    bool pressed() const {
        return used_bytes_.load(std::memory_order_relaxed) > limits_.pressed_bytes;
    }
    // For pressed(), until somebody measures again.
    void note_freed(std::uint64_t disk_bytes) {
        const std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
        used_bytes_.store(used - std::min(used, disk_bytes), std::memory_order_relaxed);
    }
    // Measures now. full: the files hold more than the limit.
    Status measure(Index &index);

    // What the files hold, and the locks under which one step more of a segment may be taken. No
    // locks: the limit is far. REQUIRES: each writer takes one step at a time. (A process has two
    // writers while it compresses.)
    struct Space {
        DiskUse use;
        std::unique_lock<Mutex> thread_lock;
        std::optional<ByteLock> lock;
    };
    Result<Space> take(Index &index);

    // Makes room in the index for an entry of this hash: reserves disk space for a level, or for a
    // page of one. full: evict first; too_large: that would not be worth it.
    Status grow_index(Index &index, std::uint64_t hash, Purpose purpose = Purpose::put);
    // Calls make(), which makes a file of this size, unless the cache would exceed its limit by it.
    // Meanwhile nobody else takes the space. Also fails as make().
    Status make_file(Index &index, std::uint64_t size, const std::function<Status()> &make);

  private:
    Result<DiskUse> measure_and_note();
    Result<Space> lock_space(Index &index);

    const Directory &directory_;
    const SpaceLimits limits_;
    // Threads of a process wait for one another as long as it takes, and only then for others.
    PerProcess<Mutex> mutex_;
    std::atomic<std::uint64_t> used_bytes_ = 0;  // when somebody last measured
    PatientLock space_lock_;
};

}  // namespace cairn
