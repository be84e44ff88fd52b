// The locks of a cache on bytes of its lock file (store/space.h). The kernel releases those of a
// process that dies.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread. Each lock has a file description of its own, so it excludes other
// threads, too. A child of fork() that was made meanwhile has the description as well: if its
// parent is killed then, the lock lasts as long as the child.
// Failure: busy: another one has the lock; else as the kernel says.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"
#include "os/byte_lock.h"
#include "os/file.h"

namespace cairn {

// Waits for a lock that others hold for moments. After one who was stopped while he held it, waits
// only once a second.
class PatientLock {
  public:
    Result<ByteLock> acquire(const Directory &directory, std::uint64_t byte);

  private:
    std::atomic<std::uint64_t> impatient_until_ns_ = 0;
};

// For all who retire segments, or lead slots to records of segments without a writer. Waits for
// `patience_us`.
Result<ByteLock> lock_eviction(const Directory &directory, std::uint64_t patience_us);

// A byte of the file itself that a lock is about. It excludes processes with another lock file, after one
// was deleted by hand. A broker lends its clients the segments and the index for reading, but never the
// lock file. So a client can at most lock this byte in shared mode, which excludes nobody.
class OwnerLock {
  public:
    OwnerLock(OwnerLock &&) = default;
    ~OwnerLock();
    // busy: another one has it. The file may be written to.
    static Result<OwnerLock> acquire(File file, std::uint64_t byte);
    const File &file() const { return file_; }

  private:
    OwnerLock(File file, std::uint64_t byte) : file_(std::move(file)), byte_(byte) {}

    File file_;
    std::uint64_t byte_;
};

// Keeps other writers and the evictor away from a segment: its byte of the lock file, and its first byte.
class SegmentLock {
  public:
    SegmentLock(SegmentLock &&) = default;
    ~SegmentLock();
    // Locks a number for a segment that is still to be made. busy: it has a writer.
    static Result<SegmentLock> of_number(const Directory &directory, std::uint32_t segment);
    // Locks a segment. busy: it has a writer.
    static Result<SegmentLock> of_segment(const Directory &directory, std::uint32_t segment);
    // Locks the file of that number, too.
    Status hold(File file);
    const File &file() const { return owner_->file(); }

  private:
    SegmentLock(File lock_file, std::uint32_t segment)
        : lock_file_(std::move(lock_file)), segment_(segment) {}

    File lock_file_;
    std::uint32_t segment_;
    std::optional<OwnerLock> owner_;
};

// For all who give the name of the index to another file, or judge whether a process does: the eviction
// lock, and the index that has the name.
class IndexNameLock {
  public:
    // Waits for `patience_us`, for each of the two.
    static Result<IndexNameLock> acquire(const Directory &directory, std::uint64_t patience_us);

  private:
    explicit IndexNameLock(ByteLock eviction) : eviction_(std::move(eviction)) {}

    ByteLock eviction_;
    std::optional<OwnerLock> named_;  // nullopt: there is none, or it may not be written to
};

// Whether nobody holds a segment's lock. False in doubt.
bool has_no_writer(const Directory &directory, std::uint32_t segment);

}  // namespace cairn
