// SPDX-License-Identifier: MIT
#include "store/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "store/codec.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSeed = 0x123456789;
constexpr std::uint64_t kBoot = 0x9E3779B97F4A7C15;
constexpr std::string_view kKey = "a key of some length";

RecordHeader sample() {
    RecordHeader header;
    header.pinned = true;
    header.key_size = kKey.size();
    header.value_size = header.raw_size = 5000;
    header.cost_us = 777;
    header.stamp_ns = 1234567890123456789;
    header.key_hash = 0xFEDCBA9876543210;
    header.value_check = value_checksum(as_bytes("value"));
    return header;
}

std::vector<std::byte> encoded(const RecordHeader &header, std::string_view key = kKey) {
    const auto head = encode_record_header(header, as_bytes(key), kSeed);
    std::vector<std::byte> bytes(head.size() + key.size());
    std::ranges::copy(head, bytes.begin());
    std::ranges::copy(as_bytes(key), bytes.begin() + kRecordHeaderSize);
    return bytes;
}

void flip(std::vector<std::byte> &bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
}

TEST(RecordTest, ComesBackAsItWasWritten) {
    const RecordHeader header = sample();
    const auto decoded = decode_record_header(encoded(header), kSeed);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->state, RecordState::live);
    EXPECT_TRUE(decoded->pinned);
    EXPECT_FALSE(decoded->copied);
    EXPECT_EQ(decoded->key_size, header.key_size);
    EXPECT_EQ(decoded->value_size, header.value_size);
    EXPECT_EQ(decoded->raw_size, header.raw_size);
    EXPECT_EQ(decoded->cost_us, header.cost_us);
    EXPECT_EQ(decoded->stamp_ns, header.stamp_ns);
    EXPECT_EQ(decoded->key_hash, header.key_hash);
    EXPECT_EQ(decoded->value_check, header.value_check);
}

TEST(RecordTest, EveryFlippedBitOfHeaderAndKeyIsFound) {
    const std::vector<std::byte> good = encoded(sample());
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        // These change after the record was written.
        if (bit / 8 == kRecordStateOffset) continue;
        if (bit / 8 >= kRecordUnmovedOffset && bit / 8 < kRecordHeaderSize) continue;
        std::vector<std::byte> bad = good;
        flip(bad, bit);
        EXPECT_FALSE(decode_record_header(bad, kSeed)) << "bit " << bit;
    }
}

TEST(RecordTest, WasReplacedInOneSystemStartOnly) {
    RecordHeader header = sample();
    EXPECT_FALSE(header.was_replaced(0));
    std::vector<std::byte> bytes = encoded(header);
    std::ranges::copy(given_up_bytes(GivenUp::replaced, kBoot),
                      bytes.begin() + kRecordGivenUpOffset);
    const auto replaced = decode_record_header(bytes, kSeed);
    ASSERT_TRUE(replaced);
    EXPECT_TRUE(replaced->was_replaced(kBoot));
    EXPECT_FALSE(replaced->was_replaced(~kBoot));
    EXPECT_FALSE(replaced->was_replaced(kBoot * 3));
    EXPECT_FALSE(replaced->was_replaced(0));
    EXPECT_FALSE(header.was_replaced(kBoot));
}

TEST(RecordTest, WasLeftIsNotReplaced) {
    std::vector<std::byte> bytes = encoded(sample());
    std::ranges::copy(given_up_bytes(GivenUp::left, kBoot), bytes.begin() + kRecordGivenUpOffset);
    const auto left = decode_record_header(bytes, kSeed);
    ASSERT_TRUE(left);
    EXPECT_TRUE(left->was_left(kBoot));
    EXPECT_FALSE(left->was_replaced(kBoot));
    EXPECT_FALSE(left->was_left(~kBoot));
    EXPECT_FALSE(sample().was_left(kBoot));
}

TEST(RecordTest, AFewWrongBitsDoNotChangeWhetherItWasReplaced) {
    std::uint64_t random = 1;
    for (unsigned count = 1; count <= 12; ++count) {
        for (unsigned trial = 0; trial < 2000; ++trial) {
            std::uint64_t wrong = 0;
            while (static_cast<unsigned>(std::popcount(wrong)) < count) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                wrong |= std::uint64_t{1} << (8 + (random >> 33) % 56);
            }
            RecordHeader header = sample();
            header.given_up_in = wrong;
            EXPECT_FALSE(header.was_replaced(kBoot)) << std::hex << wrong;
            header.given_up_in = kBoot ^ wrong;
            EXPECT_TRUE(header.was_replaced(kBoot)) << std::hex << wrong;
        }
    }
}

// Also with three wrong bits.
TEST(RecordTest, ACopyIsUnmovedUntilThatIsTakenBack) {
    for (unsigned wrong = 0; wrong < 256; ++wrong) {
        if (std::popcount(wrong) > 3) continue;
        RecordHeader header = sample();
        header.unmoved = true;
        std::vector<std::byte> bytes = encoded(header);
        bytes[kRecordUnmovedOffset] ^= static_cast<std::byte>(wrong);
        EXPECT_TRUE(decode_record_header(bytes, kSeed)->unmoved);
        bytes[kRecordUnmovedOffset] = kMoved ^ static_cast<std::byte>(wrong);
        EXPECT_FALSE(decode_record_header(bytes, kSeed)->unmoved);
    }
}

// Older libraries write eight bytes there.
TEST(RecordTest, WhatWasReplacedIsNoUnmovedCopy) {
    std::vector<std::byte> bytes = encoded(sample());
    put_le(bytes, kRecordUnmovedOffset, ~std::uint64_t{0});
    EXPECT_FALSE(decode_record_header(bytes, kSeed)->unmoved);
}

TEST(RecordTest, AStateWithAWrongBitIsWhatItWas) {
    for (const RecordState state : {RecordState::live, RecordState::removed}) {
        RecordHeader header = sample();
        header.state = state;
        const std::vector<std::byte> good = encoded(header);
        for (std::size_t bit = 0; bit < 8; ++bit) {
            std::vector<std::byte> bad = good;
            flip(bad, kRecordStateOffset * 8 + bit);
            const auto decoded = decode_record_header(bad, kSeed);
            ASSERT_TRUE(decoded);
            EXPECT_EQ(decoded->state, state);
        }
    }
}

TEST(RecordTest, WhatWasGivenUpIsNotUnused) {
    RecordHeader header = sample();
    header.state = RecordState::unused;
    EXPECT_EQ(decode_record_header(encoded(header), kSeed)->state, RecordState::unused);
    header.given_up_in = kBoot;
    EXPECT_EQ(decode_record_header(encoded(header), kSeed)->state, RecordState::removed);
}

// Noise in a changing state may keep the record or drop it, but must not bring back an older one.
TEST(RecordTest, AStateThatIsNoneCountsAsRemoved) {
    std::vector<std::byte> bytes = encoded(sample());
    for (const unsigned noise : {0x00u, 0xFFu, 0xC5u, 0x33u, 0xD5u, 0x54u}) {
        bytes[kRecordStateOffset] = static_cast<std::byte>(noise);
        const auto decoded = decode_record_header(bytes, kSeed);
        ASSERT_TRUE(decoded);
        EXPECT_EQ(decoded->state, RecordState::removed) << noise;
    }
}

TEST(RecordTest, IsWorthNothingAtAnotherPlaceOrInAnotherCache) {
    const std::vector<std::byte> bytes = encoded(sample());
    EXPECT_FALSE(decode_record_header(bytes, kSeed + 1));
    EXPECT_NE(record_seed(1, {2, 64}), record_seed(1, {2, 128}));
    EXPECT_NE(record_seed(1, {2, 64}), record_seed(1, {3, 64}));
    EXPECT_NE(record_seed(1, {2, 64}), record_seed(2, {2, 64}));
}

TEST(RecordTest, ShortBytesAreNoRecord) {
    const std::vector<std::byte> bytes = encoded(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_record_header(Bytes(bytes).first(size), kSeed)) << size;
    }
}

TEST(RecordTest, SizesThatCannotBeAreRefusedBeforeTheyAreUsed) {
    const std::vector<std::byte> good = encoded(sample());
    for (const std::uint32_t size : {0u, kKeySizeMax + 1, UINT32_MAX}) {
        std::vector<std::byte> bad = good;
        put_le(MutableBytes(bad), 8, size);  // of the key
        EXPECT_FALSE(parse_record_header(bad));
        EXPECT_FALSE(decode_record_header(bad, kSeed));
    }
    for (const std::uint32_t size : {kValueSizeMax + 1, UINT32_MAX}) {
        std::vector<std::byte> bad = good;
        put_le(MutableBytes(bad), 12, size);  // of the value, stored
        put_le(MutableBytes(bad), 16, size);  // and as given
        EXPECT_FALSE(parse_record_header(bad));
    }
}

TEST(RecordTest, CompressedSizesMustBePossible) {
    struct Case {
        std::uint8_t codec;
        std::uint32_t stored, raw;
        bool good;
    };
    const Case cases[] = {
        {0, 1000, 1000, true},
        {0, 1000, 1001, false},
        {1, 100, 1000, true},
        {1, 1000, 1000, false},  // not smaller
        {1, 0, 1000, false},
        {1, 100, kCompressedRawMin - 1, false},
        {1, 1u << 20, kCompressedRawMax, true},
        {1, 1u << 20, kCompressedRawMax + 1, false},
        {1, 10, 10 * kCompressionRatioMax, true},
        {1, 10, 10 * kCompressionRatioMax + 1, false},  // a bomb
        {1, UINT32_MAX, UINT32_MAX, false},
        {2, 100, 1000, false},  // no codec of ours
        {255, 100, 1000, false},
    };
    for (const Case &test : cases) {
        RecordHeader header = sample();
        header.codec = static_cast<Codec>(test.codec);
        header.value_size = test.stored;
        header.raw_size = test.raw;
        const auto decoded = decode_record_header(encoded(header), kSeed);
        EXPECT_EQ(decoded.has_value(), test.good)
            << int{test.codec} << ' ' << test.stored << ' ' << test.raw;
        if (decoded) {
            EXPECT_EQ(decoded->codec, header.codec);
        }
    }
}

TEST(RecordTest, RandomBytesAreNoRecord) {
    std::vector<std::byte> bytes(256);
    std::uint64_t x = 1;
    for (int i = 0; i < 20'000; ++i) {
        for (std::byte &b : bytes) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            b = static_cast<std::byte>(x >> 56);
        }
        if (i % 2 == 0) put_le(MutableBytes(bytes), 0, kRecordMagic);
        EXPECT_FALSE(decode_record_header(bytes, kSeed));
    }
}

TEST(RecordTest, PlacesFollowFromSizes) {
    RecordHeader header;
    for (const std::uint32_t key_size : {1u, 15u, 16u, 17u, kKeySizeMax}) {
        for (const std::uint32_t value_size : {0u, 1u, 63u, 64u, kValueSizeMax}) {
            header.key_size = key_size;
            header.value_size = value_size;
            EXPECT_EQ(header.value_offset() % 16, 0u);
            EXPECT_GE(header.value_offset(), kRecordHeaderSize + key_size);
            EXPECT_EQ(header.record_size() % kRecordAlignment, 0u);
            const std::uint64_t end = header.value_offset() + value_size + kRecordEndSize;
            EXPECT_GE(header.record_size(), end);
            EXPECT_LT(header.record_size(), end + 64);
        }
    }
}

TEST(RecordTest, EveryFlippedBitOfAValueChangesItsChecksum) {
    std::vector<std::byte> value(100);
    const std::uint64_t good = value_checksum(value);
    for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
        flip(value, bit);
        EXPECT_NE(value_checksum(value), good);
        flip(value, bit);
    }
    EXPECT_NE(value_checksum({}), 0u);
}

}  // namespace
}  // namespace cairn
