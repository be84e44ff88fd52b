// SPDX-License-Identifier: MIT
#include "ipc/message.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace cairn {
namespace {

std::string text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

const std::string kKey(300, 'k');
const std::string kLong(kMessageSizeMax - kStoreHeadSize, 'v');

std::vector<Message> one_of_each() {
    return {Hello{1, 7, "app"},
            Start{},
            StoreHead{StoreHead::kPinned, 1500, 1, 5, as_bytes("kvalue")},
            StoreHead{0, 0, 300, 1u << 20, as_bytes(kLong)},
            StoreData{as_bytes("more")},
            Hits{{as_bytes("a"), as_bytes(kKey)}},
            Want{42},
            Received{17},
            Ping{~std::uint64_t{0}},
            Welcome{1, 1u << 24, 1u << 30, 7, "app"},
            Refused{Refusal::full},
            IndexFile{},
            SegmentFiles{{1, 2, 131070}},
            Complete{},
            Pong{3, 2, 1}};
}

TEST(Message, DecodesToWhatWasEncoded) {
    for (const Message &message : one_of_each()) {
        const auto bytes = encode_message(message);
        const auto decoded = decode_message(bytes);
        ASSERT_TRUE(decoded.has_value()) << message.index();
        EXPECT_EQ(decoded->index(), message.index());
        EXPECT_EQ(text(encode_message(*decoded)), text(bytes));
    }
    const auto store = encode_message(StoreHead{1, 9, 1, 5, as_bytes("kvalue")});
    const auto decoded = decode_message(store);
    const auto &head = std::get<StoreHead>(*decoded);
    EXPECT_EQ(head.flags, 1u);
    EXPECT_EQ(head.cost_us, 9u);
    EXPECT_EQ(head.key_size, 1u);
    EXPECT_EQ(head.value_size, 5u);
    EXPECT_EQ(text(head.data), "kvalue");
    const auto hits = encode_message(Hits{{as_bytes("a"), as_bytes(kKey)}});
    EXPECT_EQ(text(std::get<Hits>(*decode_message(hits)).keys[1]), kKey);
}

TEST(Message, RefusesEveryOtherLength) {
    for (const Message &message : one_of_each()) {
        const auto bytes = encode_message(message);
        for (std::size_t size = 0; size < std::min<std::size_t>(bytes.size(), 400); ++size) {
            EXPECT_FALSE(decode_message(Bytes(bytes).first(size)).has_value());
            // The same with a size that fits.
            if (size < kMessageHeaderSize) continue;
            auto cut = std::vector(bytes.begin(), bytes.begin() + static_cast<long>(size));
            put_le(cut, 4, static_cast<std::uint32_t>(size));
            const auto decoded = decode_message(cut);
            // Data may have any length.
            EXPECT_TRUE(!decoded || std::holds_alternative<StoreData>(*decoded));
        }
        auto longer = bytes;
        longer.push_back(std::byte{0});
        EXPECT_FALSE(decode_message(longer).has_value());
        put_le(longer, 4, static_cast<std::uint32_t>(longer.size()));
        const auto decoded = decode_message(longer);
        EXPECT_TRUE(!decoded || std::holds_alternative<StoreData>(*decoded));
    }
}

TEST(Message, RefusesWhatNobodyWouldSend) {
    const auto refused = [](std::vector<std::byte> bytes, std::size_t offset, std::uint32_t value) {
        put_le(bytes, offset, value);
        return !decode_message(bytes).has_value();
    };
    const auto store = encode_message(StoreHead{0, 0, 1, 5, as_bytes("kvalue")});
    EXPECT_TRUE(refused(store, 8, 4));            // flags
    EXPECT_TRUE(refused(store, 16, 0));           // key_size
    EXPECT_TRUE(refused(store, 16, 65537));       // the same
    EXPECT_TRUE(refused(store, 20, 6));           // value_size: a byte is missing
    EXPECT_TRUE(refused(store, 20, 4));           // one too many
    EXPECT_TRUE(refused(store, 20, 0xFFFFFFFF));  // more than fits, but the head is not full
    EXPECT_TRUE(refused(store, 0, 0x10003));      // the zero behind the type
    EXPECT_TRUE(refused(store, 0, 0));
    EXPECT_TRUE(refused(store, 0, 99));
    EXPECT_TRUE(refused(encode_message(Refused{}), 8, 0));
    EXPECT_TRUE(refused(encode_message(Refused{}), 8, 6));
    EXPECT_FALSE(decode_message(encode_message(Hello{1, 1, ""})).has_value());
    EXPECT_FALSE(decode_message(encode_message(Hello{1, 1, std::string(129, 'x')})).has_value());
    EXPECT_FALSE(decode_message(encode_message(Hits{})).has_value());
    EXPECT_FALSE(decode_message(encode_message(Hits{{Bytes()}})).has_value());
    EXPECT_FALSE(decode_message(encode_message(Hits{std::vector(65, as_bytes("k"))})).has_value());
    EXPECT_FALSE(decode_message(encode_message(SegmentFiles{})).has_value());
    EXPECT_FALSE(decode_message(encode_message(SegmentFiles{std::vector(17, 1u)})).has_value());
    EXPECT_FALSE(decode_message(encode_message(StoreData{})).has_value());
}

// The bytes below a heading of the page.
std::vector<std::byte> documented(const std::string &heading) {
    std::ifstream document(BROKER_DOCUMENT);
    std::vector<std::byte> bytes;
    bool there = false;
    for (std::string line; std::getline(document, line);) {
        if (line.starts_with("#")) there = line == "#### " + heading;
        if (!there || !line.starts_with("    0")) continue;
        std::istringstream numbers(line.substr(10));
        for (unsigned number; numbers >> std::hex >> number;) {
            bytes.push_back(static_cast<std::byte>(number));
        }
    }
    return bytes;
}

TEST(Message, IsAsDocumented) {
    EXPECT_EQ(text(documented("hello")), text(encode_message(Hello{1, 7, "app"})));
    EXPECT_EQ(text(documented("store")),
              text(encode_message(StoreHead{0, 1500, 1, 5, as_bytes("kvalue")})));
}

}  // namespace
}  // namespace cairn
