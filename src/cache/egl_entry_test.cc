// SPDX-License-Identifier: MIT
#include "cache/egl_entry.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::egl_entry {
namespace {

using Entry = std::vector<std::byte>;

constexpr std::string_view kKey = "a key of twenty byte";
static_assert(kKey.size() == kKeySize);

Entry sealed(std::size_t body) {
    Entry entry(kHeadSize + body, std::byte{7});
    seal(as_bytes(kKey), entry);
    return entry;
}

TEST(EglEntry, IsWholeOnlyUnderItsKey) {
    const Entry entry = sealed(100);
    EXPECT_TRUE(is_whole(as_bytes(kKey), entry));
    EXPECT_FALSE(is_whole(as_bytes("another of 20 bytes."), entry));
    EXPECT_FALSE(is_whole(as_bytes("too short"), entry));
}

TEST(EglEntry, NoFlippedBitGoesUnnoticed) {
    Entry entry = sealed(50);
    for (std::size_t bit = 0; bit < 8 * entry.size(); ++bit) {
        entry[bit / 8] ^= std::byte(1 << bit % 8);
        EXPECT_FALSE(is_whole(as_bytes(kKey), entry)) << bit;
        entry[bit / 8] ^= std::byte(1 << bit % 8);
    }
    EXPECT_TRUE(is_whole(as_bytes(kKey), entry));
}

TEST(EglEntry, NoOtherLengthIsWhole) {
    Entry entry = sealed(50);
    for (std::size_t size = 0; size < entry.size(); ++size) {
        EXPECT_FALSE(is_whole(as_bytes(kKey), Bytes(entry).first(size))) << size;
    }
    entry.push_back(std::byte{0});
    EXPECT_FALSE(is_whole(as_bytes(kKey), entry));
}

}  // namespace
}  // namespace cairn::egl_entry
