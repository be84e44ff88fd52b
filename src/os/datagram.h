// Unix sockets for single messages without a connection (SOCK_DGRAM).
// SPDX-License-Identifier: MIT
//
// Thread safety: const methods may run concurrently; the kernel orders them.
// Ownership: closes its descriptor when it is destroyed; the socket's file stays.
// Failure: no call waits. busy: not now. No signal is raised.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

// Sends one message to the socket at `path`: three system calls, whatever is there. not_found:
// there is no socket, or no process listens. busy: its queue is full.
Status send_datagram(const std::string &path, Bytes message);

class DatagramSocket {
  public:
    struct Received {
        std::size_t size_bytes;
        std::uint32_t user;  // who sent it, as the kernel knows it
    };

    DatagramSocket() = default;
    // Takes over a descriptor that another process made. invalid_argument: it is not a socket of
    // this kind with a name, and is closed.
    static Result<DatagramSocket> adopt(UniqueFd fd);
    // Its file has mode 0600. exists: there is something of that name.
    static Result<DatagramSocket> bind(const std::string &path);

    int fd() const { return fd_.get(); }
    // Where it was bound, as it was written then.
    Result<std::string> path() const;
    // busy: there is no message. corrupt: one that is larger than the buffer, or of nobody, which
    // is gone now.
    Result<Received> receive(MutableBytes buffer) const;

  private:
    explicit DatagramSocket(UniqueFd fd) : fd_(std::move(fd)) {}
    Status name_senders() const;

    UniqueFd fd_;
};

}  // namespace cairn
