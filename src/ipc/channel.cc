// SPDX-License-Identifier: MIT
#include "ipc/channel.h"

namespace cairn {

Status Channel::enqueue(const Message &message) {
    std::vector<std::byte> bytes = encode_message(message);
    if (!has_room(bytes.size(), 1)) return Error::full;
    queued_bytes_ += bytes.size() + kMessageCost;
    queue_.push_back(std::move(bytes));
    return {};
}

Status Channel::flush() {
    while (!queue_.empty()) {
        TRY(socket_.send(queue_.front()));
        queued_bytes_ -= queue_.front().size() + kMessageCost;
        queue_.pop_front();
    }
    return {};
}

std::size_t Channel::queued_stores() const {
    // A part of the first one may have been sent already.
    const auto is_type = [](const std::vector<std::byte> &bytes, MessageType type) {
        return get_le<std::uint16_t>(bytes, 0) == static_cast<std::uint16_t>(type);
    };
    std::size_t count = 0;
    for (const auto &bytes : queue_) count += is_type(bytes, MessageType::store) ? 1u : 0u;
    const bool torn = !queue_.empty() && is_type(queue_.front(), MessageType::store_data);
    return count + (torn ? 1u : 0u);
}

Status Channel::send(const Message &message, std::span<const int> descriptors) {
    TRY(flush());
    return socket_.send(encode_message(message), descriptors);
}

Result<Channel::Incoming> Channel::receive() {
    std::vector<UniqueFd> descriptors;
    TRY_ASSIGN(const std::size_t size,
               socket_.receive(buffer_,
                               descriptors_ == Socket::Descriptors::take ? &descriptors : nullptr));
    if (size == 0) return Error::io;
    auto message = decode_message(Bytes(buffer_).first(size));
    if (!message) return Error::corrupt;
    return Incoming{std::move(*message), std::move(descriptors), size};
}

}  // namespace cairn
