// One client: its quota, the files that were lent to it, and the entry that it is sending.
// SPDX-License-Identifier: MIT
//
// A client can at worst end its own connection: nothing here waits for it, and the memory that is
// kept for it is bounded.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/token_bucket.h"
#include "ipc/channel.h"
#include "settings.h"
#include "shared_cache.h"

namespace cairn::broker {

class Server;

class Connection {
  public:
    // `number`: for log lines.
    Connection(Server &server, const BrokerSettings &settings, Socket socket, std::uint64_t number,
               std::uint64_t now_ns);
    ~Connection();
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    const Socket &socket() const { return channel_.socket(); }
    SharedCache *cache() const { return cache_; }

    // Reads some of the messages that came in. False: the connection is over.
    bool read(std::uint64_t now_ns);
    // Sends answers, and descriptors that the client lacks. False as above.
    bool write();
    // Whether write() has to be called when the client has read.
    bool wants_to_write() const { return blocked_; }
    // Whether it has used up its quota. Then it is read from later.
    bool over_quota(std::uint64_t now_ns);
    // Whether it has acknowledged descriptors before it took them in.
    bool acknowledged_early() const { return acknowledged_ != 0; }
    // Once the connection is over: the socket, if descriptors are still on their way in it.
    std::optional<Socket> release_if_in_flight();
    // Whether it has kept us waiting for too long, which is logged.
    bool overdue(std::uint64_t now_ns) const;

  private:
    struct Unfinished {  // an entry whose first part has come
        std::uint32_t flags, cost_us;
        std::size_t key_size, size;
        std::size_t received = 0;
        bool discarded = false;  // there was no room for it
        std::vector<std::byte> data = {};
    };

    bool handle(const Message &message, std::uint64_t now_ns);
    bool handle_hello(const Hello &hello);
    bool handle_store(const StoreHead &head, std::uint64_t now_ns);
    bool handle_data(Bytes data);
    bool handle_hits(const Hits &hits);
    bool handle_received(std::uint32_t count);
    bool welcome();
    bool refuse(Refusal reason);
    void finish_store();
    void abandon_store();
    bool answer(const Message &message);
    void settle_received();
    Status lend_index();
    Status lend_segments();

    Server &server_;
    const BrokerSettings &settings_;
    const Log log_;
    const std::uint64_t number_;
    const std::uint32_t in_flight_max_;
    Channel channel_;
    SharedCache *cache_ = nullptr;
    std::uint64_t deadline_ns_;  // 0: none
    TokenBucket messages_, bytes_;

    bool started_ = false;
    bool blocked_ = false;
    bool complete_sent_ = false;
    // Descriptors on their way. They leave the first count when the client has acknowledged them
    // and the kernel has confirmed it; the second one counts those that only the client confirms.
    std::uint32_t in_flight_ = 0;
    std::uint32_t acknowledged_ = 0;
    std::uint64_t lent_index_ = 0;
    std::map<std::uint32_t, std::uint64_t> lent_;  // segments and their inodes

    std::optional<Unfinished> unfinished_;
    std::uint64_t stored_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace cairn::broker
