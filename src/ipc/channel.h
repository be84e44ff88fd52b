// One end of a connection between a broker and a client: messages, descriptors, a bounded queue.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Ownership: owns the socket and what is queued.
// Failure: nothing waits. io: the other side is gone, for good. Garbage from it is corrupt.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "base/result.h"
#include "ipc/message.h"
#include "os/socket.h"

namespace cairn {

class Channel {
  public:
    // `descriptors` says whether what is received may bring any.
    Channel(Socket socket, std::size_t queue_bytes_max, Socket::Descriptors descriptors)
        : socket_(std::move(socket)),
          queue_bytes_max_(queue_bytes_max),
          descriptors_(descriptors),
          buffer_(kMessageSizeMax) {}

    const Socket &socket() const { return socket_; }
    // The socket alone; this object is of no use any more.
    Socket release_socket() { return std::move(socket_); }

    // Whether so many messages of together so many bytes would be taken if there were no others.
    bool could_hold(std::size_t bytes, std::size_t messages) const {
        return bytes + messages * kMessageCost <= queue_bytes_max_;
    }
    // The same now.
    bool has_room(std::size_t bytes, std::size_t messages) const {
        return could_hold(queued_bytes_ + bytes, messages);
    }
    // Queues a message behind the others. full: the queue has no room for it.
    Status enqueue(const Message &message);
    // Sends what is queued, as far as the kernel takes it. busy: something is left.
    Status flush();
    // Sends a message now, past the queue, which must be empty, and descriptors with it. busy.
    Status send(const Message &message, std::span<const int> descriptors);

    // Entries that wait, whole or in part.
    std::size_t queued_stores() const;
    std::size_t queued_bytes() const { return queued_bytes_; }
    bool queue_empty() const { return queue_.empty(); }

    // What came in; points into this object and is valid until the next call. busy: nothing.
    struct Incoming {
        Message message;
        std::vector<UniqueFd> descriptors;
        std::size_t size_bytes;
    };
    Result<Incoming> receive();

  private:
    // What a queued message costs besides its bytes, about.
    static constexpr std::size_t kMessageCost = 64;

    Socket socket_;
    const std::size_t queue_bytes_max_;
    const Socket::Descriptors descriptors_;
    std::vector<std::byte> buffer_;
    std::deque<std::vector<std::byte>> queue_;
    std::size_t queued_bytes_ = 0;
};

}  // namespace cairn
