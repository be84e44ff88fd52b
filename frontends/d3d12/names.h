// The place and the name of a session's cache.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions, but for the working directory.
#pragma once

#include <string>

#include "session.h"

namespace cairn::d3d12 {

struct CacheNames {
    std::string root;        // empty: none can be had
    std::string identifier;  // below the root
    std::string identity;    // sessions of one identity share a cache
    std::string about;       // for people
};

CacheNames cache_names(const SessionDesc &desc, const Setting &setting, const AdapterNames &names);

}  // namespace cairn::d3d12
