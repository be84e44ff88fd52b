// SPDX-License-Identifier: MIT
// Asks the driver of this process what it offers, and has it link a small program. For a process of its own,
// which `cairn doctor` starts: drivers crash, and wait for ever.
// Thread safety: used by main only.
// Failure: what was found out before is written. The libraries of GL are loaded here and nowhere else in
// `cairn`.
#pragma once

#include <string>

namespace cairn::cli::doctor {

// Writes lines `name=value` to standard output: `stage` for each step that begins, then what there is of
// platform, vendor, renderer, version, formats, linked, front (the front
// end that is loaded), problem. `api`: "egl" or "glx". Ends the process, without the handlers of its exit.
[[noreturn]] void ask_driver(const std::string &api);

}  // namespace cairn::cli::doctor
