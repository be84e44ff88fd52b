// What a notice is about: which NAME, and whether the user shares it.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state; is_shared() and asks() read the environment and the
// configuration.
// Failure: nullopt or false. A notice may say anything: no path of it is opened.
#pragma once

#include <optional>
#include <string>

#include "cache/agent_notice.h"

namespace cairn::agent {

// The NAME of docs/fleet.md of the cache that was opened; nullopt: it is not below `root`, spelt as
// it is here, or there is no such cache.
std::optional<std::string> name_of(const AgentNotice &notice, const std::string &root);

// Whether the user has said `share = 1` of it, and not `record = 0`. Read anew each time, so that
// a change of the file counts at once.
bool is_shared(const std::string &name);
// Whether its applications may ask, too: `ask_ms` is not 0.
bool asks(const std::string &name);

}  // namespace cairn::agent
