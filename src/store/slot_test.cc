// SPDX-License-Identifier: MIT
#include "store/slot.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Slot any_slot(std::uint64_t seed) {
    const std::uint64_t x = seed * 0x9E3779B97F4A7C15u;
    const Location location = {static_cast<std::uint32_t>(x % (kSegmentIdMax + 1)),
                               (x >> 20) % (1u << kOffsetBits) * kRecordAlignment};
    return Slot::make(location, static_cast<unsigned>(x >> 50) % (kLargeSizeClass + 1),
                      static_cast<std::uint32_t>(x >> 12) % (1u << Slot::kTagBits));
}

TEST(SlotTest, KeepsWhatItIsMadeOf) {
    for (const std::uint32_t segment : {0u, 1u, 77u, kSegmentIdMax}) {
        for (const std::uint64_t offset : {0u, 64u, 123u * 64u, ((1u << kOffsetBits) - 1) * 64u}) {
            for (const unsigned size : {0u, 5u, kLargeSizeClass}) {
                const Slot slot = Slot::make({segment, offset}, size, 0xABC);
                EXPECT_EQ(slot.location(), (Location{segment, offset}));
                EXPECT_EQ(slot.size_class(), size);
                EXPECT_EQ(slot.tag(), 0xABCu);
                EXPECT_FALSE(slot.tentative());
                EXPECT_EQ(slot.hits(), 0u);
                EXPECT_TRUE(slot.intact());
            }
        }
    }
}

TEST(SlotTest, EveryFlippedBitButThoseOfTheHitCountIsFound) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Slot slot = any_slot(seed);
        unsigned missed = 0;
        for (unsigned bit = 0; bit < 64; ++bit) {
            const Slot flipped(slot.word() ^ (std::uint64_t{1} << bit));
            if (flipped.intact()) {
                EXPECT_NE(flipped.hits(), slot.hits());
                ++missed;
            }
        }
        EXPECT_EQ(missed, 2u);
    }
}

TEST(SlotTest, ZeroIsDamageAndEmptyIsNot) {
    EXPECT_FALSE(Slot(0).intact());
    EXPECT_TRUE(Slot(kEmptySlot).intact());
    EXPECT_NE(kEmptySlot, 0u);
    EXPECT_FALSE(Slot(kEmptySlot).tentative());
    EXPECT_GT(Slot(kEmptySlot).location().segment, kSegmentIdMax);
}

TEST(SlotTest, StateAndHitsChangeNothingElse) {
    const Slot slot = any_slot(12345);
    const Slot tentative = slot.as_tentative();
    EXPECT_TRUE(tentative.tentative());
    EXPECT_TRUE(tentative.intact());
    EXPECT_EQ(tentative.location(), slot.location());
    EXPECT_EQ(tentative.tag(), slot.tag());
    for (unsigned hits = 0; hits < 4; ++hits) {
        const Slot hit = slot.with_hits(hits);
        EXPECT_EQ(hit.hits(), hits);
        EXPECT_TRUE(hit.intact());
        EXPECT_EQ(hit.location(), slot.location());
        EXPECT_EQ(hit.with_hits(0).word(), slot.word());
    }
}

TEST(SlotTest, SizeClassesBoundTheSizesTheyStandFor) {
    for (std::uint64_t size = 64; size <= 70'000; size += 64) {
        const unsigned chosen = size_class(size);
        if (chosen == kLargeSizeClass) {
            EXPECT_GT(size, size_class_bytes(kLargeSizeClass - 1));
            continue;
        }
        EXPECT_LE(size, size_class_bytes(chosen));
        EXPECT_GT(size, chosen == 0 ? 0 : size_class_bytes(chosen - 1));
    }
    EXPECT_EQ(size_class(UINT64_MAX), kLargeSizeClass);
}

}  // namespace
}  // namespace cairn
