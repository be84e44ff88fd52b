// Leases: of several who miss the same entry, one makes it, and the others wait for it.
// SPDX-License-Identifier: MIT
//
// Threads of a process exclude one another by a list in memory, processes by a lock on a byte of
// the file `leases` in the cache's directory, which the key's hash chooses. Keys whose hashes are
// the same wait for each other, and no more.
//
// The lock is the classic one of fcntl, because it belongs to the process: the kernel releases it
// when the process ends, and a child of fork() does not have it, so that it cannot keep it. Its
// price is that all locks of a process on a file go when it closes any descriptor of it. So all
// that a process has and waits for in a file shares one descriptor, which is closed with the last
// of them. Two copies of this library in a process do not see each other's list; the worst that
// comes of it is an entry that is made twice.
//
// Nobody waits for ever: a wait is bounded, and who holds a lease does not wait for another, so
// there are no circles.
//
// Thread safety: all may be called from any thread; a Lease is released once. In a child of fork()
// no lease is held; a Lease that it has inherited may be destroyed there, or not.
// Failure: busy: not to be had in time; unsupported: the cache does not know where it is; else as
// File. A process that dies leaves no state behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "base/result.h"
#include "cache/cache.h"
#include "os/file.h"

namespace cairn {

inline constexpr const char *kLeaseFileName = "leases";

class Lease {
  public:
    // Held until it is destroyed; null: the entry is there. The cache is asked once at least, and
    // again while somebody else has the lease, without any lock of ours. `cache` outlives the lease.
    static Result<std::unique_ptr<Lease>> acquire(Cache &cache, Bytes key,
                                                  std::uint64_t patience_us);
    ~Lease();
    // Waits until the entries that were put are written, a second at most, and for moments only within
    // ten seconds after it waited in vain. For before it is given back: else others do not find them.
    // A point where a thread can be cancelled.
    void flush();
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;

  private:
    struct Table;
    // Those of one scope exclude one another: a directory, or a cache in memory.
    struct Scope {
        std::uint64_t device, number;
        bool operator==(const Scope &) const = default;
    };

    Lease(Cache &cache, Scope scope, Bytes key);
    static Table &table();
    static Result<std::unique_ptr<Lease>> make(Cache &cache, Bytes key);
    Status join(const Directory *directory);
    Result<bool> try_hold();
    static bool is_held_by_this_thread();
    static void wait_until(std::uint64_t deadline_ns);
    bool excludes(const Lease &other) const;

    Cache &cache_;
    const Scope scope_;
    const std::uint64_t byte_;
    const std::uint64_t process_;
    const std::thread::id thread_;  // that acquired it
    // Guarded by the table's mutex.
    bool is_listed_ = false;
    bool is_held_ = false;
    std::shared_ptr<File> file_;  // null: the scope needs none
    Lease *next_ = nullptr;
};

}  // namespace cairn
