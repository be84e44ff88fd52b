// The program `cairn warm` as a helper, and what it says of its progress.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Ownership: destroying it ends the program.
// Failure: not_found, denied and others: it cannot be started; io: it has ended without an answer;
// busy: it is still at it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/helper_process.h"

namespace cairn {

struct WarmProgress {
    std::uint64_t done = 0, total = 0, made = 0, known = 0, refused = 0, failed = 0, skipped = 0,
                  damaged = 0;
    bool is_finished = false;
};

// What a line of `cairn warm --json-progress` says; a number that is not there is 0.
WarmProgress parse_progress(std::string_view line);

class WarmProcess {
  public:
    // `arguments` are those of `cairn warm`. It has this process's environment.
    static Result<WarmProcess> start(const std::string &program,
                                     std::vector<std::string> arguments);

    // Waits for news or the end.
    Status wait(std::uint64_t deadline_ns);
    // As far as it has said.
    const WarmProgress &progress() const { return progress_; }

  private:
    explicit WarmProcess(HelperProcess process) : process_(std::move(process)) {}

    HelperProcess process_;
    std::string line_;  // the beginning of one
    WarmProgress progress_;
};

}  // namespace cairn
