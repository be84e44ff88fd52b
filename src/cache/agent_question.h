// What a process asks the user's agent about an entry that it misses, and what that answers.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/formats/agent.md. An answer names no path: it has the name of a pack in the
// one folder in which the agent keeps packs.
//
// Thread safety: pure functions. Failure: decoding returns nullopt for all but the output of encoding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cairn {

inline constexpr std::size_t kQuestionSizeMax = 4096;
inline constexpr std::size_t kAnswerSize = 56;

struct AgentQuestion {
    std::uint64_t sequence = 0;  // of the connection
    std::uint64_t entry = 0;     // its entry_hash()
    std::string root;
    std::string identifier;  // of the cache
};

using KeptPackName = std::array<std::byte, 32>;

struct AgentAnswer {
    std::uint64_t sequence = 0;        // of the question
    std::optional<KeptPackName> pack;  // nullopt: it cannot be had

    bool operator==(const AgentAnswer &) const = default;
};

// nullopt: it cannot be asked, as the root is no absolute path, or is too long.
std::optional<std::vector<std::byte>> encode_question(const AgentQuestion &question);
std::optional<AgentQuestion> decode_question(Bytes message);
std::array<std::byte, kAnswerSize> encode_answer(const AgentAnswer &answer);
std::optional<AgentAnswer> decode_answer(Bytes message);

// Where the agent keeps packs, and the file of one in there.
std::string kept_packs_path(const std::string &root);
std::string kept_pack_file(const KeptPackName &name);

}  // namespace cairn
