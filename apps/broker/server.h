// The broker's loop: one thread waits for all clients at once, and never for a single one.
// SPDX-License-Identifier: MIT
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connection.h"
#include "listener.h"
#include "settings.h"
#include "shared_cache.h"

namespace cairn::broker {

class Server final : public ConnectionHost {
  public:
    Server(const BrokerSettings &settings, const Journal &journal, const Listener &listener)
        : settings_(settings), journal_(journal), listener_(listener) {}
    ~Server() override;

    // Serves until the descriptor can be read from. Throws a std::runtime_error where the system
    // lacks what it needs.
    void run(int until_readable);

    SharedCache *open_cache(const std::string &identifier, std::uint64_t version,
                            Refusal &refusal) override;
    bool reserve_unfinished(std::uint64_t bytes) override;
    void release_unfinished(std::uint64_t bytes) override { unfinished_bytes_ -= bytes; }

  private:
    struct Client {
        std::unique_ptr<Connection> connection;
        bool paused = false;  // over its quota: the loop does not wait for it
    };
    struct Watched {
        Guards guards;                       // outlive the cache: nobody gives back a lent file
        std::unique_ptr<SharedCache> cache;  // null: no client uses it
        int watch = -1;  // of inotify; -1: none, changes of others are seen with the next store
    };
    using Clients = std::map<std::uint64_t, Client>;

    void prepare(int until_readable);
    bool wait_for(int fd, std::uint64_t tag) const;
    void accept_clients();
    void accept_client(Socket socket);
    void serve(std::uint64_t number, std::uint32_t events);
    void read_changes();
    void go_on_with_paused();
    void lend_changes();
    template <typename Which>
    void write_to(Which which);
    template <typename Keep>
    void end_unless(Keep keep);
    void end(Client &client);
    void update(std::uint64_t number, Client &client) const;
    std::size_t client_count();
    void end_overdue();
    bool is_used(const SharedCache *cache) const;
    void close_unused();
    int timeout_ms() const;

    const BrokerSettings &settings_;
    const Journal &journal_;
    const Listener &listener_;
    UniqueFd events_, changes_;
    std::map<std::string, Watched> caches_;  // by identifier
    Clients clients_;                        // by number; after the caches, which they point to
    // Connections that are over, with descriptors on their way in them. They count as clients until
    // the other side has read or closed. So a process gets no more by connecting again.
    std::vector<Socket> leaving_;
    std::uint64_t last_number_ = 0;
    std::uint64_t unfinished_bytes_ = 0;
    std::uint64_t accept_again_ns_ = 0;  // when to try again, as descriptors ran out; 0: now
    bool stop_ = false;
};

}  // namespace cairn::broker
