// SPDX-License-Identifier: MIT
#include "ipc/message.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace cairn {
namespace {

// The types of the alternatives of Message, in their order.
constexpr std::array<MessageType, std::variant_size_v<Message>> kTypes = {
    MessageType::hello,    MessageType::start,   MessageType::store,    MessageType::store_data,
    MessageType::hits,     MessageType::want,    MessageType::received, MessageType::ping,
    MessageType::welcome,  MessageType::refused, MessageType::index,    MessageType::segments,
    MessageType::complete, MessageType::pong,
};

// Appends the fields that it is shown.
class Encoder {
  public:
    Encoder() : bytes_(kMessageHeaderSize) {}

    template <typename T>
    void number(T value) {
        std::array<std::byte, sizeof(T)> bytes;
        put_le(bytes, 0, value);
        rest(bytes);
    }
    void rest(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void sized(Bytes bytes) {
        number(static_cast<std::uint16_t>(bytes.size()));
        rest(bytes);
    }
    void text(std::string_view text) { sized(as_bytes(text)); }
    template <typename T, typename Visit>
    void list(const std::vector<T> &items, std::size_t, Visit visit) {
        number(static_cast<std::uint16_t>(items.size()));
        for (const T &item : items) visit(item);
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

// Fills the fields that it is shown from the front. Once a field is missing, all later ones are
// zero and whole() is false.
class Decoder {
  public:
    explicit Decoder(Bytes bytes) : left_(bytes) {}

    template <typename T>
    void number(T &value) {
        const Bytes bytes = take(sizeof(T));
        value = bytes.empty() ? T{0} : get_le<T>(bytes, 0);
    }
    void rest(Bytes &bytes) { bytes = take(left_.size()); }
    void sized(Bytes &bytes) {
        std::uint16_t size = 0;
        number(size);
        bytes = take(size);
    }
    void text(std::string_view &text) {
        Bytes bytes;
        sized(bytes);
        text = {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    }
    template <typename T, typename Visit>
    void list(std::vector<T> &items, std::size_t count_max, Visit visit) {
        std::uint16_t count = 0;
        number(count);
        if (count == 0 || count > count_max) missing_ = true;
        for (unsigned i = 0; i < count && !missing_; ++i) visit(items.emplace_back());
    }
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

template <typename Codec, typename... Numbers>
void visit_numbers(Codec &codec, Numbers &...numbers) {
    (codec.number(numbers), ...);
}

// Shows a codec the fields of a message: the grammar of docs/formats/broker.md.
template <typename Codec, typename M>
void visit_fields(Codec &codec, M &m) {
    using T = std::remove_const_t<M>;
    if constexpr (std::is_same_v<T, Hello>) {
        visit_numbers(codec, m.protocol_version, m.contents_version);
        codec.text(m.identifier);
    } else if constexpr (std::is_same_v<T, StoreHead>) {
        visit_numbers(codec, m.flags, m.cost_us, m.key_size, m.value_size);
        codec.rest(m.data);
    } else if constexpr (std::is_same_v<T, StoreData>) {
        codec.rest(m.data);
    } else if constexpr (std::is_same_v<T, Hits>) {
        codec.list(m.keys, kHitsMax, [&](auto &key) { codec.sized(key); });
    } else if constexpr (std::is_same_v<T, Want>) {
        codec.number(m.segment);
    } else if constexpr (std::is_same_v<T, Received>) {
        codec.number(m.count);
    } else if constexpr (std::is_same_v<T, Ping>) {
        codec.number(m.number);
    } else if constexpr (std::is_same_v<T, Welcome>) {
        visit_numbers(codec, m.protocol_version, m.value_size_max, m.limit_bytes,
                      m.contents_version);
        codec.text(m.identifier);
    } else if constexpr (std::is_same_v<T, Refused>) {
        auto reason = static_cast<std::uint32_t>(m.reason);
        codec.number(reason);
        if constexpr (!std::is_const_v<M>) m.reason = static_cast<Refusal>(reason);
    } else if constexpr (std::is_same_v<T, SegmentFiles>) {
        codec.list(m.segments, kSegmentsMax, [&](auto &segment) { codec.number(segment); });
    } else if constexpr (std::is_same_v<T, Pong>) {
        visit_numbers(codec, m.number, m.stored, m.refused);
    } else {
        static_assert(std::is_empty_v<T>);
    }
}

// Whether the fields can go together.
template <typename M>
bool is_valid(const M &m) {
    if constexpr (std::is_same_v<M, Hello> || std::is_same_v<M, Welcome>) {
        return !m.identifier.empty() && m.identifier.size() <= kBrokerIdentifierSizeMax;
    } else if constexpr (std::is_same_v<M, StoreHead>) {
        if ((m.flags & ~(StoreHead::kIfAbsent | StoreHead::kPinned)) != 0) return false;
        if (m.key_size == 0 || m.key_size > kBrokerKeySizeMax) return false;
        // A head must be full before data may follow, so that an entry has one form only.
        const std::uint64_t whole = std::uint64_t{m.key_size} + m.value_size;
        const std::uint64_t room = kMessageSizeMax - kStoreHeadSize;
        return m.data.size() == std::min(whole, room);
    } else if constexpr (std::is_same_v<M, StoreData>) {
        return !m.data.empty();
    } else if constexpr (std::is_same_v<M, Hits>) {
        return std::ranges::none_of(m.keys, [](Bytes key) { return key.empty(); });
    } else if constexpr (std::is_same_v<M, Refused>) {
        return m.reason >= Refusal::unsupported && m.reason <= Refusal::failed;
    } else {
        return true;
    }
}

template <std::size_t index>
void decode_as(Bytes body, std::optional<Message> &message) {
    std::variant_alternative_t<index, Message> m;
    Decoder decoder(body);
    visit_fields(decoder, m);
    // Not an assignment, which can throw as std::visit can.
    if (decoder.whole() && is_valid(m)) message.emplace(std::in_place_index<index>, std::move(m));
}

template <std::size_t... indices>
std::optional<Message> decode_any(MessageType type, Bytes body, std::index_sequence<indices...>) {
    std::optional<Message> message;
    ((kTypes[indices] == type ? decode_as<indices>(body, message) : void()), ...);
    return message;
}

// Not std::visit, which can throw: this code is loaded into other processes.
template <std::size_t... indices>
std::vector<std::byte> encode_any(const Message &message, std::index_sequence<indices...>) {
    Encoder encoder;
    const auto encode = [&](const auto *m) {
        if (m != nullptr) visit_fields(encoder, *m);
    };
    (encode(std::get_if<indices>(&message)), ...);
    return encoder.finish(kTypes[message.index()]);
}

constexpr auto kIndices = std::make_index_sequence<std::variant_size_v<Message>>();

}  // namespace

std::vector<std::byte> encode_message(const Message &message) {
    return encode_any(message, kIndices);
}

std::optional<Message> decode_message(Bytes bytes) {
    if (bytes.size() < kMessageHeaderSize || bytes.size() > kMessageSizeMax) return std::nullopt;
    const auto type = static_cast<MessageType>(get_le<std::uint16_t>(bytes, 0));
    if (get_le<std::uint16_t>(bytes, 2) != 0) return std::nullopt;
    if (get_le<std::uint32_t>(bytes, 4) != bytes.size()) return std::nullopt;
    return decode_any(type, bytes.subspan(kMessageHeaderSize), kIndices);
}

}  // namespace cairn
