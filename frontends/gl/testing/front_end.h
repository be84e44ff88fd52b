// The part of a front end that all window systems share, started in a test's process.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <cairn/cairn.h>

#include "common/run_report.h"
#include "gl/contexts.h"

namespace cairn::gl::testing {

// Starts it, once in a process: what it loads lives for ever. Counters are kept as under
// `cairn run`.
void start_front_end();
// The counters now. REQUIRES: started.
RunReport read_report();

// Makes a context of this driver current on this thread, and ends it.
void make_context(const Driver &driver, ContextHandle handle, ProgramMemory *programs);
void end_context(const Driver &driver, ContextHandle handle);

}  // namespace cairn::gl::testing
