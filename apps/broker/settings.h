// The broker's command line, as values.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "base/log.h"

namespace cairn::broker {

struct BrokerSettings {
    std::string socket_path;
    std::string root;
    std::uint64_t limit_bytes = 0;  // of each cache; 0: as cairn_options
    unsigned clients_max = 32;
    std::uint32_t value_size_max = 16u << 20;
    // Of each client; the broker reads later what is above.
    double messages_per_second = 2000;
    double bytes_per_second = 32.0 * (1u << 20);
    bool require_read_only_mount = false;
    Log::Function log = nullptr;  // gets a line for what happens; no user pointer
};

// Descriptors on their way, of one client and of all together. The kernel charges them to the user,
// who may have as many of them as a process may have open, mostly 1024.
inline constexpr unsigned kInFlightMax = 64;
inline constexpr unsigned kInFlightOfAllMax = 512;
// Unfinished entries of all clients together.
inline constexpr std::uint64_t kUnfinishedBytesMax = 64u << 20;
inline constexpr std::uint64_t kHelloTimeoutNs = 5'000'000'000;
inline constexpr std::uint64_t kStoreTimeoutNs = 5'000'000'000;

}  // namespace cairn::broker
