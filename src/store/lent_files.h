// The files of a cache as somebody else has opened them, for a process that may open none.
// SPDX-License-Identifier: MIT
//
// A store that reads through it makes no system call that takes a path. It looks up in the index
// and the segments as always, and verifies as always: what is lent may be damaged, outdated or
// missing.
//
// Thread safety: all methods may be called from any thread, and wait for none longer than some
// microseconds.
// Ownership: descriptors that are given out are the caller's own.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

class LentFiles {
  public:
    virtual ~LentFiles() = default;

    // The index to look up in from now on.
    virtual Result<File> index() = 0;
    // Whether there is another index than index() gave last.
    virtual bool index_changed() = 0;
    // busy: it has not come yet.
    virtual Result<File> segment(std::uint32_t segment) = 0;
    // Segments were deleted: their descriptors can be closed.
    virtual void forget_deleted() = 0;
    // An entry was found that has not been found often.
    virtual void note_hit(Bytes key) = 0;
    // Blocks that the files hold.
    virtual std::uint64_t disk_bytes() = 0;
};

}  // namespace cairn
