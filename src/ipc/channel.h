// One end of a connection between a broker and a client: messages, descriptors, a bounded queue.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Ownership: owns the socket and what is queued.
// Failure: nothing waits. io: the other side is gone, for good; corrupt: it sent garbage.
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
    // `descriptors` says whether received messages may bring descriptors.
    Channel(Socket socket, std::size_t queue_bytes_max, Socket::Descriptors descriptors)
        : socket_(std::move(socket)),
          queue_bytes_max_(queue_bytes_max),
          descriptors_(descriptors),
          buffer_(kMessageSizeMax) {}

    const Socket &socket() const { return socket_; }
    // Gives the socket away; the channel is of no use afterwards.
    Socket release_socket() { return std::move(socket_); }

    // Whether an empty queue would take that many messages with that many bytes together.
    bool could_hold(std::size_t bytes, std::size_t messages) const {
        return bytes + messages * kMessageCost <= queue_bytes_max_;
    }
    // Whether the queue takes them now.
    bool has_room(std::size_t bytes, std::size_t messages) const {
        return could_hold(queued_bytes_ + bytes, messages);
    }
    // Queues a message behind the others. full: the queue has no room for it.
    Status enqueue(const Message &message);
    // Sends queued messages as far as the kernel takes them. busy: some are left.
    Status flush();
    // Sends the queue, and then a message with descriptors. busy: not all could be sent.
    Status send(const Message &message, std::span<const int> descriptors);

    // The number of entries that are still queued, wholly or in part.
    std::size_t queued_stores() const;
    std::size_t queued_bytes() const { return queued_bytes_; }
    bool queue_empty() const { return queue_.empty(); }

    // A received message. Points into the channel, and is valid until the next call. busy: none.
    struct Incoming {
        Message message;
        std::vector<UniqueFd> descriptors;
        std::size_t size_bytes;
    };
    Result<Incoming> receive();

  private:
    // About what a queued message costs besides its bytes.
    static constexpr std::size_t kMessageCost = 64;

    Socket socket_;
    const std::size_t queue_bytes_max_;
    const Socket::Descriptors descriptors_;
    std::vector<std::byte> buffer_;
    std::deque<std::vector<std::byte>> queue_;
    std::size_t queued_bytes_ = 0;
};

}  // namespace cairn
