// The caches that this process uses: one for each identity of a driver.
// SPDX-License-Identifier: MIT
//
// Entries are written by a thread of each cache, within milliseconds. What is still queued is
// written when a display is terminated and when the process exits; what ends otherwise loses it.
//
// Thread safety: internally synchronised. Ownership: a cache stays open as long as the process
// lives; the store promises that ending without closing costs nothing else.
// Failure: without a cache programs are compiled as ever.
#pragma once

#include <cairn/cairn.h>

#include <string>

namespace cairn::egl {

// Of the room that the program has on disk, in percent. A driver keeps something of each program
// that it compiles, which is needed for what is linked anew only.
inline constexpr uint32_t kBlobsPercent = 25;
inline constexpr uint32_t kProgramsPercent = 100 - kBlobsPercent;
inline constexpr uint32_t kAllPercent = 100;

// The cache for a driver of this identity, opened on first use. Null when it cannot be had; it is
// not tried again.
cairn_cache *cache_for(const std::string &identity, uint32_t limit_percent);

// Waits until what was stored is on disk, for a second at most.
void flush_caches();

}  // namespace cairn::egl
