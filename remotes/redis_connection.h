// A connection to one server of Redis: commands and answers, one at a time, within the limits.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Failure: a RemoteFailure, after which the connection is closed and of no use. An answer that is an error of Redis
// is a result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/file.h"
#include "remotes/call_clock.h"
#include "remotes/credentials.h"
#include "remotes/redis_reply.h"
#include "remotes/remote.h"

struct addrinfo;

namespace cairn::remotes {

struct RedisNode {
    std::string host;
    std::uint16_t port = 6379;

    auto operator<=>(const RedisNode &) const = default;
    std::string text() const;
};

class RedisConnection {
  public:
    using Command = std::vector<std::string_view>;

    // Connects. `remote` names it in messages.
    RedisConnection(std::string remote, RedisNode node, const Limits &limits, CallClock &clock);

    RedisReply ask(const Command &command, std::uint64_t answer_max, CallClock &clock,
                   Traffic &traffic);
    // Whether the other side has closed it, or said something unasked, since the last answer.
    bool is_stale() const;

  private:
    void connect(CallClock &clock);
    bool connect_to(const addrinfo &address, CallClock &clock);
    void send(std::string_view bytes, CallClock &clock);
    // Waits for poll()'s events.
    void wait_for(short events, CallClock &clock);
    [[noreturn]] void fail_here(const std::string &what) const;

    const std::string remote_;
    const RedisNode node_;
    const Limits limits_;
    UniqueFd socket_;
};

}  // namespace cairn::remotes
