// What an application tells the user's agent when it opens a cache. Format: docs/formats/agent.md.
// SPDX-License-Identifier: MIT
//
// The agent may be dead, hung or not there: the application waits for nothing, and does not look.
//
// Thread safety: any thread. Failure: decoding returns nullopt for all but the output of encoding.
// What cannot be told is not told, without a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cairn {

inline constexpr std::size_t kAgentNoticeSizeMax = 4096;

struct AgentNotice {  // a cache was opened
    std::string root;
    std::string identifier;
};

// Whether it is an absolute path that a message can carry.
bool is_valid_root(std::string_view root);

// nullopt: it has no notice, as the root is no absolute path, or is too long.
std::optional<std::vector<std::byte>> encode_agent_notice(std::string_view root,
                                                          std::string_view identifier);
std::optional<AgentNotice> decode_agent_notice(Bytes message);

// Tells the agent, with each process's first call for a cache. Three system calls on the calling
// thread, and none for a cache that was told of. Reads the environment.
void tell_agent(const std::string &root, const std::string &identifier);

// From now on this process tells nothing. For our own programs, which open caches that no
// application has started to use.
void tell_agent_nothing();
// Whether that was called, or this is the player behind `cairn warm`. Reads the environment.
bool is_no_application();

}  // namespace cairn
