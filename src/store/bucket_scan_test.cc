// SPDX-License-Identifier: MIT
#include "store/bucket_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <utility>

namespace cairn {
namespace {

struct alignas(64) Bucket {
    std::uint64_t slots[kSlotsPerBucket];
    Bucket() { std::fill(std::begin(slots), std::end(slots), kEmptySlot); }
};

Slot slot_with(std::uint32_t tag, unsigned i) {
    return Slot::make({i * 977u, i * kRecordAlignment}, i % 64, tag);
}

// The format's words, without the code under test: docs/formats/store.md, "Slot".
std::uint32_t naive_matches(const Bucket &bucket, std::uint32_t tag) {
    std::uint32_t matches = 0;
    for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
        if (((bucket.slots[i] >> 46) & 0xFFF) == tag) matches |= 1u << i;
    }
    return matches;
}

bool naive_intact(const Bucket &bucket) {
    for (const std::uint64_t word : bucket.slots) {
        std::uint64_t check = 0x2A;
        for (unsigned bit = 0; bit < 58; ++bit) {
            const bool is_covered = bit != 43 && bit != 44;  // not the hits
            if (is_covered && ((word >> bit) & 1) != 0) check ^= std::uint64_t{1} << (bit % 6);
        }
        if (check != word >> 58) return false;
    }
    return true;
}

template <typename Scan>
class BucketScanTest : public ::testing::Test {
  protected:
    static void expect_matches(const Bucket &bucket, std::uint32_t tag) {
        ASSERT_EQ(Scan::slots_with_tag(bucket.slots, tag), naive_matches(bucket, tag))
            << "tag " << tag;
    }
    // The same in each place, of which each has another mask.
    static bool all_intact(const Bucket &bucket) {
        const bool intact = Scan::all_intact(bucket.slots, {});
        for (unsigned level = 0; level < 3; ++level) {
            const auto masks = bucket_masks(2, level, level * 77);
            Bucket there = bucket;
            for (unsigned i = 0; i < kSlotsPerBucket; ++i) there.slots[i] ^= masks.of(i);
            EXPECT_EQ(Scan::all_intact(there.slots, masks), intact);
            EXPECT_FALSE(intact && Scan::all_intact(bucket.slots, masks));
            EXPECT_FALSE(intact && Scan::all_intact(there.slots, {}));
        }
        return intact;
    }
    static void expect_as_naive(const Bucket &bucket) {
        ASSERT_EQ(all_intact(bucket), naive_intact(bucket));
        for (const std::uint64_t word : bucket.slots) {
            expect_matches(bucket, static_cast<std::uint32_t>(word >> 46) & 0xFFF);
        }
        for (const std::uint32_t tag : {0u, 1u, 0x800u, 0xFFFu}) expect_matches(bucket, tag);
    }
};

#ifdef __SSE2__
using Scans = ::testing::Types<PortableScan, Sse2Scan>;
#else
using Scans = ::testing::Types<PortableScan>;
#endif
TYPED_TEST_SUITE(BucketScanTest, Scans);

TYPED_TEST(BucketScanTest, EachTagIsFoundAtEachPlaceAndNowhereElse) {
    for (std::uint32_t tag = 0; tag < 1u << Slot::kTagBits; ++tag) {
        for (unsigned place = 0; place < kSlotsPerBucket; ++place) {
            Bucket bucket;
            bucket.slots[place] = slot_with(tag, place).word();
            const std::uint32_t expected = tag == 0xFFF ? 0xFFFF : 1u << place;
            ASSERT_EQ(TypeParam::slots_with_tag(bucket.slots, tag), expected);
            this->expect_matches(bucket, tag);
            this->expect_matches(bucket, tag ^ 1);
        }
    }
}

TYPED_TEST(BucketScanTest, ABucketOfOneTagMatchesEverywhere) {
    for (std::uint32_t tag = 0; tag < 1u << Slot::kTagBits; ++tag) {
        Bucket bucket;
        for (unsigned i = 0; i < kSlotsPerBucket; ++i) bucket.slots[i] = slot_with(tag, i).word();
        ASSERT_EQ(TypeParam::slots_with_tag(bucket.slots, tag), 0xFFFFu);
        ASSERT_TRUE(this->all_intact(bucket));
        // One bit of the tag differs.
        for (unsigned bit = 0; bit < Slot::kTagBits; ++bit) {
            ASSERT_EQ(TypeParam::slots_with_tag(bucket.slots, tag ^ 1u << bit), 0u);
        }
    }
}

TYPED_TEST(BucketScanTest, EmptySlotsAreIntactAndHaveTheLastTag) {
    const Bucket empty;
    EXPECT_TRUE(this->all_intact(empty));
    EXPECT_EQ(TypeParam::slots_with_tag(empty.slots, 0xFFF), 0xFFFFu);
    EXPECT_EQ(TypeParam::slots_with_tag(empty.slots, 0), 0u);
    this->expect_as_naive(empty);
}

TYPED_TEST(BucketScanTest, TentativeSlotsAndThoseWithHitsAreIntactAndMatch) {
    for (unsigned place = 0; place < kSlotsPerBucket; ++place) {
        for (unsigned hits = 0; hits < 4; ++hits) {
            Bucket bucket;
            bucket.slots[place] = slot_with(0x123, place).as_tentative().with_hits(hits).word();
            EXPECT_TRUE(this->all_intact(bucket));
            EXPECT_EQ(TypeParam::slots_with_tag(bucket.slots, 0x123), 1u << place);
            this->expect_as_naive(bucket);
        }
    }
}

TYPED_TEST(BucketScanTest, DamageInEachBitOfEachSlotIsSeen) {
    for (unsigned place = 0; place < kSlotsPerBucket; ++place) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            Bucket bucket;
            for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
                if (i % 3 != 0) bucket.slots[i] = slot_with(0xABC - i, i).word();
            }
            bucket.slots[place] ^= std::uint64_t{1} << bit;
            const bool is_hit_count = bit == 43 || bit == 44;
            ASSERT_EQ(this->all_intact(bucket), is_hit_count) << place << ' ' << bit;
            this->expect_as_naive(bucket);
        }
    }
}

// In a sum, repeated damage would cancel out.
TYPED_TEST(BucketScanTest, TheSameDamageInSeveralSlotsIsSeen) {
    for (unsigned count = 1; count <= kSlotsPerBucket; ++count) {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            std::uint64_t bad = (seed + 1) * 0x9E3779B97F4A7C15u;
            if (Slot(bad).intact()) bad ^= 1;
            Bucket bucket;
            for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
                if (i % 3 != 0) bucket.slots[i] = slot_with(0xABC - i, i).with_hits(i % 4).word();
            }
            for (unsigned i = 0; i < count; ++i) {
                bucket.slots[(seed + i) % kSlotsPerBucket] = bad;
            }
            ASSERT_FALSE(this->all_intact(bucket)) << count << ' ' << std::hex << bad;
            this->expect_as_naive(bucket);
        }
    }
}

TYPED_TEST(BucketScanTest, AWordOfZeroIsDamageAndHasTheFirstTag) {
    for (unsigned place = 0; place < kSlotsPerBucket; ++place) {
        Bucket bucket;
        bucket.slots[place] = 0;
        EXPECT_FALSE(this->all_intact(bucket));
        EXPECT_EQ(TypeParam::slots_with_tag(bucket.slots, 0), 1u << place);
        this->expect_as_naive(bucket);
    }
    Bucket zeros;
    std::fill(std::begin(zeros.slots), std::end(zeros.slots), 0);
    EXPECT_FALSE(this->all_intact(zeros));
    EXPECT_EQ(TypeParam::slots_with_tag(zeros.slots, 0), 0xFFFFu);
}

// Entries, random words and words that differ from one entry in a few bits, mixed.
TYPED_TEST(BucketScanTest, RandomBucketsAreSeenAsTheyAre) {
    std::mt19937_64 numbers(20'261'126);
    unsigned intact = 0;
    for (unsigned round = 0; round < 100'000; ++round) {
        Bucket bucket;
        const std::uint64_t kinds = numbers();
        for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
            const std::uint64_t word = numbers();
            const Slot entry = Slot::make({static_cast<std::uint32_t>(word >> 20) & 0x1FFFF,
                                           (word & 0xFFFFF) * kRecordAlignment},
                                          word >> 40 & 63, word >> 46 & (round % 4));
            // Half of the buckets are without damage.
            const std::uint64_t kind = (kinds >> (2 * i)) & (round % 2 == 0 ? 3 : 1);
            if (kind == 1) bucket.slots[i] = entry.with_hits(word >> 60 & 3).word();
            if (kind == 2) bucket.slots[i] = word;
            if (kind == 3) bucket.slots[i] = entry.word() ^ std::uint64_t{1} << (word >> 58);
        }
        this->expect_as_naive(bucket);
        if (this->HasFatalFailure()) return;
        if (naive_intact(bucket)) ++intact;
    }
    EXPECT_GT(intact, 40'000u);
    EXPECT_LT(intact, 60'000u);
}

// docs/formats/store.md, "Slot", without the code under test.
std::uint64_t naive_mask(unsigned level, std::uint64_t bucket, unsigned slot) {
    std::uint64_t mixed = (bucket * 8 + level + 1) * 0x9E3779B97F4A7C15;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93;
    mixed ^= mixed >> 32;
    if (slot >= 8) mixed = mixed * 0xA24BAED4963EE407 / 2;
    const std::uint64_t six = (mixed >> slot % 8 * 8) % 64;
    return (six == 0x2A ? 0x15 : six) << 58;
}

TEST(SlotPlace, EachSlotOfEachBucketHasTheMaskOfThePage) {
    for (unsigned level = 0; level < kLevelMax; ++level) {
        for (std::uint64_t bucket = 0; bucket < level_buckets(level); bucket += 1 + bucket / 97) {
            const auto masks = bucket_masks(2, level, bucket);
            for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
                ASSERT_EQ(masks.of(i), naive_mask(level, bucket, i)) << level << ' ' << bucket;
                ASSERT_EQ(slot_mask(2, level, bucket * kSlotsPerBucket + i), masks.of(i));
                ASSERT_FALSE(Slot(masks.of(i)).intact()) << "a word of zeros is none";
            }
            ASSERT_EQ(bucket_masks(1, level, bucket).of(bucket % kSlotsPerBucket), 0u);
        }
    }
}

// Of two places one in 64 has the same mask, and no two buckets have all.
TEST(SlotPlace, PlacesDiffer) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    std::array<unsigned, 64> of_mask = {};
    unsigned same = 0, pairs = 0;
    for (unsigned level = 0; level < 3; ++level) {
        BucketMasks before = {};
        for (std::uint64_t bucket = 0; bucket < level_buckets(level); ++bucket) {
            const auto masks = bucket_masks(2, level, bucket);
            ASSERT_TRUE(seen.emplace(masks.first_half, masks.second_half).second);
            for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
                ++of_mask[masks.of(i) >> 58];
                if (masks.of(i) == before.of(i)) ++same;
                ++pairs;
            }
            before = masks;
        }
    }
    EXPECT_NEAR(same, pairs / 64.0, pairs / 64.0 * 0.2);
    for (unsigned mask = 0; mask < 64; ++mask) {
        const double share = mask == 0x2A ? 0 : mask == 0x15 ? 2.0 / 64 : 1.0 / 64;
        EXPECT_NEAR(of_mask[mask], pairs * share, pairs / 64.0 * 0.2) << mask;
    }
}

}  // namespace
}  // namespace cairn
