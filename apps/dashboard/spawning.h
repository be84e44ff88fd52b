// Starts programs that have nothing of this process but its environment.
// SPDX-License-Identifier: MIT
//
// Above all no connection: while any process has one, the page does not see that the server has ended.
//
// Thread safety: functions without state.
// Failure: an errno value.
#pragma once

#include <sys/types.h>

#include <string>

#include "text.h"

namespace cairn::dashboard {

// Looks for it as a shell does, where it is no path. What it prints goes to this descriptor; below 0: nowhere. It is in
// a process group of its own, so that Ctrl-C in our terminal does not end it. 0: `child` runs.
int start_program(const std::string &program, const cli::Words &words, int output, pid_t &child);

}  // namespace cairn::dashboard
