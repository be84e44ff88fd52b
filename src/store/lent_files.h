// The files of a cache, opened by another process for one that may open none.
// SPDX-License-Identifier: MIT
//
// A store that reads through it makes no system call that takes a path. It verifies all it reads,
// as always: lent files may be damaged, outdated or missing.
//
// Thread safety: all methods, from any thread; none waits longer than some microseconds.
// Ownership: the caller owns the descriptors it gets.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

class LentFiles {
  public:
    virtual ~LentFiles() = default;

    // The index to use from now on.
    virtual Result<File> index() = 0;
    // Whether there is a newer index than index() last returned.
    virtual bool index_changed() = 0;
    // busy: it has not come yet.
    virtual Result<File> segment(std::uint32_t segment) = 0;
    // Closes the descriptors of deleted segments.
    virtual void forget_deleted() = 0;
    // Tells of a hit of an entry that has had few.
    virtual void note_hit(Bytes key) = 0;
    // The blocks that the files hold, in bytes.
    virtual std::uint64_t disk_bytes() = 0;
};

}  // namespace cairn
