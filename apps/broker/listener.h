// Where clients connect: a socket of our own, or the one that systemd hands over.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Failure: a std::runtime_error that says why, for people.
#pragma once

#include <optional>
#include <string>

#include "os/socket.h"
#include "os/socket_place.h"

namespace cairn::broker {

// The socket of systemd's socket activation, if there is one. Reads and clears the variables
// LISTEN_PID and LISTEN_FDS.
std::optional<Socket> inherited_socket();

class Listener {
  public:
    explicit Listener(Socket inherited) : socket_(std::move(inherited)) {}
    explicit Listener(const std::string &path);
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    const Socket &socket() const { return socket_; }

  private:
    std::optional<SocketPlace> place_;  // nullopt: inherited
    Socket socket_;
};

}  // namespace cairn::broker
