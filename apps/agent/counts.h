// What each remote has done for this machine, over time: `<root>/.fleet/counts`, for `cairn remote status`.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised; several processes may add at once (a lock).
// Failure: counts that cannot be read are zero, and those that cannot be written are lost.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "machine.h"

namespace cairn::fleet {

struct RemoteCounts {
    std::uint64_t requests = 0, bytes_in = 0, bytes_out = 0;
    std::uint64_t packs_pulled = 0, entries_pulled = 0;
    std::uint64_t packs_pushed = 0, entries_pushed = 0;
    std::uint64_t commands = 0, commands_failed = 0;
    std::uint64_t used_at_s = 0;  // when it last answered, since 1970; 0: never

    bool operator==(const RemoteCounts &) const = default;
    void add(const RemoteCounts &other);
};

nlohmann::ordered_json json_of(const RemoteCounts &counts);

using CountsOfRemotes = std::map<std::string, RemoteCounts>;  // by the remotes' names

CountsOfRemotes read_counts(const Machine &machine);
void add_counts(const Machine &machine, const CountsOfRemotes &more);

}  // namespace cairn::fleet
