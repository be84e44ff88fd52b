// Which processes have sessions on a cache, and whether it is to be cleared after the last of them.
// SPDX-License-Identifier: MIT
//
// One file, `sessions.lock`, in the directory of the cache. Its byte 0 is locked in shared mode as
// long as a process has sessions, and exclusively by who is alone and clears; the kernel gives up
// the locks of a process that dies. The wish to clear is the file's size: one byte instead of none,
// which needs no disk block, survives every process, and is there or not whatever happens. Byte 1
// is locked while a small cache is measured and stored to.
//
// The order in leaving is what makes exactly one of any number clear: each gives up its shared lock
// first and then asks to be alone. The last to give it up finds nobody else, but for others who are
// asking: one of these is alone then. Should all be in each other's way for a moment, the wish is
// still noted, and whoever joins next is alone with it.
//
// A child of fork() shares the locks of its parent and must not give them up: it leaves without a
// word, and is no presence of its own.
//
// Thread safety: externally synchronised, but for mark_for_clearing() and MeasureLock.
// Failure: what is no file is taken away; a file that has another name, or is another user's, is
// not touched, and joining is impossible; so it is where no descriptor or memory can be had. Who
// may not write joins where it can. A file that was deleted while it was in use keeps nobody out:
// who still has it notes no wish and clears nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::d3d12 {

class Presence {
  public:
    Presence() = default;
    ~Presence();
    Presence(const Presence &) = delete;
    Presence &operator=(const Presence &) = delete;

    enum class Joined {
        yes,
        must_clear,  // alone, with the wish noted: clear, then call cleared()
        hidden,      // the same, and it cannot be written: there is nothing to be seen
        busy,        // somebody has been clearing for seconds: a stopped process?
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

    // Held by one thread of one process; waits for seconds at most.
    class MeasureLock {
      public:
        explicit MeasureLock(const Presence &presence);
        ~MeasureLock();
        MeasureLock(const MeasureLock &) = delete;
        MeasureLock &operator=(const MeasureLock &) = delete;
        // Also when the whole directory was deleted: then there is nothing to measure.
        bool held() const { return held_ || is_alone_; }
        // False: it cannot be had as the cache may not be written.
        bool can_write() const { return can_write_; }

      private:
        const int fd_;
        bool held_ = false;
        bool can_write_ = true;
        bool is_alone_ = false;
    };

  private:
    enum class Opened {
        yes,
        absent,  // and cannot be made
        marked,  // and cannot be opened
        impossible,
    };
    Opened open();
    void close();
    bool is_marked() const;
    bool has_name() const;
    // Nothing: try again.
    std::optional<Joined> join_writing();
    std::optional<Joined> join_reading();
    std::optional<Joined> join_others();

    std::string path_;
    int fd_ = -1;
    bool can_write_ = false;
    uint64_t process_ = 0;  // that has joined
};

}  // namespace cairn::d3d12
