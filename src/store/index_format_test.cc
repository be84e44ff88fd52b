// SPDX-License-Identifier: MIT
#include "store/index_format.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

CacheIdentity sample() {
    CacheIdentity identity;
    identity.cache_id = 0x8877665544332211;
    identity.version = 7;
    identity.hash_seed[3] = std::byte{9};
    identity.name_hash = cache_name_hash("cache");
    return identity;
}

TEST(IndexFormat, AHeaderComesBackAsItWasWritten) {
    const auto header = decode_index_header(encode_index_header(sample()));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->identity.format, kNewestFormat);
    EXPECT_EQ(header->identity, sample());
}

TEST(IndexFormat, EveryFlippedBitIsFound) {
    const auto good = encode_index_header(sample());
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        EXPECT_FALSE(decode_index_header(bad)) << "bit " << bit;
    }
}

TEST(IndexFormat, AShortHeaderIsNone) {
    const auto bytes = encode_index_header(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_index_header(Bytes(bytes).first(size)));
    }
}

TEST(IndexFormat, LevelsLieBehindOneAnotherOnWholePages) {
    for (unsigned level = 0; level < kLevelMax; ++level) {
        EXPECT_EQ(level_offset(level) % kPage, 0u);
        EXPECT_EQ(level_buckets(level) * kSlotsPerBucket * 8, level_pages(level) * kPage);
        EXPECT_GE(level_bitmap_pages(level) * kPage * 8, level_pages(level));
        EXPECT_EQ(index_size(level + 1),
                  level_offset(level) + (level_bitmap_pages(level) + level_pages(level)) * kPage);
    }
    EXPECT_EQ(level_offset(0), kFixedPages * kPage);
}

TEST(IndexFormat, EachCounterHasACacheLineOfItsOwn) {
    std::set<std::uint64_t> lines;
    for (unsigned i = 0; i <= static_cast<unsigned>(Counter::copy_debt); ++i) {
        const std::uint64_t offset = counter_offset(static_cast<Counter>(i));
        EXPECT_EQ(offset % 64, 0u);
        EXPECT_EQ(offset / kPage, kCountersPage);
        lines.insert(offset);
    }
    EXPECT_EQ(lines.size(), static_cast<unsigned>(Counter::copy_debt) + 1);
}

}  // namespace
}  // namespace cairn
