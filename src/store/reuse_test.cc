// SPDX-License-Identifier: MIT
#include "store/reuse.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "os/testing/failing_calls.h"
#include "store/testing/cache_files.h"
#include "support/files.h"
#include "support/random.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Random;

TEST(UsesTest, TimeGoesRoundAndTheFutureHasNoAge) {
    EXPECT_EQ(age_of(10, 30), 20u);
    EXPECT_EQ(age_of(250, 4), 10u);
    EXPECT_EQ(age_of(30, 10), 0u);
    EXPECT_EQ(age_of(0, 191), 191u);
    // A turnover of 64 segments has eight times.
    EXPECT_EQ(use_time(64 * turned_by(1 << 20, 64 << 20)), kUseTimesPerTurnover);
    EXPECT_EQ(use_time(64 * 32 * turned_by(1 << 20, 64 << 20)), 0u);
    EXPECT_EQ(turned_by(0, 0), turned_by(1, 1));
    EXPECT_EQ(turned_by(UINT64_MAX, 1 << 20), turned_by(1, 1)) << "a turnover at most";
    EXPECT_NEAR(turned_by(UINT64_MAX / 4, UINT64_MAX), turned_by(1, 4), 4);
}

TEST(UsesTest, QuartersOfOctavesAndTheirMiddle) {
    EXPECT_EQ(quarter_log2(0), 0u);
    EXPECT_EQ(quarter_log2(1), 0u);
    EXPECT_EQ(quarter_log2(2), 4u);
    EXPECT_EQ(quarter_log2(3), 6u);
    EXPECT_EQ(quarter_log2(UINT64_MAX), 255u);
    for (std::uint64_t number = 64; number < std::uint64_t{1} << 40; number += number / 5) {
        const auto middle = static_cast<double>(bytes_of(quarter_log2(number)));
        EXPECT_NEAR(middle / static_cast<double>(number), 1, 0.11) << number;
    }
    EXPECT_EQ(density_of(0, 1000), 0u);
    EXPECT_GE(density_of(1, UINT64_MAX), 1u);
    EXPECT_LE(density_of(UINT32_MAX, 0), 255u);
    EXPECT_EQ(density_of(4000, 1 << 10), density_of(1000, 1 << 10) + 8);
}

TEST(UsesTest, WorthGrowsWithUsesAndCostsAndFallsWithAge) {
    const Taste slow = {Aging::slowly}, none = {Aging::never};
    EXPECT_GT(worth_of(4, 80, 0, slow), worth_of(2, 80, 0, slow));
    EXPECT_GT(worth_of(1, 84, 0, slow), worth_of(1, 80, 0, slow));
    EXPECT_GT(worth_of(1, 80, 0, slow), worth_of(1, 80, 2, slow));
    EXPECT_EQ(worth_of(1, 80, 0, none), worth_of(1, 80, 100, none));
    EXPECT_EQ(worth_of(0, 0, 0, none), worth_of(1, none.usual, 0, none));
    EXPECT_EQ(worth_of(99, 80, 0, none), worth_of(kUsesMax, 80, 0, none));
    Taste root = slow;
    root.counting = Counting::root;
    EXPECT_EQ(worth_of(1, 80, 0, root), worth_of(1, 80, 0, slow));
    EXPECT_EQ(worth_of(4, 80, 0, root), worth_of(2, 80, 0, slow));
}

TEST(UsesTest, WhatIsNotUsedLosesAllBeforeItsAgeIsForgotten) {
    const unsigned oldest = 23 * kUseTimesPerTurnover;
    ASSERT_EQ(age_of(0, static_cast<UseTime>(oldest)), oldest);
    for (const Aging aging : {Aging::soon, Aging::slowly}) {
        EXPECT_LT(worth_of(kUsesMax, 255, oldest, {aging}), worth_of(1, 1, 0, {aging}));
    }
}

TEST(UsesTest, WhatIsLeftOfHitsTellsWhenTheyWere) {
    const Uses written = {2, 10};
    EXPECT_EQ(uses_with(written, 0, 50), written);
    unsigned before = 41;
    for (const unsigned hits : {1u, 2u, 3u}) {
        const Uses now = uses_with(written, hits, 50);
        EXPECT_EQ(now.count, 2 + hits);
        EXPECT_LT(age_of(now.last, 50), before);
        before = age_of(now.last, 50);
    }
    EXPECT_EQ(uses_with({15, 0}, 3, 0).count, kUsesMax);
    EXPECT_EQ(uses_with({0, 0}, 0, 0).count, 1u);
}

class ReuseTest : public ::testing::Test {
  protected:
    static constexpr std::uint64_t kSize = 512 * 1024;  // 128 of them fill the cache

    Index &index() { return files_.index(); }
    std::string path() const { return files_.scratch() / kReuseFileName; }
    static std::uint64_t hash_of(std::uint64_t key) { return cairn_test::mix(key, 7); }
    std::optional<Taste> learn(Reuse &reuse) {
        return reuse.learn(index(), files_.account(), files_.reader());
    }
    // A key that is not there is made; some cost sixteen times as much as others.
    void make(Reuse &reuse, std::uint64_t key) {
        const std::uint32_t cost_us = key % 4 == 0 ? 16'000 : 1'000;
        reuse.note_put(index(), hash_of(key), tells_costs_ ? cost_us : 0, kSize);
        if (++made_ % 2 == 0) retire(1);
        if (made_ % 16 == 0) taste_ = learn(reuse);
    }
    void retire(std::uint64_t mib) {
        index().pass_use_time(mib << 20, files_.account().limits().limit_bytes);
    }
    void loop(Reuse &reuse) {
        for (int round = 0; round < 6; ++round) {
            for (std::uint64_t key = 0; key < 400; ++key) make(reuse, key);
        }
    }

    testing::CacheFiles files_;
    Reuse reuse_{files_.directory()};
    bool tells_costs_ = true;
    std::uint64_t made_ = 0;
    std::optional<Taste> taste_;
};

TEST(UsesTest, WhereEntriesAgeSlowlyOneOfTwiceTheWorthStaysForAboutTwiceAsLong) {
    const unsigned half = kUseTimesPerTurnover / 2, octave = 4;
    EXPECT_EQ(lost_of(0, Aging::slowly), 0u);
    for (unsigned age = 0; age < 60; ++age) {
        EXPECT_EQ(lost_of(2 * age + half, Aging::slowly), lost_of(age, Aging::slowly) + octave);
        EXPECT_GE(lost_of(age, Aging::soon), lost_of(age, Aging::slowly));
        EXPECT_EQ(lost_of(age, Aging::never), 0u);
    }
}

TEST_F(ReuseTest, NothingIsNotedBeforeTheFirstEviction) {
    reuse_.note_put(index(), hash_of(1), 1000, kSize);
    reuse_.note_hit(index(), hash_of(1));
    EXPECT_FALSE(reuse_.has_notes());
    EXPECT_FALSE(learn(reuse_)) << "nothing is known";
    EXPECT_TRUE(fs::exists(path()));
    reuse_.note_hit(index(), hash_of(1));
    EXPECT_TRUE(reuse_.has_notes());
}

TEST_F(ReuseTest, WhereAllComesBackLateNothingAges) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    ASSERT_TRUE(taste_);
    EXPECT_EQ(taste_->aging, Aging::never);
    // Of 100 that cost much and 300 that cost little, the cache holds some hundred.
    const unsigned dear = density_of(16'000, kSize), cheap = density_of(1'000, kSize);
    EXPECT_TRUE(stays(worth_of(6, dear, 0, *taste_), 0, *taste_));
    EXPECT_FALSE(stays(worth_of(1, cheap, 0, *taste_), 0, *taste_));
}

TEST_F(ReuseTest, WhereOnlyWhatIsNewComesBackOldEntriesGoSoon) {
    ASSERT_FALSE(learn(reuse_));
    // Each key is looked up a few times soon after it was made, and never again.
    for (std::uint64_t key = 0; key < 1500; ++key) {
        make(reuse_, key);
        for (std::uint64_t back = 1; back <= 24; back += 5) {
            if (key > back) reuse_.note_hit(index(), hash_of(key - back));
        }
    }
    ASSERT_TRUE(taste_);
    EXPECT_EQ(taste_->aging, Aging::soon);
    const unsigned dear = density_of(16'000, kSize);
    EXPECT_FALSE(stays(worth_of(6, dear, 3 * kUseTimesPerTurnover, *taste_), 0, *taste_));
}

// Some cost little and never come back; some are used much when they are new, and never again; some come back
// twice, more than a turnover later each time.
TEST_F(ReuseTest, WhereManyUsesSayLittleTheirRootCounts) {
    ASSERT_FALSE(learn(reuse_));
    for (std::uint64_t i = 0; i < 600; ++i) {
        const std::uint64_t first = 64 * i;
        for (std::uint64_t cheap = 1; cheap < 24; cheap += 4) make(reuse_, first + cheap);
        const std::uint64_t busy = first + 32, steady = first + 48;
        make(reuse_, busy);
        for (int use = 0; use < 12; ++use) reuse_.note_hit(index(), hash_of(busy));
        make(reuse_, steady);
        for (const std::uint64_t back : {22u, 44u}) {
            if (i >= back) reuse_.note_hit(index(), hash_of(steady - 64 * back));
        }
    }
    ASSERT_TRUE(taste_);
    EXPECT_EQ(taste_->aging, Aging::slowly);
    EXPECT_EQ(taste_->counting, Counting::root);
}

// Times go round: what is known of a key ends before they do.
TEST_F(ReuseTest, WhatWasNotUsedForLongNeverSeemsNew) {
    ASSERT_FALSE(learn(reuse_));
    for (std::uint64_t key = 0; key < 32; ++key) make(reuse_, key);
    EXPECT_TRUE(reuse_.uses_of(hash_of(7)));
    unsigned age = 0;
    for (unsigned segment = 0; segment < 40 * 64; ++segment) {
        retire(1);
        if (segment % 16 != 0) continue;  // a quarter of a turnover
        (void)learn(reuse_);
        const auto uses = reuse_.uses_of(hash_of(7));
        const unsigned before = age;
        age = uses ? age_of(uses->last, index().use_time()) : 255;
        ASSERT_GE(age, before) << segment;
    }
    EXPECT_FALSE(reuse_.uses_of(hash_of(7)));
}

TEST_F(ReuseTest, WhereNothingComesBackNothingIsWorthCopying) {
    ASSERT_FALSE(learn(reuse_));
    for (std::uint64_t key = 0; key < 10 * 128; ++key) make(reuse_, key);
    EXPECT_FALSE(taste_);
    made_ = 0;
    loop(reuse_);
    EXPECT_TRUE(taste_) << "since then all came back";
}

// To tell the cost is left to the application.
TEST_F(ReuseTest, WhereNobodyTellsCostsWhatComesBackIsWorthCopyingAllTheSame) {
    tells_costs_ = false;
    ASSERT_FALSE(learn(reuse_));
    for (std::uint64_t key = 0; key < 10 * 128; ++key) make(reuse_, key);
    EXPECT_FALSE(taste_) << "nothing has come back";
    made_ = 0;
    loop(reuse_);
    EXPECT_TRUE(taste_);
}

TEST_F(ReuseTest, AnotherProcessGoesOnWhereOneStopped) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    Reuse other(files_.directory());
    const auto theirs = learn(other);
    ASSERT_TRUE(theirs);
    EXPECT_EQ(theirs->aging, taste_->aging);
    EXPECT_NEAR(theirs->threshold, taste_->threshold, 4);
}

TEST_F(ReuseTest, WithoutTheFileItBeginsWithTheEntriesThatAreThere) {
    for (int i = 0; i < 60; ++i) files_.put(std::to_string(i), std::string(1 << 20, 'v'));
    ASSERT_TRUE(learn(reuse_)) << "sixty of a MiB do not fit";
    fs::remove(path());
    ASSERT_TRUE(learn(reuse_));
    EXPECT_TRUE(fs::exists(path()));
}

TEST_F(ReuseTest, AnyDamageIsSurvivedAndLeavesATaste) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    const auto whole = cairn_test::read_file(path());
    Random random(1);
    for (int round = 0; round < 200; ++round) {
        auto bytes = whole;
        const std::uint64_t count = 1 + random.below(40);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t within = random.one_in(2) ? Reuse::kHeaderSize : bytes.size();
            bytes[static_cast<std::size_t>(random.below(within))] =
                static_cast<std::uint8_t>(random.below(256));
        }
        if (random.one_in(4)) bytes.resize(static_cast<std::size_t>(random.below(bytes.size())));
        cairn_test::write_file(path(), bytes);
        for (std::uint64_t key = 0; key < 50; ++key) make(reuse_, random.below(400));
        (void)learn(reuse_);
    }
    cairn_test::write_file(path(), std::vector<std::uint8_t>(whole.size(), 0xFF));
    loop(reuse_);
    ASSERT_TRUE(taste_);
    EXPECT_EQ(taste_->aging, Aging::never) << "it learns anew";
}

TEST_F(ReuseTest, ThatOfAnotherCacheIsNotUsed) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    testing::CacheFiles other;
    fs::copy_file(path(), other.scratch() / kReuseFileName);
    Reuse theirs(other.directory());
    EXPECT_FALSE(theirs.learn(other.index(), other.account(), other.reader()));
}

TEST_F(ReuseTest, WithoutRoomForTheFileNothingIsLearned) {
    testing::FailingCalls calls;
    testing::Fault fault;
    fault.error = ENOSPC;
    fault.extent = testing::Fault::Extent::from_then_on;
    fault.first = 1;
    calls.arm(fault);
    (void)learn(reuse_);
    EXPECT_FALSE(learn(reuse_));
    calls.disarm();
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(ReuseTest, ClearingForgetsAllKeys) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    reuse_.forget_all(index());
    EXPECT_FALSE(fs::exists(path()));
    EXPECT_FALSE(learn(reuse_)) << "there is no entry";
}

TEST_F(ReuseTest, AFewOfManyKeysAreInTheSample) {
    index().set_entries(3000);
    (void)learn(reuse_);
    EXPECT_EQ(index().sampling(), 3u) << "12,000 keys are known in 4096 words: one of four";
    unsigned noted = 0;
    for (std::uint64_t key = 0; key < 4000; ++key) {
        Reuse one(files_.directory());
        one.note_hit(index(), hash_of(key));
        noted += one.has_notes() ? 1u : 0u;
    }
    EXPECT_NEAR(noted, 1000, 150);
    index().set_sampling(UINT64_MAX);  // as damage may leave it
    reuse_.note_hit(index(), hash_of(1));
}

TEST_F(ReuseTest, TheSampleFollowsTheNumberOfKeys) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    EXPECT_EQ(index().sampling(), 1u);
    index().set_entries(100'000);
    (void)learn(reuse_);
    EXPECT_EQ(index().sampling(), 8u) << "400,000 keys in 4096 words: one of 128";
    index().set_entries(60'000);
    (void)learn(reuse_);
    EXPECT_EQ(index().sampling(), 8u) << "near enough";
    index().set_entries(10);
    (void)learn(reuse_);
    EXPECT_EQ(index().sampling(), 1u);
    index().set_entries(UINT64_MAX);  // as damage may leave it
    (void)learn(reuse_);
    EXPECT_EQ(index().sampling(), 13u);
}

TEST_F(ReuseTest, AFileThatCannotBeReadNowIsNotMadeAnew) {
    ASSERT_FALSE(learn(reuse_));
    loop(reuse_);
    const auto whole = cairn_test::read_file(path());
    testing::FailingCalls calls;
    testing::Fault fault;
    fault.error = EIO;
    fault.only = testing::Call::pread;
    fault.extent = testing::Fault::Extent::from_then_on;
    calls.arm(fault);
    Reuse other(files_.directory());
    EXPECT_FALSE(learn(other));
    EXPECT_GE(calls.failures(), 1u);
    calls.disarm();
    EXPECT_EQ(cairn_test::read_file(path()), whole);
}

TEST_F(ReuseTest, CostsOfSecondsAreInOrder) {
    ASSERT_FALSE(learn(reuse_));
    std::uint64_t before = 0;
    for (std::uint32_t cost_us = 1 << 18; cost_us < 1u << 31; cost_us *= 2) {
        const std::uint64_t cost =
            bytes_of(density_of(cost_us, 1 << 16) + quarter_log2(1 << 16), 52) >> 20;
        EXPECT_GT(cost, before) << cost_us;
        before = cost;
    }
}

TEST_F(ReuseTest, TheFileIsASmallPartOfTheLimit) {
    EXPECT_EQ(Reuse::word_count(0), Reuse::kWordsMin);
    EXPECT_EQ(Reuse::word_count(UINT64_MAX), Reuse::kWordsMax);
    for (std::uint64_t limit = 1 << 20; limit < std::uint64_t{1} << 40; limit += limit / 7) {
        EXPECT_LE(Reuse::kHeaderSize + 8 * Reuse::word_count(limit), limit / 128) << limit;
    }
}

TEST_F(ReuseTest, ThePartsOfAnIndexAreAllOfIt) {
    for (int i = 0; i < 5000; ++i) files_.put(std::to_string(i), "v");
    std::uint64_t seen = 0;
    for (std::uint64_t part = 0; part < 32; ++part) {
        index().for_each_of_part(part, 32, [&](Index::Place place, Slot slot) {
            ++seen;
            Index::set_hits(place, slot, 2);
        });
    }
    EXPECT_EQ(seen, 5000u);
    index().for_each([&](Index::Place, Slot slot) {
        EXPECT_EQ(slot.hits(), 2u);
        return false;
    });
}

}  // namespace
}  // namespace cairn
