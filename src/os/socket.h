// Unix sockets that keep the borders of messages and carry descriptors (SOCK_SEQPACKET).
// SPDX-License-Identifier: MIT
//
// Thread safety: const methods may run concurrently; the kernel orders them.
// Ownership: closes its descriptor when it is destroyed.
// Failure: no call waits, but for wait(). busy: not now, the other side has to read or write first.
// not_found: no process listens there. io: the other side is gone. No signal is raised.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

// How many descriptors one message carries at most.
inline constexpr std::size_t kDescriptorsPerMessage = 16;

class Socket {
  public:
    enum class For { reading, writing };
    enum class Descriptors { take, refuse };

    Socket() = default;
    explicit Socket(UniqueFd fd) : fd_(std::move(fd)) {}
    // Takes over a descriptor that another process made. invalid_argument: it is not a socket of
    // this kind, and is closed.
    static Result<Socket> adopt(UniqueFd fd);
    static Result<std::pair<Socket, Socket>> pair();
    static Result<Socket> connect(const std::string &path);
    // exists: there is something of that name.
    static Result<Socket> listen(const std::string &path);

    bool valid() const { return fd_.valid(); }
    int fd() const { return fd_.get(); }
    int release() { return fd_.release(); }

    // busy: no process wants to connect now.
    Result<Socket> accept() const;
    // The user on the other side, as the kernel knows it since it connected.
    Result<std::uint32_t> peer_user() const;

    // One message, with duplicates of descriptors.
    Status send(Bytes message, std::span<const int> descriptors = {}) const;
    // The size of one message; 0: the other side is gone. corrupt: it is larger than the buffer.
    // Descriptors in it go to `descriptors`, fewer than were sent where this process may have no
    // more; null takes none, and the kernel closes them.
    Result<std::size_t> receive(MutableBytes buffer, std::vector<UniqueFd> *descriptors) const;
    // Whether the other side has taken in all that was sent, or is gone. The kernel knows: nothing
    // that the other side does or says changes the answer.
    bool drained() const;
    // False: it cannot be read from (written to) yet, `timeout_ms` later. True also when the other
    // side is gone.
    bool wait(For what, int timeout_ms) const;
    // Nothing more goes through, in any process that has it.
    void shut_down() const;

  private:
    UniqueFd fd_;
};

}  // namespace cairn
