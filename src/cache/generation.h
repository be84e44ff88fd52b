// Generations: caches side by side, one for each identity of driver and application build.
// SPDX-License-Identifier: MIT
//
// A generation is a cache, and in its directory the file `generation`, which says in words what it
// is of. When it was last used is when that file was last modified.
//
// Thread safety: functions without state.
// Failure: as their Status; a generation that cannot be read is none.
#pragma once

#include <cstdint>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

inline constexpr const char *kGenerationFileName = "generation";

struct Generation {
    std::string application;
    std::string build;
    std::string identity;
};

// Whether an application may be named so: 1 to 64 characters as in identifiers.
bool valid_application(const std::string &application);

// The identifier of its cache: the application, a dash, and 16 digits of a hash of it all.
std::string identifier_of(const Generation &generation);

// What the file says.
std::string describe(const Generation &generation);

// Says in a cache's directory what it is, and that it is being used now. False: it was said to be
// something else before, and must be emptied.
Result<bool> claim(const Directory &directory, const Generation &generation);

}  // namespace cairn
