// How much room on disk the user gives an application's program caches.
// SPDX-License-Identifier: MIT
//
// The limit is that of all generations of an application together. Each generation keeps below its
// part of it by itself. The upkeep removes superseded ones. It may run in the process of another
// application, so each generation's directory says in the file `limit` what the user gave its
// application.
//
// Thread safety: functions without state; configured_limit() reads the environment.
// Failure: what is not understood counts for nothing, and has a log line; a file that cannot be
// written is for the next one to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "os/file.h"

namespace cairn {

// Bytes that `application` may take: by CAIRN_LIMIT, else by the configuration; nullopt: nobody has
// said anything. The configuration calls an application what people call it, without the prefix
// "egl-" of the EGL front end. At least kLimitLeast.
std::optional<std::uint64_t> configured_limit(std::string_view application, const Log &log);

// Below this, the parts that generations have would be smaller than a cache can be.
inline constexpr std::uint64_t kLimitLeast = 4u << 20;

// The limit in a generation's directory.
std::optional<std::uint64_t> recorded_limit(const Directory &directory);
// True: it said something else before.
bool record_limit(const Directory &directory, std::optional<std::uint64_t> limit_bytes);

}  // namespace cairn
