// What the broker is told on its command line.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace cairn::broker {

struct Settings {
    std::string socket_path;
    std::string root;
    std::uint64_t limit_bytes = 0;  // of each cache; 0: as cairn_options
    unsigned clients_max = 32;
    std::uint32_t value_size_max = 16u << 20;
    // Of each client; what is above is read later.
    double messages_per_second = 2000;
    double bytes_per_second = 32.0 * (1u << 20);
    bool require_read_only_mount = false;
    bool log = false;
};

// Descriptors on their way, of one client and of all together: they are charged to the user, who
// has no more of them than of open descriptors in a process, mostly 1024.
inline constexpr unsigned kInFlightMax = 64;
inline constexpr unsigned kInFlightOfAllMax = 512;
// Unfinished entries of all clients together.
inline constexpr std::uint64_t kUnfinishedBytesMax = 64u << 20;
inline constexpr std::uint64_t kHelloTimeoutNs = 5'000'000'000;
inline constexpr std::uint64_t kStoreTimeoutNs = 5'000'000'000;

}  // namespace cairn::broker
