// Which caches of a root belong to which kind, and emptying all of a kind.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state; caches may be in use meanwhile.
// Failure: what can be emptied is; the first error is returned, and each has a log line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace cairn {

// The kinds have the values of D3D12_SHADER_CACHE_KIND_FLAGS.
enum Kind : std::uint32_t {
    kind_none = 0x0,
    kind_cache_for_driver = 0x1,
    kind_conversions = 0x2,
    kind_driver_managed = 0x4,
    kind_application_managed = 0x8,
};

Kind kind_of_identifier(std::string_view identifier);

// Empties the caches directly below the root that are of one of these kinds. A root that is not
// there holds none.
Status clear_kinds(const std::string &root, std::uint32_t kinds, const Log &log);

}  // namespace cairn
