// The places of the agent's sockets, one agent at a time.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state. Failure: a std::runtime_error that says why, for people.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "os/socket_place.h"

namespace cairn::agent {

// An agent that was just ended may be about to release it.
inline constexpr std::uint64_t kLockPatienceUs = 500'000;

[[noreturn]] inline void fail_at(Error error, const std::string &path) {
    throw std::runtime_error(SocketPlace::problem(error, path, "agent"));
}

inline SocketPlace take_place(const std::string &path) {
    auto place = SocketPlace::take(path, kLockPatienceUs);
    if (!place.ok()) fail_at(place.error(), path);
    return std::move(place.value());
}

}  // namespace cairn::agent
