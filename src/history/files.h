// The files in a cache's directory that hold what is remembered of look-ups: docs/formats/history.md.
// SPDX-License-Identifier: MIT
//
// They go with the cache's entries: who clears the cache forgets them. Processes that have one mapped
// see that by its word `is_void`, and make a new one.
//
// Thread safety: functions without state; any number of processes may be at it.
// Failure: what cannot be removed stays. A process that has a file mapped which lost its name in
// another way than by these functions notices that, too, with its next miss.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

inline constexpr const char *kHistoryFileName = "history";
// The first lines of sources, where the user wants them kept: `cairn run --keep-sources`.
inline constexpr const char *kSourcesFileName = "sources";

// Removes the first of them.
void remove_history(const Directory &cache);
// Removes both.
void forget_history(const Directory &cache);

}  // namespace cairn
