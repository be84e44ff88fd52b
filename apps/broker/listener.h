// Where clients connect: a socket of our own, or the one that systemd hands over.
// SPDX-License-Identifier: MIT
//
// The broker that serves PATH holds a lock on PATH.lock, which the kernel releases with the process.
// The lock tells a socket that a killed broker left behind from one that is in use, and keeps two
// brokers that start at the same time from taking the socket from one another.
//
// Thread safety: externally synchronised.
// Failure: a std::runtime_error that says why, for people.
#pragma once

#include <optional>
#include <string>

#include "os/byte_lock.h"
#include "os/socket.h"

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
    // Removes the socket's file, if it is ours.
    ~Listener();

    const Socket &socket() const { return socket_; }

  private:
    Socket socket_;
    std::optional<ByteLock> lock_;
    std::string path_;  // "": inherited
};

}  // namespace cairn::broker
