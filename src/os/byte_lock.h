// A lock on one byte of a file, given back when it is destroyed.
// SPDX-License-Identifier: MIT
//
// Thread safety: excludes other open-file descriptions, so other processes. It does not exclude
// threads that share this description; they hold a mutex of their own.
// Failure: busy when the lock is not free in time: a process that was stopped while it held the
// lock must not stop us.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "os/deadline.h"
#include "os/file.h"

namespace cairn {

class ByteLock {
  public:
    // busy: it was not free within `patience_us`.
    static Result<ByteLock> acquire(std::shared_ptr<const File> file, std::uint64_t byte,
                                    std::uint64_t patience_us,
                                    LockKind kind = LockKind::exclusive) {
        Backoff backoff(patience_us);
        do {
            TRY_ASSIGN(const bool is_locked, file->try_lock(byte, kind));
            if (is_locked) return ByteLock(std::move(file), byte);
        } while (backoff.pause());
        return Error::busy;
    }
    // The same in a file that outlives the lock.
    static Result<ByteLock> acquire(const File &file, std::uint64_t byte, std::uint64_t patience_us,
                                    LockKind kind = LockKind::exclusive) {
        return acquire({std::shared_ptr<void>(), &file}, byte, patience_us, kind);
    }
    ByteLock(ByteLock &&other) noexcept = default;
    ByteLock(const ByteLock &) = delete;
    ~ByteLock() {
        if (file_ != nullptr) file_->unlock(byte_);
    }

  private:
    ByteLock(std::shared_ptr<const File> file, std::uint64_t byte)
        : file_(std::move(file)), byte_(byte) {}

    std::shared_ptr<const File> file_;
    std::uint64_t byte_;
};

}  // namespace cairn
