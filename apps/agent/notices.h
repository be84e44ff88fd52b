// The agent's socket: what applications tell when they start. Format: docs/formats/agent.md.
// SPDX-License-Identifier: MIT
//
// Nothing that a notice says is believed here. A process that floods the socket costs the agent a
// bounded number of messages in a second. The rest stays in the kernel's queue, and when that is
// full the kernel refuses more at once.
//
// Thread safety: one thread.
// Failure: the constructor throws a std::runtime_error that says why, for people. Later what cannot
// be read counts as nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/token_bucket.h"
#include "cache/agent_notice.h"
#include "os/datagram.h"
#include "os/socket_place.h"

namespace cairn::agent {

// The socket of systemd's socket activation, if there is one. Reads and clears the variables
// LISTEN_PID and LISTEN_FDS.
std::optional<DatagramSocket> inherited_socket();

class Notices {
  public:
    struct Counts {
        std::uint64_t taken = 0;
        std::uint64_t malformed = 0;
        std::uint64_t foreign = 0;  // of other users
    };
    static constexpr double kPerSecond = 50;

    // At `path`; an agent that lives there is a failure.
    explicit Notices(const std::string &path, double per_second = kPerSecond);
    explicit Notices(DatagramSocket inherited, double per_second = kPerSecond);
    Notices(const Notices &) = delete;
    Notices &operator=(const Notices &) = delete;

    // Waits until there are notices, one of the other descriptors can be read from, or the time is
    // over, and gives the notices that have come. It may return early, with none.
    std::vector<AgentNotice> wait(std::uint64_t timeout_ms, std::span<const int> others = {});

    const Counts &counts() const { return counts_; }

  private:
    void take(std::vector<AgentNotice> &notices);

    SocketPlace place_;
    DatagramSocket socket_;
    TokenBucket messages_;
    Counts counts_;
};

}  // namespace cairn::agent
