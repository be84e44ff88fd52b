// The servers behind a remote of Redis: one, or the masters of a cluster, each with the keys of its slots.
// SPDX-License-Identifier: MIT
//
// Which server has a slot is learnt from what the servers say (MOVED, ASK), and kept until one says
// otherwise or is not reached. A server that is down takes its own keys with it and no others.
//
// Thread safety: externally synchronised.
// Failure: a RemoteFailure: no server that has the key can be reached, redirections have no end, or the
// server wants other credentials. Other errors of Redis are failures as well: see fail_of_error().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "remotes/redis_connection.h"

namespace cairn::remotes {

// Of a key, as Redis Cluster counts: the text in the first pair of braces, if there is any, else all.
std::uint16_t redis_slot(std::string_view key);

class RedisNodes {
  public:
    struct Settings {
        std::string remote;  // for messages
        std::vector<RedisNode> seeds;
        std::string database;          // "" or "0": the first
        std::string credentials_file;  // may be empty
    };
    RedisNodes(Settings settings, const Limits &limits)
        : settings_(std::move(settings)), limits_(limits) {}

    // The answer of the server that has this key. It is no error.
    RedisReply ask(std::string_view key, const RedisConnection::Command &command,
                   std::uint64_t answer_max, CallClock &clock);
    // Whether the server of this key was found before.
    bool knows(std::string_view key) const { return slots_.contains(redis_slot(key)); }
    const Traffic &traffic() const { return traffic_; }

  private:
    enum class Asking { yes, no };

    RedisReply ask_node(const RedisNode &node, const RedisConnection::Command &command,
                        std::uint64_t answer_max, CallClock &clock, Asking asking);
    RedisConnection &connection_to(const RedisNode &node, CallClock &clock);
    void log_in(RedisConnection &connection, CallClock &clock);
    // The next one worth asking after `failed`; null: there is none.
    const RedisNode *other_than(const std::set<RedisNode> &failed) const;
    [[noreturn]] void fail_of_error(const RedisReply &reply, const std::string &origin) const;

    const Settings settings_;
    const Limits limits_;
    std::map<RedisNode, RedisConnection> connections_;
    std::map<std::uint16_t, RedisNode> slots_;
    std::set<RedisNode> known_;
    std::string origin_;  // of the credentials
    Traffic traffic_;
};

}  // namespace cairn::remotes
