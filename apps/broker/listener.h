// Where clients connect: a socket of our own, or the one that systemd hands over.
// SPDX-License-Identifier: MIT
//
// A lock on PATH.lock says who serves PATH; the kernel releases it with the process. So a socket
// that a killed broker left behind is told from one that is in use, and two brokers that start at
// the same time do not take it from one another.
//
// Thread safety: externally synchronised.
#pragma once

#include <cstdint>
#include <string>

#include "os/file.h"
#include "os/socket.h"

namespace cairn::broker {

class Listener {
  public:
    // On failure `problem` says why, for people.
    static bool open(const std::string &path, Listener &listener, std::string &problem);
    // Takes over the descriptor of socket activation, if there is one. Reads and clears the
    // variables LISTEN_PID and LISTEN_FDS. False: there is none, or, with a problem, a wrong one.
    static bool inherit(Listener &listener, std::string &problem);

    Listener() = default;
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;
    // Removes the socket's file, if it is ours.
    ~Listener();

    const Socket &socket() const { return socket_; }

  private:
    Socket socket_;
    File lock_;
    std::string path_;  // "": inherited
};

}  // namespace cairn::broker
