// The front end started in a test's process, without a driver behind it.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <cairn/cairn.h>

namespace cairn::egl::testing {

// Starts it as GLVND would, once in a process: what it loads lives for ever. Counters are kept as
// under `cairn run`.
void start_front_end();
// The counters now. REQUIRES: started.
cairn_report read_report();

}  // namespace cairn::egl::testing
