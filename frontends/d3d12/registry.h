// The caches that are open in this process, by identity.
// SPDX-License-Identifier: MIT
//
// Thread safety: all functions at once. Opening and closing a cache hold up nobody but those who
// want the same one.
// Lifetime: the registry itself is never destroyed, so that objects may be released at any time,
// also at the end of the process. Forking: a child has a registry of its own, empty at first;
// sessions that it inherited can be released, and what they share stays open.
#pragma once

#include <memory>
#include <string>

#include "session_cache.h"

namespace cairn::d3d12 {

// Joins the cache of this identity, which is opened where nobody has it open. `cache` is the
// session's share in it: the cache closes with the last, and the log of the options hears of it
// until then. ok, disabled, other_version, cannot_open, busy, no_memory.
Outcome join_cache(const CacheOptions &options, std::shared_ptr<SessionCache> &cache);

// Clears the caches that are open and obey the control of this root. ok, or how one failed.
Outcome clear_caches(const std::string &control_root);

}  // namespace cairn::d3d12
