// Runs the program `cairn` and watches it from outside: up to one of its system calls, where it is
// killed, or to its end.
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
// folder on. False: it ended before that.
bool is_killed_at(std::uint64_t number, const std::vector<std::string> &arguments,
                  const Environment &environment);

// Runs `cairn` to its end. The most memory that it had at any moment, in KiB; it must succeed.
std::uint64_t peak_memory_kib(const std::vector<std::string> &arguments,
                              const Environment &environment);

}  // namespace cairn::cli_test
