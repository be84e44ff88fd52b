// The caches that this process uses: one for each identity of a driver.
// SPDX-License-Identifier: MIT
//
// A thread of each cache writes entries within milliseconds. Entries that are still queued are
// written when an EGLDisplay is terminated, when the last context of GLX is destroyed, and when the
// process exits; a process that ends otherwise loses them.
//
// Thread safety: internally synchronised. Ownership: a cache stays open as long as the process
// lives; the store promises that ending without closing costs nothing else.
// Failure: without a cache the driver compiles programs as without the front end.
#pragma once

#include <cairn/cairn_program_cache.h>

#include <string>

namespace cairn {
class Account;
}

namespace cairn::gl {

// Shares of the room that the program has on disk, in percent. A driver keeps blobs of each program
// that it compiles; only new links need them.
inline constexpr uint32_t kBlobsPercent = 25;
inline constexpr uint32_t kProgramsPercent = 100 - kBlobsPercent;
inline constexpr uint32_t kAllPercent = 100;
// An eighth.
inline constexpr uint32_t kRecipesPercent = 12;

// By which caches of this program are known: each program has caches of its own, so that no program
// evicts the entries of another, and each is removed by itself.
std::string cache_name();
// Of such a cache on disk. `name` and `identity` must outlive what is returned.
cairn_program_cache_options options_of(const std::string &name, const std::string &identity);

// The cache for a driver of this identity, opened on first use. Null when it cannot be opened;
// later calls do not try again.
cairn_cache *cache_for(const std::string &identity, uint32_t limit_percent);

// The account of that cache, opened before, or of none.
Account &account_for(const std::string &identity);

// The same for the application's recipes (docs/recipes.md).
cairn_cache *recipes_cache();

// Waits until the entries are on disk, for a second at most.
void flush_caches();

// Programs and drivers' blobs are the kind CACHE_FOR_DRIVER of cairn_control.h, which a developer
// switches off and on and empties for all processes. The process that clears the kind empties the
// caches on disk; each process empties its ProgramMemory when it notices that. Where there is no
// control, caching is on.

// To be called before the first context can be made: before that there is nothing to cache. The
// first call opens the control, which reads the environment.
void open_switch();

// Asked before each look-up and store; takes some nanoseconds.
bool is_caching_on();

}  // namespace cairn::gl
