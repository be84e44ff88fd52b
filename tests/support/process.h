// Child processes made by fork, which die with their parent and are always waited for.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Ownership: a Child that still runs when it is destroyed is killed and waited for.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace cairn_test {

class Child {
  public:
    Child() = default;
    // Runs `body` in a new process; its result is the exit code. Exits without running destructors
    // or exit handlers, so that nothing of the parent's is flushed or removed twice.
    explicit Child(const std::function<int()> &body);
    ~Child();
    Child(Child &&other) noexcept;
    Child &operator=(Child &&other) noexcept;

    pid_t pid() const { return pid_; }
    // Started and not waited for.
    bool running() const { return pid_ > 0; }
    // Whether it has ended by itself or by a signal; wait() then does not block.
    bool ended() const;

    void signal(int number) const;
    // Stops the process with SIGSTOP and returns when it does not run any more.
    void stop() const;
    void resume() const;
    // SIGKILL, and waits.
    void kill();
    // Waits; gives the wait status.
    int wait();

  private:
    pid_t pid_ = 0;
};

// "" for exit code 0; else what happened, such as "exit code 3" or "signal 11 (Segmentation
// fault)".
std::string describe_status(int wait_status);

// Runs `body` in a child, which is killed by SIGALRM after `seconds` as hung. "" when it returned
// 0, else what happened.
std::string run_in_child(unsigned seconds, const std::function<int()> &body);

// Why a fork beside running threads cannot be tested in this build; null when it can. GCC 12's
// AddressSanitizer leaves its allocator's locks as another thread held them, and the child hangs in
// its first new.
const char *why_no_fork_beside_threads();

}  // namespace cairn_test
