// The commands of cairn-agent: `cairn push`, `pull` and `remote` start it, and so does a session.
// SPDX-License-Identifier: MIT
//
// To add one: write NAME_command.cc, which defines `const cli::Command NAME_command`, and add it to CMakeLists.txt and
// to main.cc.
#pragma once

#include "command.h"

namespace cairn::fleet {

extern const cli::Command push_command;
extern const cli::Command pull_command;
extern const cli::Command status_command;
extern const cli::Command gc_command;
extern const cli::Command serve_command;

}  // namespace cairn::fleet
