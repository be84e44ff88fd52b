// SPDX-License-Identifier: MIT
#include "cache/agent_notice.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/guarded.h"
#include "base/hash.h"
#include "os/datagram.h"
#include "os/environment.h"
#include "os/root.h"
#include "recipe/player.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CNNOTICE";
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kKindOpened = 1;
constexpr std::size_t kVersionAt = 8, kKindAt = 10, kRootSizeAt = 12, kIdentifierSizeAt = 14;
constexpr std::size_t kHeaderSize = 16;

std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::atomic<bool> tells_nothing = false;

// The caches that were told of, as hashes; 0 is a free place. A hash has the process in it: a child
// of fork() is a process that opens caches, too, and inherits what its parent has told of. Each
// place is taken once, so there is nothing to lock. A process with more caches tells of no more.
constexpr std::size_t kToldMax = 256;
std::array<std::atomic<std::uint64_t>, kToldMax> told = {};

std::uint64_t hash_of(Bytes notice) {
    HashSeed seed = {};
    put_le(seed, 0, process_number());
    return std::max<std::uint64_t>(keyed_hash(notice, seed), 1);
}

// False: it was told of, or there is no room to remember it.
bool take_note_of(std::uint64_t hash) {
    for (std::size_t i = 0; i < kToldMax; ++i) {
        auto &place = told[(hash + i) % kToldMax];
        std::uint64_t there = 0;
        if (place.compare_exchange_strong(there, hash, std::memory_order_relaxed)) return true;
        if (there == hash) return false;
    }
    return false;
}

void tell(const std::string &root, const std::string &identifier) {
    if (is_no_application()) return;
    const auto socket = default_agent_socket();
    if (!socket) return;
    const auto notice = encode_agent_notice(root, identifier);
    if (!notice || !take_note_of(hash_of(*notice))) return;
    (void)send_datagram(*socket, *notice);
}

}  // namespace

bool is_valid_root(std::string_view root) {
    return root.starts_with('/') && root.find('\0') == std::string_view::npos;
}

std::optional<std::vector<std::byte>> encode_agent_notice(std::string_view root,
                                                          std::string_view identifier) {
    const std::size_t room = kAgentNoticeSizeMax - kHeaderSize;
    if (!is_valid_root(root) || !valid_identifier(std::string(identifier)) ||
        root.size() > room - identifier.size()) {
        return std::nullopt;
    }
    std::vector<std::byte> message(kHeaderSize);
    std::ranges::copy(as_bytes(kMagic), message.begin());
    put_le(message, kVersionAt, kVersion);
    put_le(message, kKindAt, kKindOpened);
    put_le(message, kRootSizeAt, static_cast<std::uint16_t>(root.size()));
    put_le(message, kIdentifierSizeAt, static_cast<std::uint16_t>(identifier.size()));
    for (const std::string_view text : {root, identifier}) {
        const Bytes bytes = as_bytes(text);
        message.insert(message.end(), bytes.begin(), bytes.end());
    }
    return message;
}

std::optional<AgentNotice> decode_agent_notice(Bytes message) {
    if (message.size() < kHeaderSize || message.size() > kAgentNoticeSizeMax) return std::nullopt;
    const std::size_t root_size = get_le<std::uint16_t>(message, kRootSizeAt);
    const std::size_t identifier_size = get_le<std::uint16_t>(message, kIdentifierSizeAt);
    if (as_text(message.first(kMagic.size())) != kMagic ||
        get_le<std::uint16_t>(message, kVersionAt) != kVersion ||
        get_le<std::uint16_t>(message, kKindAt) != kKindOpened ||
        message.size() != kHeaderSize + root_size + identifier_size) {
        return std::nullopt;
    }
    AgentNotice notice = {std::string(as_text(message.subspan(kHeaderSize, root_size))),
                          std::string(as_text(message.last(identifier_size)))};
    if (!is_valid_root(notice.root) || !valid_identifier(notice.identifier)) return std::nullopt;
    return notice;
}

// The cache is open: a lack of memory is no reason to close it.
void tell_agent(const std::string &root, const std::string &identifier) {
    const auto call = [&] {
        tell(root, identifier);
        return true;
    };
    (void)guarded(call, false);
}

void tell_agent_nothing() {
    tells_nothing.store(true, std::memory_order_relaxed);
}

// The player loads what an application loads, and is none.
bool is_no_application() {
    return tells_nothing.load(std::memory_order_relaxed) ||
           environment_variable(recipe::kWarmVariable).has_value();
}

}  // namespace cairn
