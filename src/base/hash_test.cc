// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(KeyedHash, MatchesTheSipHashPaper) {
    // Appendix A of the SipHash paper: key 00..0f, message 00..0e.
    HashSeed seed;
    for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<std::byte>(i);
    std::array<std::byte, 15> message;
    for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
    EXPECT_EQ(keyed_hash(message, seed), 0xa129ca6149be45e5u);
}

TEST(KeyedHash, DependsOnTheSeed) {
    HashSeed a{}, b{};
    b[15] = std::byte{1};
    EXPECT_NE(keyed_hash(as_bytes("key"), a), keyed_hash(as_bytes("key"), b));
}

TEST(Blake2b, GivesTheSameDigestHoweverTheInputIsCut) {
    Blake2b whole, pieces;
    whole.add(as_bytes("a program's source"));
    pieces.add(as_bytes("a program"));
    pieces.add(as_bytes("'s source"));
    EXPECT_EQ(whole.finish(), pieces.finish());
}

TEST(Blake2b, MatchesTheKnownDigestOfTheEmptyInput) {
    // BLAKE2b with a 32-byte digest of no input.
    EXPECT_EQ(static_cast<int>(Blake2b().finish()[0]), 0x0e);
    EXPECT_EQ(static_cast<int>(Blake2b().finish()[31]), 0xa8);
}

}  // namespace
}  // namespace cairn
