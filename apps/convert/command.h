// SPDX-License-Identifier: MIT
// The command `cairn convert`.
// Thread safety: used by main only.
// Failure: a Failure with the exit code for the user.
#pragma once

#include <CLI/CLI.hpp>

namespace cairn::convert {

// Takes its arguments into `app`; it does its work while the parser runs.
void add_convert_options(CLI::App &app);

}  // namespace cairn::convert
