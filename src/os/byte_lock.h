// A lock on one byte of a file, given back when it is destroyed.
// SPDX-License-Identifier: MIT
//
// Thread safety: excludes whatever has another description of the file: other processes, and not
// the threads that share this one. Those hold a mutex of their own.
// Failure: busy when the lock cannot be had in time: somebody who has stopped while holding it must
// not stop us.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

class ByteLock {
  public:
    // busy: not to be had in `patience_us`.
    static Result<ByteLock> acquire(std::shared_ptr<const File> file, std::uint64_t byte,
                                    std::uint64_t patience_us, LockKind kind = LockKind::exclusive);
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
