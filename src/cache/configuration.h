// What the user configures: `cairn/config` in the configuration directory, and the environment.
// SPDX-License-Identifier: MIT
//
// The file has lines `name = value`; `#` begins a comment. It must be the user's own or the
// system's, and not writable by others, and have at most 64 KiB.
//
// Thread safety: functions without state; the environment is read when they are called.
// Failure: what cannot be read or understood counts for nothing, and has a log line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace cairn {

// $XDG_CONFIG_HOME/cairn/config or ~/.config/cairn/config; nullopt when the user has no home.
std::optional<std::string> configuration_path();

// What a configuration of this text says of developer mode; nullopt: nothing. `name` is the file's,
// for log lines.
std::optional<bool> developer_mode_in(std::string_view text, const char *name, const Log &log);

// Whether this user may control caches: by CAIRN_DEVELOPER_MODE, else by the file.
bool is_developer_mode(const Log &log);

}  // namespace cairn
