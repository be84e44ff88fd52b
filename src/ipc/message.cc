// SPDX-License-Identifier: MIT
#include "ipc/message.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cairn {
namespace {

class Encoder {
  public:
    Encoder() : bytes_(kMessageHeaderSize) {}

    template <typename T>
    Encoder &number(T value) {
        std::array<std::byte, sizeof(T)> bytes;
        put_le(bytes, 0, value);
        return raw(bytes);
    }
    Encoder &raw(Bytes bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    // With its size in front.
    Encoder &sized(Bytes bytes) {
        return number(static_cast<std::uint16_t>(bytes.size())).raw(bytes);
    }

    std::vector<std::byte> finish(MessageType type) {
        assert(bytes_.size() <= kMessageSizeMax);
        put_le(bytes_, 0, static_cast<std::uint16_t>(type));
        put_le(bytes_, 4, static_cast<std::uint32_t>(bytes_.size()));
        return std::move(bytes_);
    }

  private:
    std::vector<std::byte> bytes_;
};

// Takes fields from the front. Once a field is missing, all later ones are zero and whole() is
// false.
class Decoder {
  public:
    explicit Decoder(Bytes bytes) : left_(bytes) {}

    template <typename T>
    T number() {
        const Bytes bytes = take(sizeof(T));
        return bytes.empty() ? T{0} : get_le<T>(bytes, 0);
    }
    Bytes sized() { return take(number<std::uint16_t>()); }
    std::string_view text() {
        const Bytes bytes = sized();
        return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    }
    Bytes rest() { return take(left_.size()); }
    // Nothing was missing, and nothing is left.
    bool whole() const { return !missing_ && left_.empty(); }

  private:
    Bytes take(std::size_t size) {
        if (size > left_.size()) {
            missing_ = true;
            left_ = {};
            return {};
        }
        const Bytes taken = left_.first(size);
        left_ = left_.subspan(size);
        return taken;
    }

    Bytes left_;
    bool missing_ = false;
};

struct Encode {
    std::vector<std::byte> operator()(const Hello &m) const {
        return Encoder()
            .number(m.protocol_version)
            .number(m.contents_version)
            .sized(as_bytes(m.identifier))
            .finish(MessageType::hello);
    }
    std::vector<std::byte> operator()(const Start &) const {
        return Encoder().finish(MessageType::start);
    }
    std::vector<std::byte> operator()(const StoreHead &m) const {
        return Encoder()
            .number(m.flags)
            .number(m.cost_us)
            .number(m.key_size)
            .number(m.value_size)
            .raw(m.data)
            .finish(MessageType::store);
    }
    std::vector<std::byte> operator()(const StoreData &m) const {
        return Encoder().raw(m.data).finish(MessageType::store_data);
    }
    std::vector<std::byte> operator()(const Hits &m) const {
        Encoder encoder;
        encoder.number(static_cast<std::uint16_t>(m.keys.size()));
        for (const Bytes key : m.keys) encoder.sized(key);
        return encoder.finish(MessageType::hits);
    }
    std::vector<std::byte> operator()(const Want &m) const {
        return Encoder().number(m.segment).finish(MessageType::want);
    }
    std::vector<std::byte> operator()(const Received &m) const {
        return Encoder().number(m.count).finish(MessageType::received);
    }
    std::vector<std::byte> operator()(const Ping &m) const {
        return Encoder().number(m.number).finish(MessageType::ping);
    }
    std::vector<std::byte> operator()(const Welcome &m) const {
        return Encoder()
            .number(m.protocol_version)
            .number(m.value_size_max)
            .number(m.limit_bytes)
            .number(m.contents_version)
            .sized(as_bytes(m.identifier))
            .finish(MessageType::welcome);
    }
    std::vector<std::byte> operator()(const Refused &m) const {
        return Encoder().number(static_cast<std::uint32_t>(m.reason)).finish(MessageType::refused);
    }
    std::vector<std::byte> operator()(const IndexFile &) const {
        return Encoder().finish(MessageType::index);
    }
    std::vector<std::byte> operator()(const SegmentFiles &m) const {
        Encoder encoder;
        encoder.number(static_cast<std::uint16_t>(m.segments.size()));
        for (const std::uint32_t segment : m.segments) encoder.number(segment);
        return encoder.finish(MessageType::segments);
    }
    std::vector<std::byte> operator()(const Complete &) const {
        return Encoder().finish(MessageType::complete);
    }
    std::vector<std::byte> operator()(const Pong &m) const {
        return Encoder().number(m.number).number(m.stored).number(m.refused).finish(
            MessageType::pong);
    }
};

bool possible(std::string_view identifier) {
    return !identifier.empty() && identifier.size() <= kBrokerIdentifierSizeMax;
}

std::optional<Message> decode_hello(Decoder &decoder) {
    Hello m;
    m.protocol_version = decoder.number<std::uint32_t>();
    m.contents_version = decoder.number<std::uint64_t>();
    m.identifier = decoder.text();
    if (!possible(m.identifier)) return std::nullopt;
    return m;
}

// A head must be full before data may follow, so that an entry has one form only.
std::optional<Message> decode_store(Decoder &decoder) {
    StoreHead m;
    m.flags = decoder.number<std::uint32_t>();
    m.cost_us = decoder.number<std::uint32_t>();
    m.key_size = decoder.number<std::uint32_t>();
    m.value_size = decoder.number<std::uint32_t>();
    m.data = decoder.rest();
    const std::uint64_t whole = std::uint64_t{m.key_size} + m.value_size;
    if ((m.flags & ~(StoreHead::kIfAbsent | StoreHead::kPinned)) != 0) return std::nullopt;
    if (m.key_size == 0 || m.key_size > kBrokerKeySizeMax) return std::nullopt;
    const std::uint64_t room = kMessageSizeMax - kStoreHeadSize;
    if (m.data.size() != std::min(whole, room)) return std::nullopt;
    return m;
}

std::optional<Message> decode_hits(Decoder &decoder) {
    Hits m;
    const auto count = decoder.number<std::uint16_t>();
    if (count == 0 || count > kHitsMax) return std::nullopt;
    for (unsigned i = 0; i < count; ++i) {
        m.keys.push_back(decoder.sized());
        if (m.keys.back().empty()) return std::nullopt;
    }
    return m;
}

std::optional<Message> decode_welcome(Decoder &decoder) {
    Welcome m;
    m.protocol_version = decoder.number<std::uint32_t>();
    m.value_size_max = decoder.number<std::uint32_t>();
    m.limit_bytes = decoder.number<std::uint64_t>();
    m.contents_version = decoder.number<std::uint64_t>();
    m.identifier = decoder.text();
    if (!possible(m.identifier)) return std::nullopt;
    return m;
}

std::optional<Message> decode_refused(Decoder &decoder) {
    const auto reason = decoder.number<std::uint32_t>();
    if (reason < static_cast<std::uint32_t>(Refusal::unsupported) ||
        reason > static_cast<std::uint32_t>(Refusal::failed)) {
        return std::nullopt;
    }
    return Refused{static_cast<Refusal>(reason)};
}

std::optional<Message> decode_segments(Decoder &decoder) {
    SegmentFiles m;
    const auto count = decoder.number<std::uint16_t>();
    if (count == 0 || count > kSegmentsMax) return std::nullopt;
    for (unsigned i = 0; i < count; ++i) m.segments.push_back(decoder.number<std::uint32_t>());
    return m;
}

std::optional<Message> decode_body(MessageType type, Decoder &decoder) {
    switch (type) {
        case MessageType::hello:
            return decode_hello(decoder);
        case MessageType::start:
            return Start{};
        case MessageType::store:
            return decode_store(decoder);
        case MessageType::store_data: {
            const Bytes data = decoder.rest();
            return data.empty() ? std::nullopt : std::optional<Message>(StoreData{data});
        }
        case MessageType::hits:
            return decode_hits(decoder);
        case MessageType::want:
            return Want{decoder.number<std::uint32_t>()};
        case MessageType::received:
            return Received{decoder.number<std::uint32_t>()};
        case MessageType::ping:
            return Ping{decoder.number<std::uint64_t>()};
        case MessageType::welcome:
            return decode_welcome(decoder);
        case MessageType::refused:
            return decode_refused(decoder);
        case MessageType::index:
            return IndexFile{};
        case MessageType::segments:
            return decode_segments(decoder);
        case MessageType::complete:
            return Complete{};
        case MessageType::pong: {
            Pong m;
            m.number = decoder.number<std::uint64_t>();
            m.stored = decoder.number<std::uint64_t>();
            m.refused = decoder.number<std::uint64_t>();
            return m;
        }
    }
    return std::nullopt;
}

// Not std::visit, which can throw: this code is loaded into other processes.
template <std::size_t... indices>
std::vector<std::byte> encode_any(const Message &message, std::index_sequence<indices...>) {
    std::vector<std::byte> bytes;
    const auto encode = [&](const auto *kind) {
        if (kind != nullptr) bytes = Encode()(*kind);
    };
    (encode(std::get_if<indices>(&message)), ...);
    return bytes;
}

}  // namespace

std::vector<std::byte> encode_message(const Message &message) {
    return encode_any(message, std::make_index_sequence<std::variant_size_v<Message>>());
}

std::optional<Message> decode_message(Bytes bytes) {
    if (bytes.size() < kMessageHeaderSize || bytes.size() > kMessageSizeMax) return std::nullopt;
    const auto type = static_cast<MessageType>(get_le<std::uint16_t>(bytes, 0));
    if (get_le<std::uint16_t>(bytes, 2) != 0) return std::nullopt;
    if (get_le<std::uint32_t>(bytes, 4) != bytes.size()) return std::nullopt;
    Decoder decoder(bytes.subspan(kMessageHeaderSize));
    auto message = decode_body(type, decoder);
    if (!message || !decoder.whole()) return std::nullopt;
    return message;
}

}  // namespace cairn
