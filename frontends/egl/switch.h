// Whether programs and drivers' blobs are cached at all now: the kind CACHE_FOR_DRIVER of
// cairn_control.h, which a developer switches off and on and empties for all processes.
// SPDX-License-Identifier: MIT
//
// What is on disk is emptied by whoever empties it; the displays' caches in this process are
// emptied when it is noticed here.
//
// Thread safety: any thread. Failure: where there is no control, caching is on.
#pragma once

namespace cairn::egl {

// A display has been initialised: before that there is nothing to cache. The first time, the
// control is opened, which reads the environment.
void open_switch();

// Asked before each look-up and store; takes some nanoseconds.
bool is_caching_on();

}  // namespace cairn::egl
