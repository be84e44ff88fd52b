// SPDX-License-Identifier: MIT
// Starting an application without its drivers' own caches: what to set in its environment.
// Thread safety: used by main only. Failure: none; what cannot be prepared is done in a coarser
// way.
#pragma once

#include <string>

#include "child.h"

namespace cairn::cli {

// Mesa gives no program binaries where its cache is switched off by MESA_SHADER_CACHE_DISABLE, and
// then Cairn could not keep programs either. With `keeps_binaries` it is given a directory instead
// in which it can keep nothing: one below the root, where a directory stands in the place of the
// cache's index.
Variables without_driver_caches(const std::string &root, bool keeps_binaries);

}  // namespace cairn::cli
