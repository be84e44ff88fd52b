// Whether the user's configuration has all programs share D3D12 sessions.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread. Reads the configuration file and the environment.
#pragma once

#include <cairn/cairn.h>

#include <string_view>

namespace cairn {

// Of the sessions of this identifier: lower-case digits and hyphens, without braces. A line that
// cannot be read or understood counts for nothing, and is given to `log`, which may be null.
bool are_sessions_shared(std::string_view guid, cairn_log_fn log, void *user);

}  // namespace cairn
