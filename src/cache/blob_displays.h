// EGL displays whose driver keeps its blobs in a cache of ours, by EGL_ANDROID_blob_cache.
// SPDX-License-Identifier: MIT
//
// The extension gives its functions no argument of ours. So there is a pair of functions for each
// of a fixed number of places, and a place belongs to one display for ever: the driver never gives
// the functions back.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "cache/driver_blobs.h"

namespace cairn::blob_displays {

inline constexpr std::size_t kDisplaysMax = 16;

using SetBlob = void (*)(const void *, std::ptrdiff_t, const void *, std::ptrdiff_t);
using GetBlob = std::ptrdiff_t (*)(const void *, std::ptrdiff_t, void *, std::ptrdiff_t);
using Function = void (*)();
using GetProcAddress = Function (*)(const char *name);

// unsupported: the display does not offer the extension; busy: its functions have been set before;
// full: there are kDisplaysMax displays.
Status attach(void *display, DriverBlobs &blobs, GetProcAddress get_proc_address);
// Waits for calls in progress. False: the display is not attached.
bool detach(void *display);
// The functions given get what the driver asks, in place of the cache, until the display is
// detached; with nulls, the cache does again. False: it is not attached.
bool redirect(void *display, SetBlob set, GetBlob get);

}  // namespace cairn::blob_displays
