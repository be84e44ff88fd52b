// SPDX-License-Identifier: MIT
// A process that this one has started.
// Thread safety: belongs to one thread.
// Ownership: a process that still runs when its Process is destroyed is killed and waited for. A
// forked one is killed with its parent, too.
// Failure: std::runtime_error where no process can be started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <utility>

namespace bench {

class Process {
  public:
    explicit Process(pid_t pid) : pid_(pid) {}
    // Runs `body` in a copy of this process, which then exits without destructors.
    static Process fork(const std::function<void()> &body);
    ~Process();
    Process(Process &&other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
    Process &operator=(Process &&other) noexcept {
        std::swap(pid_, other.pid_);
        return *this;
    }

    void signal(int number) const;
    // Waits until it ends, and returns its wait status.
    int wait();

  private:
    pid_t pid_;  // -1: waited for
};

}  // namespace bench
