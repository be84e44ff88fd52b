// A client of a broker that says what it likes.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "ipc/message.h"
#include "os/socket.h"

namespace cairn_test {

inline cairn::Bytes view(std::string_view text) {
    return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

class Raw {
  public:
    explicit Raw(const Broker &broker) {
        eventually([&] {
            auto socket = cairn::Socket::connect(broker.socket());
            if (socket.ok()) socket_ = std::move(socket.value());
            return socket_.valid();
        });
    }
    // Waits until there is room. False: the broker has closed.
    bool send(cairn::Bytes bytes, std::span<const int> descriptors = {}) {
        for (;;) {
            const cairn::Status status = socket_.send(bytes, descriptors);
            if (status.ok()) return true;
            if (status.error() != cairn::Error::busy) return false;
            socket_.wait(cairn::Socket::For::writing, 100);
        }
    }
    bool send(const cairn::Message &message) { return send(encode_message(message)); }
    // The same, but gives up when there is no room.
    cairn::Status try_send(const cairn::Message &message) {
        return socket_.send(encode_message(message));
    }
    bool hello(const std::string &identifier = "bad") {
        return send(cairn::Hello{cairn::kProtocolVersion, 1, identifier});
    }
    // Reads until the broker closes.
    bool closed() {
        for (;;) {
            socket_.wait(cairn::Socket::For::reading, static_cast<int>(kPatienceMs));
            std::vector<std::byte> buffer(cairn::kMessageSizeMax);
            const auto count = socket_.receive(buffer, nullptr);
            if (!count.ok()) return count.error() != cairn::Error::busy;
            if (count.value() == 0) return true;
        }
    }
    // All descriptors that have come by now.
    std::vector<cairn::UniqueFd> take_descriptors() {
        std::vector<cairn::UniqueFd> taken;
        std::vector<std::byte> buffer(cairn::kMessageSizeMax);
        for (;;) {
            const auto count = socket_.receive(buffer, &taken);
            if (!count.ok() || count.value() == 0) return taken;
        }
    }
    const cairn::Socket &socket() const { return socket_; }

  private:
    cairn::Socket socket_;
};

// The first message of an entry; `whole` is all of it.
inline cairn::StoreHead store(const std::string &key, const std::string &value,
                              std::string &whole) {
    whole = key + value;
    cairn::StoreHead head;
    head.key_size = static_cast<std::uint32_t>(key.size());
    head.value_size = static_cast<std::uint32_t>(value.size());
    head.data =
        view(whole).first(std::min(whole.size(), cairn::kMessageSizeMax - cairn::kStoreHeadSize));
    return head;
}

}  // namespace cairn_test
