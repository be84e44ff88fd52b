// The caches that this process uses: one for each identity of a driver.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised. Ownership: a cache stays open as long as the process
// lives; the store promises that ending without closing costs nothing. Failure: without a cache
// programs are compiled as ever.
#pragma once

#include <cairn/cairn.h>

#include <string>

namespace cairn::egl {

// The cache for a driver of this identity, opened on first use. Null when it cannot be had; it is
// not tried again.
cairn_cache *cache_for(const std::string &identity);

}  // namespace cairn::egl
