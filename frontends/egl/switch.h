// Whether programs and drivers' blobs are cached at all now: the kind CACHE_FOR_DRIVER of
// cairn_control.h, which a developer switches off and on and empties for all processes.
// SPDX-License-Identifier: MIT
//
// The process that clears the kind empties the caches on disk; each process empties its displays'
// caches when it notices that.
//
// Thread safety: any thread. Failure: where there is no control, caching is on.
#pragma once

namespace cairn::egl {

// To be called when a display has been initialised: before that there is nothing to cache. The
// first call opens the control, which reads the environment.
void open_switch();

// Asked before each look-up and store; takes some nanoseconds.
bool is_caching_on();

}  // namespace cairn::egl
