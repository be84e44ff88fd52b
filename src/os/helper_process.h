// A program that works for us, and that the rest of the process does not notice.
// SPDX-License-Identifier: MIT
//
// It is not our child: no SIGCHLD comes, no wait() of the application's finds it, and it leaves no
// zombie, also where SIGCHLD is ignored. It has nothing of ours but one end of a socket as standard
// input and output: no other descriptor, no environment but what it is given, no blocked or ignored signal, no
// terminal. Nothing of ours runs in a copy of this process: handlers of fork are not called.
//
// Thread safety: externally synchronised; start() from any thread.
// Ownership: destroying it ends the program. A program that reads its standard input to the end, or
// polls it for POLLHUP, also notices that we have died.
// Failure: not_found, denied and others: this program cannot be started; no_memory: no program can
// be started; busy: not done in time; io: the program has closed its end. No signal is raised.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

class HelperProcess {
  public:
    static Result<HelperProcess> start(const std::string &program,
                                       const std::vector<std::string> &arguments,
                                       const std::vector<std::string> &environment = {});
    HelperProcess(HelperProcess &&) = default;
    ~HelperProcess();

    Status write(Bytes bytes, std::uint64_t deadline_ns) const;
    // Says that nothing more is written.
    Status end_input() const;
    // Fills the buffer; fewer bytes when the program has closed its end.
    Result<std::size_t> read(MutableBytes buffer, std::uint64_t deadline_ns) const;

  private:
    HelperProcess(UniqueFd socket, UniqueFd process)
        : socket_(std::move(socket)), process_(std::move(process)) {}
    Status wait(short events, std::uint64_t deadline_ns) const;

    UniqueFd socket_;
    UniqueFd process_;  // not valid where the kernel gives no descriptors of processes
};

// The path without links and detours; as it is where there is no such file.
std::string canonical_path(const std::string &path);

// Where the program or library is that this code is a part of: an absolute path, or "".
std::string path_of_this_code();

}  // namespace cairn
