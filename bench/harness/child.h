// Runs a task in a fresh process: this program again, with the task as JSON in its arguments and
// the result by a pipe.
// Thread safety: a Child belongs to one thread; Control is shared memory of all processes, every
// field atomic.
// Ownership: a Child kills and collects its process when it is destroyed before wait().
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/harness/process.h"

namespace bench {

// The processes of one workload talk to one another through this while they run.
struct Control {
    std::atomic<std::uint32_t> ready;                     // children that have opened their store
    std::atomic<std::uint32_t> go;                        // set by the parent: begin
    std::atomic<std::uint32_t> stop;                      // set by the parent: end
    std::array<std::atomic<std::uint64_t>, 16> progress;  // acknowledged puts, by child
};

class ControlBlock {
  public:
    ControlBlock();                 // makes one
    explicit ControlBlock(int fd);  // a parent's
    ~ControlBlock();
    ControlBlock(const ControlBlock &) = delete;
    ControlBlock &operator=(const ControlBlock &) = delete;

    void reset();
    int fd() const { return fd_; }
    Control *operator->() const { return control_; }

  private:
    void map();
    int fd_;
    Control *control_ = nullptr;
};

struct ChildResult {
    bool ok = false;       // ended by itself, without an error
    int signal = 0;        // that ended it
    std::string error;     // in words, when not ok
    nlohmann::json value;  // what the task returned
};

class Child {
  public:
    // The two descriptors are found by the child as kPoolFd and kControlFd.
    Child(const nlohmann::json &task, int pool_fd, int control_fd);
    ~Child();
    Child(Child &&other) noexcept;
    Child &operator=(Child &&) = delete;

    void kill() const;
    ChildResult wait(int timeout_s);

  private:
    std::string read_all(int timeout_s, bool &timed_out);

    Process process_{-1};
    int result_fd_ = -1;
};

inline constexpr int kPoolFd = 100;
inline constexpr int kControlFd = 101;
inline constexpr int kResultFd = 102;

// In the child: hands the task's result to the parent.
void write_result(const nlohmann::json &value);

// Keeps this thread on one processor, counted around those there are.
void pin_to_processor(unsigned number);
unsigned processor_count();

}  // namespace bench
