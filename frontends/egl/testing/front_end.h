// The EGL front end started in a test's process, without a driver behind it.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <EGL/egl.h>

namespace cairn::egl::testing {

// Starts it as GLVND would, once in a process: what it loads lives for ever.
void start_front_end();
// EGL's error, as the front end has set it since it was last asked for.
EGLint take_error();
// The answer of GLVND when it is asked for a function of a display's vendor, and whether it knows
// the display. Null and true at first.
extern void *g_dispatch_entry;
extern bool g_knows_displays;

}  // namespace cairn::egl::testing
