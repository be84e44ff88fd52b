// Runs the program `cairn` up to a system call of its own, and kills it there.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Failure: what the system refuses ends the test program with a message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program.h"

namespace cairn::cli_test {

// Whether this process may watch another one's system calls.
bool can_watch();

// Runs `cairn` and kills it before the `number`-th of the system calls from the first that changes a
// folder on. False: it ended before that, with this exit code.
bool is_killed_at(std::uint64_t number, const std::vector<std::string> &arguments,
                  const Environment &environment, int *exit_code = nullptr);

}  // namespace cairn::cli_test
