// Where the driver keeps machine code: a directory of the application's own, where a pack has such
// code for it or the user asks for it; see docs/driver_cache.md.
// SPDX-License-Identifier: MIT
//
// Drivers are told by variables of the environment, which they read when a display or screen is
// initialised. The variables are there from the loading of the front end until the first context is
// used, so that hardly any child of the application inherits them. No function of the C library
// changes the environment for that: another thread's getenv() may be reading it. It gets another
// array with the same strings and ours, and then the old one back, and nothing is freed.
//
// Thread safety: begin_driver_cache() before anything else of the front end; the other from any
// thread.
// Failure: the driver keeps its code where it always does.
#pragma once

#include <string>

namespace cairn::gl {

void begin_driver_cache();

// Whether the driver is to keep its code in such a directory, and that is still to be prepared.
bool has_driver_cache();

// The driver of this identity is running: puts what packs have for it in place, and gives the
// environment back. Only the first call in a process does anything.
void place_driver_files(const std::string &identity);

}  // namespace cairn::gl
