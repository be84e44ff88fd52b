// Opens the directories that caches live in, and refuses unsafe ones.
// SPDX-License-Identifier: MIT
//
// A cache feeds bytes to graphics drivers, so only its user may be able to write them. The root and
// the cache's directory must not be symbolic links, must belong to the user, and must not be
// writable by others.
//
// Thread safety: functions without state.
// Failure: denied, with one log line that says what is wrong and what to do; read_only, no_space,
// io, ...
#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

enum class Create { yes, no };

// Opens the root. Creates it if it is missing (0700, with a CACHEDIR.TAG), and its parents.
Result<Directory> open_root(const std::string &path, Create create, const Log &log);

// Opens the directory of a cache below the root, or a folder of it. `created` says whether it is new.
// `shown`: what log lines call it, if not by its name.
struct OpenedDirectory {
    Directory directory;
    bool created = false;
};
Result<OpenedDirectory> open_cache_directory(const Directory &root, const std::string &name,
                                             Create create, const Log &log,
                                             const std::string &shown = {});

// Whether a string may name a cache: 1 to 128 of A-Z a-z 0-9 . _ - and no dot first.
bool valid_identifier(std::string_view identifier);

// An error in words, for log lines.
const char *error_name(Error error);

}  // namespace cairn
