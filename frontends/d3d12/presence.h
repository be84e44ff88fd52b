// Which processes have sessions on a cache, and whether it is to be cleared after the last of them.
// SPDX-License-Identifier: MIT
//
// There is one file, `sessions.lock`, in the directory of the cache.
// - A process locks byte 0 in shared mode as long as it has sessions, and exclusively while it is
//   alone and clears. The kernel releases the locks of a process that dies.
// - The wish to clear is the file's size: one byte instead of none. It needs no disk block, and
//   survives every process.
// - A process locks byte 1 while it measures a small cache and stores to it.
//
// Exactly one of any number of processes clears, because of the order in which they leave: each
// releases its shared lock first, and then tries to be alone. The last to release it finds no other
// process, but for those that try at the same moment; one of these is alone then. If all are in
// each other's way for a moment, the wish is still noted, and the next process that joins is alone
// with it.
//
// A child of fork() shares the locks of its parent and must not release them: it leaves silently,
// and is no presence of its own.
//
// Thread safety: externally synchronised, but for mark_for_clearing() and lock_to_measure().
// Failure: a link or a directory in the place of the file is removed. A file that has another name,
// or belongs to another user, is not touched, and joining is impossible; the same holds without
// memory or descriptors. A process that may not write joins by reading. A file that was deleted
// while it was in use keeps no process out: a process that still has it notes no wish and clears
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/byte_lock.h"
#include "os/file.h"

namespace cairn::d3d12 {

class Presence {
  public:
    Presence() = default;
    Presence(const Presence &) = delete;
    Presence &operator=(const Presence &) = delete;

    enum class Joined {
        yes,
        must_clear,  // alone, with the wish noted: clear, then call cleared()
        hidden,      // the same, and it cannot be written: there is nothing to be seen
        busy,        // a process has been clearing for seconds; perhaps it was stopped
        impossible,
    };
    Joined join(const std::string &directory);
    // Takes back the wish, and lets others join again.
    void cleared();

    // Notes the wish. False: it cannot be noted.
    bool mark_for_clearing() const;

    enum class Left { yes, must_clear };
    // After must_clear, clear and call cleared().
    Left leave();

    // For one thread of one process; waits for seconds at most. not_found: the whole directory was
    // deleted, and there is nothing to measure. denied, read_only: the cache may not be written.
    cairn::Result<ByteLock> lock_to_measure() const;

  private:
    // Nothing: the file is open.
    std::optional<Joined> open();
    bool is_marked() const;
    bool has_name() const;
    // Nothing: try again.
    std::optional<Joined> join_writing();
    std::optional<Joined> join_reading();
    std::optional<Joined> join_others();

    std::string directory_;
    std::string path_;  // of the file in it
    File file_;
    bool can_write_ = false;
    uint64_t process_ = 0;  // that has joined
};

}  // namespace cairn::d3d12
