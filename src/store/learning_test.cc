// SPDX-License-Identifier: MIT
// Stores whose policy learns: what they keep, and what must hold whatever they have learned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/reuse.h"
#include "store/space.h"
#include "store/store.h"
#include "store/testing/cache_files.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"

namespace cairn {
namespace {

using cairn_test::Child;
using cairn_test::Random;

// Programs in one order, again and again, three times as many as fit.
class LearningTest : public ::testing::Test {
  protected:
    static constexpr int kPrograms = 1000;

    LearningTest() {
        options_.root = scratch_.path();
        options_.identifier = "test";
        options_.version = 1;
        options_.limit_bytes = 6 << 20;
    }
    std::unique_ptr<Store> open() const {
        auto store = Store::open(options_);
        EXPECT_TRUE(store.ok());
        return std::move(store.value());
    }
    static std::string key(int number) { return "program" + std::to_string(number); }
    static std::string value(int number) {
        std::string value(16'000, static_cast<char>('a' + number % 26));
        return value.replace(0, 8, std::to_string(10'000'000 + number));
    }
    static bool is_dear(int number) { return number % 4 == 0; }
    static bool is_there(Store &store, int number) {
        const BlobRef found = store.get(as_bytes(key(number)));
        if (found) {
            EXPECT_TRUE(std::ranges::equal(found->value(), as_bytes(value(number))));
        }
        return static_cast<bool>(found);
    }
    static Error make(Store &store, int number, bool pinned = false) {
        const PutOptions put = {
            .pinned = pinned,
            .cost_us = is_dear(number) ? 50'000u : 500u,
        };
        return store.put(as_bytes(key(number)), as_bytes(value(number)), put).error();
    }
    // Whether it is there. Else it is made.
    static bool use(Store &store, int number, bool pinned = false) {
        if (is_there(store, number)) return true;
        EXPECT_EQ(make(store, number, pinned), Error::none);
        return false;
    }
    // How many of those that cost much are found, of a fourth of all.
    static int loop(Store &store) {
        int found = 0;
        for (int i = 0; i < kPrograms; ++i) found += use(store, i) && is_dear(i) ? 1 : 0;
        return found;
    }
    // In the last of some rounds, each of which is a start.
    int found_in_last_round() const {
        int found = 0;
        for (int round = 0; round < 8; ++round) found = loop(*open());
        return found;
    }
    std::string file() const {
        return cairn_test::path_in_cache(scratch_ / "test", kReuseFileName);
    }
    void expect_below_limit() const {
        const auto use =
            measure_disk_use(*Directory::open(cairn_test::store_files(scratch_ / "test")));
        ASSERT_TRUE(use.ok());
        EXPECT_LE(use->bytes, options_.limit_bytes);
    }

    const testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
};

TEST_F(LearningTest, TheDefaultKeepsWhatCostsMost) {
    EXPECT_GT(found_in_last_round(), 150) << "of 250";
    expect_below_limit();
}

TEST_F(LearningTest, ItLearnsAlsoAfterAClear) {
    {
        const auto store = open();
        (void)loop(*store);
        ASSERT_TRUE(store->clear().ok());
        EXPECT_TRUE(cairn_test::read_file(file()).empty());
        for (int i = 0; i < 20; ++i) (void)use(*store, i);
    }
    EXPECT_GT(found_in_last_round(), 150) << "of 250";
}

// What was learned before the clear does not count for what comes after it, in the same process.
TEST_F(LearningTest, AfterAClearTheFirstEvictionHasLearnedAnew) {
    for (int round = 0; round < 8; ++round) {
        const auto store = open();
        (void)loop(*store);
        ASSERT_TRUE(store->clear().ok());
        const std::uint64_t before = store->stats().evicted;
        for (int i = 0; i < kPrograms && store->stats().evicted == before; ++i) {
            ASSERT_EQ(make(*store, i), Error::none);
        }
        EXPECT_GT(store->stats().evicted, before);
        EXPECT_FALSE(cairn_test::read_file(file()).empty());
    }
}

TEST_F(LearningTest, ItLearnsAlsoUnderAnotherLimit) {
    options_.limit_bytes = 1 << 20;
    for (int round = 0; round < 2; ++round) (void)loop(*open());
    options_.limit_bytes = 6 << 20;
    EXPECT_GT(found_in_last_round(), 150) << "of 250";
}

TEST_F(LearningTest, WhoGoesOnWithAnothersVictimGoesByWhatAllHaveLearned) {
    (void)found_in_last_round();
    int found = 0;
    for (int i = 0; i < kPrograms; ++i) {  // each is a start
        const auto store = open();
        found += use(*store, i) && is_dear(i) ? 1 : 0;
    }
    EXPECT_GT(found, 150) << "of 250";
}

TEST_F(LearningTest, LruKeepsNothingOfALoop) {
    options_.policy = policy_by_name("lru");
    EXPECT_LT(found_in_last_round(), 25);
}

TEST_F(LearningTest, PinsStayHoweverLittleTheyAreWorth) {
    constexpr int kFirst = kPrograms, kPinned = 60;  // of a megabyte together
    {
        const auto store = open();
        for (int i = kFirst; i < kFirst + kPinned; ++i) (void)use(*store, 4 * i + 1, true);
    }
    for (int round = 0; round < 4; ++round) (void)loop(*open());
    const auto store = open();
    for (int i = kFirst; i < kFirst + kPinned; ++i) {
        EXPECT_TRUE(store->get(as_bytes(key(4 * i + 1)))) << i;
    }
}

TEST_F(LearningTest, ProcessesThatLearnAtOnceKeepToTheLimit) {
    (void)loop(*open());
    for (int round = 0; round < 2; ++round) {
        std::vector<Child> children;
        for (unsigned number = 0; number < 3; ++number) {
            children.emplace_back([&, number] {
                Random random(cairn_test::mix(static_cast<unsigned>(round), number));
                const auto store = open();
                for (int i = 0; i < kPrograms; ++i) {
                    // One in order, the others as it happens.
                    const int wanted =
                        number == 0 ? i % kPrograms : static_cast<int>(random.below(kPrograms));
                    if (is_there(*store, wanted)) continue;
                    // A put waits for a moment only for others who evict.
                    const Error error = make(*store, wanted);
                    EXPECT_TRUE(error == Error::none || error == Error::busy ||
                                error == Error::full);
                }
                return HasFailure() ? 1 : 0;
            });
        }
        children.back().kill();
        children.pop_back();
        for (Child &child : children) EXPECT_EQ(child.wait(), 0);
        expect_below_limit();
    }
    EXPECT_GT(found_in_last_round(), 100);
}

TEST_F(LearningTest, DamageWhileItIsInUseCostsNoEntryAndNoRoom) {
    (void)loop(*open());
    ASSERT_FALSE(cairn_test::read_file(file()).empty());
    Random random(3);
    const auto store = open();
    for (int i = 0; i < 4 * kPrograms; ++i) {
        (void)use(*store, i % kPrograms);
        if (i % 40 != 0) continue;
        auto bytes = cairn_test::read_file(file());
        for (std::uint64_t count = random.below(30); count > 0 && !bytes.empty(); --count) {
            const std::uint64_t within = random.one_in(2) ? Reuse::kHeaderSize : bytes.size();
            bytes[static_cast<std::size_t>(random.below(within) % bytes.size())] =
                static_cast<std::uint8_t>(random.below(256));
        }
        if (random.one_in(4)) bytes.resize(static_cast<std::size_t>(random.below(50'000)));
        cairn_test::write_file(file(), bytes);
    }
    EXPECT_EQ(store->stats().damaged, 0u);
    expect_below_limit();
    EXPECT_GT(found_in_last_round(), 100) << "it learns anew";
}

TEST_F(LearningTest, WhoOnlyReadsWritesNothing) {
    (void)loop(*open());
    const auto before = cairn_test::read_file(file());
    options_.access = Access::read_only;
    {
        const auto reader = open();
        for (int i = 0; i < kPrograms; ++i) (void)reader->get(as_bytes(key(i)));
    }
    EXPECT_EQ(cairn_test::read_file(file()), before);
}

}  // namespace
}  // namespace cairn
