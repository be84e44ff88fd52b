// The agent of a machine as a process, and applications on that machine that it hears of.
// SPDX-License-Identifier: MIT
// Thread safety: externally synchronised.
// Ownership: an agent that still runs is killed at the end.
// Failure: a failed test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fleet_fixture.h"

namespace cairn::fleet_test {

// What a machine shares, and where: writes its configuration. With a key's name it pushes, too.
void share(const Machine &machine, const std::string &url, const std::string &key = "");

// Runs this in a process with the machine's environment, as an application does: each such process tells the agent
// anew. Returns what `work` returns.
int as_application(const Machine &machine, const std::function<int()> &work);

// An application's start, one that compiles these programs, and how many of them one finds (255 at most).
void start_application(const Machine &machine, const std::string &driver);
void compile(const Machine &machine, const std::string &driver, int from, int to);
int count_found(const Machine &machine, const std::string &driver, int from, int to);

// Puts so many programs of so many bytes, a multiple of 8, that do not become smaller, into the machine's cache.
void put_many(const Machine &machine, const std::string &driver, int count, std::size_t size);

class AgentProcess {
  public:
    // Its times go by so many times as fast as usual: a push follows a start by 60 to 90 ms at 1000.
    static constexpr unsigned kSpeed = 1000;
    // Returns when it serves.
    explicit AgentProcess(const Machine &machine, unsigned speed = kSpeed);

    int pid() const { return program_->pid(); }
    void signal(int number) const;
    int wait() const { return program_->wait(); }
    // What it has said until now.
    std::string said() const { return program_->standard_error(); }
    // Waits until it has said this, behind so many bytes.
    bool says(const std::string &text, std::size_t behind = 0) const;
    // Waits until it has pushed so many entries, behind so many bytes: in one pack, or in several, as a push may begin
    // while an application still stores.
    bool has_pushed(std::uint64_t entries, std::size_t behind = 0) const;
    // A number of /proc/PID/status, such as of VmHWM.
    std::uint64_t status(const std::string &name) const;
    // Of the processor, that it has used.
    std::uint64_t ticks() const;

  private:
    std::unique_ptr<cli_test::Program> program_;
};

}  // namespace cairn::fleet_test
