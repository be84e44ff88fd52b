// The messages between a broker and its clients. Format: docs/formats/broker.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions over bytes.
// Lifetime: a decoded message points into the bytes it was decoded from.
// Failure: decoding returns nullopt for all but the output of encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"

namespace cairn {

inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr std::size_t kMessageSizeMax = 32768;
inline constexpr std::size_t kMessageHeaderSize = 8;
inline constexpr std::size_t kStoreHeadSize = kMessageHeaderSize + 16;
inline constexpr std::size_t kBrokerKeySizeMax = 65536;
inline constexpr std::size_t kBrokerIdentifierSizeMax = 128;
// The limits on keys in a message of hits, and on descriptors in a message of segments.
inline constexpr std::size_t kHitsMax = 64;
inline constexpr std::size_t kSegmentsMax = 16;

enum class MessageType : std::uint16_t {
    hello = 1,
    start = 2,
    store = 3,
    store_data = 4,
    hits = 5,
    want = 6,
    received = 7,
    ping = 8,
    welcome = 65,
    refused = 66,
    index = 67,
    segments = 68,
    complete = 69,
    pong = 70,
};

// From clients.
struct Hello {  // binds the connection to one cache, once
    std::uint32_t protocol_version = kProtocolVersion;
    std::uint64_t contents_version = 0;
    std::string_view identifier;
};
struct Start {};    // asks for descriptors
struct StoreHead {  // an entry; StoreData messages bring the rest of it
    static constexpr std::uint32_t kIfAbsent = 1, kPinned = 2;
    std::uint32_t flags = 0;
    std::uint32_t cost_us = 0;
    std::uint32_t key_size = 0;
    std::uint32_t value_size = 0;
    Bytes data;  // the key, then the value, as far as they fit
};
struct StoreData {
    Bytes data;
};
struct Hits {
    std::vector<Bytes> keys;
};
struct Want {
    std::uint32_t segment = 0;
};
struct Received {  // the client has taken that many descriptors
    std::uint32_t count = 0;
};
struct Ping {
    std::uint64_t number = 0;
};

// From brokers.
struct Welcome {
    std::uint32_t protocol_version = kProtocolVersion;
    std::uint32_t value_size_max = 0;
    std::uint64_t limit_bytes = 0;
    std::uint64_t contents_version = 0;
    std::string_view identifier;
};
enum class Refusal : std::uint32_t {
    unsupported = 1,  // protocol version
    busy = 2,         // the cache is in use in another version
    denied = 3,
    full = 4,  // the broker has as many clients as it may
    failed = 5,
};
struct Refused {
    Refusal reason = Refusal::failed;
};
struct IndexFile {};   // with one descriptor
struct SegmentFiles {  // with as many descriptors
    std::vector<std::uint32_t> segments;
};
struct Complete {};  // all segments have been sent
struct Pong {
    std::uint64_t number = 0;
    std::uint64_t stored = 0;   // by this connection so far
    std::uint64_t refused = 0;  // of this connection, because storing failed
};

using Message = std::variant<Hello, Start, StoreHead, StoreData, Hits, Want, Received, Ping,
                             Welcome, Refused, IndexFile, SegmentFiles, Complete, Pong>;

// REQUIRES: the message is one that decode_message accepts.
std::vector<std::byte> encode_message(const Message &message);
std::optional<Message> decode_message(Bytes bytes);

}  // namespace cairn
