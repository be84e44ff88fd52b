// Generations: caches side by side, one for each identity of driver and application build.
// SPDX-License-Identifier: MIT
//
// A generation is a cache, and in its directory the file `generation`, which says in words what it
// is of. When it was last used is when that file was last modified.
//
// Thread safety: functions without state.
// Failure: as their Status; a generation that cannot be read is none.
#pragma once

#include <functional>
#include <string>

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

// The text of the file.
std::string describe(const Generation &generation);

// Whether a cache's directory says that it is of something else, or nothing that can be understood.
Result<bool> is_of_another(const Directory &directory, const Generation &generation);

// Says in a cache's directory what it is, and that it is being used now. One of something else is
// emptied before. After an error, of that or of reading, nothing is said. What cannot be said, as
// on a full disk, is for the next one to say.
Status claim(const Directory &directory, const Generation &generation,
             const std::function<Status()> &empty);

}  // namespace cairn
