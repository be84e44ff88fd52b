// SPDX-License-Identifier: MIT
#include "names.h"

#include "base/log.h"
#include "cache/generations.h"
#include "os/root.h"

namespace cairn::agent {

std::optional<std::string> name_of(const AgentNotice &notice, const std::string &root) {
    if (notice.root != root) return std::nullopt;
    const auto opened = open_root(root, Create::no, Log());
    if (!opened.ok()) return std::nullopt;
    const auto directory = opened->open_directory(notice.identifier);
    if (!directory.ok()) return std::nullopt;
    constexpr std::uint64_t kNoVersion = 0;  // it is not asked for
    return subject_of(directory.value(), notice.identifier, kNoVersion).name;
}

bool is_shared(const std::string &name) {
    return wishes_for(name, Log()).shares;
}

bool asks(const std::string &name) {
    return wishes_for(name, Log()).ask_ms != 0;
}

}  // namespace cairn::agent
