// The broker's loop: one thread waits for all clients at once, and never for a single one.
// SPDX-License-Identifier: MIT
//
// Thread safety: one thread.
#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "connection.h"
#include "listener.h"
#include "settings.h"
#include "shared_cache.h"

namespace cairn::broker {

class Server {
  public:
    Server(const BrokerSettings &settings, const Listener &listener)
        : settings_(settings), log_(settings.log, nullptr), listener_(listener) {}

    // Serves until the descriptor can be read from.
    void run(int until_readable);

    // For connections. The cache of that name, opened for its first client. Null when there is
    // none; `refusal` says why.
    SharedCache *open_cache(const std::string &identifier, std::uint64_t version, Refusal &refusal);
    // Takes from (gives back to) the bytes that the unfinished entries of all clients may hold.
    bool reserve_unfinished(std::uint64_t bytes);
    void release_unfinished(std::uint64_t bytes) { unfinished_bytes_ -= bytes; }

  private:
    std::vector<pollfd> wait(int until_readable);
    void accept_clients();
    void accept_client(Socket socket);
    void watch(SharedCache &cache);
    void read_changes();
    void lend_changes();
    template <typename Keep>
    void end_unless(Keep keep);
    void close_unused();

    const BrokerSettings &settings_;
    const Log log_;
    const Listener &listener_;
    UniqueFd changes_;                           // inotify; not valid: the system has none
    std::map<std::string, SharedCache> caches_;  // by identifier
    std::list<Connection> clients_;              // after the caches, which they point to
    // Connections that are over, with descriptors on their way in them. They count as clients until
    // the other side has read or closed. So a process gets no more by connecting again.
    std::vector<Socket> leaving_;
    std::uint64_t last_number_ = 0;
    std::uint64_t unfinished_bytes_ = 0;
    std::uint64_t accept_again_ns_ = 0;  // when to try again, as descriptors ran out
};

}  // namespace cairn::broker
