// The place, the name and the limits of a session's cache.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions, but for the working directory.
#pragma once

#include "com/types.h"
#include "disk_level.h"
#include "setting.h"

namespace cairn::d3d12 {

// `desc` has no zeros that stand for defaults any more.
CacheOptions cache_options(const SessionDesc &desc, const Setting &setting,
                           const AdapterNames &names);

}  // namespace cairn::d3d12
