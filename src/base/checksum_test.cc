// SPDX-License-Identifier: MIT
#include "base/checksum.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {

std::uint64_t checksum_baseline(const void *data, std::size_t size, std::uint64_t seed);

namespace {

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8));
    return bytes;
}

TEST(Checksum, IsTheSameWithEveryInstructionSet) {
    for (std::size_t size : {0u, 1u, 3u, 16u, 17u, 128u, 129u, 240u, 241u, 1024u, 6144u, 70000u}) {
        const auto bytes = pattern(size);
        EXPECT_EQ(checksum(bytes, 42), checksum_baseline(bytes.data(), bytes.size(), 42)) << size;
    }
}

TEST(Checksum, IsTheDocumentedXxh3) {
    // XXH3_64bits of the empty input with seed 0, as the XXH3 specification lists it.
    EXPECT_EQ(checksum({}, 0), 0x2D06800538D394C2u);
}

TEST(Checksum, ChangesWithEachBitAndWithTheSeed) {
    auto bytes = pattern(300);
    const auto original = checksum(bytes, 1);
    EXPECT_NE(original, checksum(bytes, 2));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        EXPECT_NE(checksum(bytes, 1), original) << bit;
        bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    }
}

}  // namespace
}  // namespace cairn
