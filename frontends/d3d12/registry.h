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

struct SharedCache;

// A session's share in a cache. The cache closes with the last.
class CacheShare {
  public:
    CacheShare() = default;
    ~CacheShare();
    CacheShare(const CacheShare &) = delete;
    CacheShare &operator=(const CacheShare &) = delete;

    // Joins the cache of this identity, which is opened where nobody has it open. The log of the
    // options hears of it as long as the share lasts. ok, disabled, other_version, cannot_open,
    // busy, no_memory.
    Outcome join(const CacheOptions &options);
    SessionCache &cache() const { return *cache_; }

  private:
    std::shared_ptr<SharedCache> shared_;
    SessionCache *cache_ = nullptr;
    uint64_t process_ = 0;  // that has joined
    cairn_log_fn log_ = nullptr;
    void *user_ = nullptr;
};

// Clears the caches that are open and obey the control of this root. ok, or how one failed.
Outcome clear_caches(const std::string &control_root);

}  // namespace cairn::d3d12
