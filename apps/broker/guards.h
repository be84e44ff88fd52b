// Files that were lent, open for writing for as long as they exist.
// SPDX-License-Identifier: MIT
//
// A client could take a lease on a descriptor that it was lent. Nobody could open the file for
// writing then, which is what removing, clearing and giving up do. The kernel grants no lease on a
// file that is open for writing. It does not matter whether the client is still connected: it may
// have kept the descriptor, so only deleted files are let go of. A client that has a deleted
// segment open would keep its blocks allocated: they are given back here.
//
// Thread safety: externally synchronised.
// Failure: busy: somebody has a lease on the file, or it is another one by now.
#pragma once

#include <cstdint>
#include <map>

#include "base/result.h"
#include "os/file.h"

namespace cairn::broker {

class Guards {
  public:
    // What becomes of the blocks of a deleted file. Processes map the index and read where blocks
    // were, so that it must stay as it is until they have let go of it; nobody maps a segment.
    enum class Deleted { keep_blocks, free_blocks };

    // `lent` is open for reading, `own` is the same file opened for writing, or why it cannot be:
    // where nobody may write, there is nothing to guard.
    Status add(const File &lent, Result<File> own, Deleted deleted);
    // Lets go of files that were deleted.
    void release_deleted();
    bool empty() const { return files_.empty(); }

  private:
    struct Guarded {
        File file;
        Deleted deleted;
    };
    std::map<std::uint64_t, Guarded> files_;  // by inode
};

}  // namespace cairn::broker
