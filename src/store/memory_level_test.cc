// SPDX-License-Identifier: MIT
#include "store/memory_level.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace cairn {
namespace {

BlobRef blob(std::uint64_t number, std::size_t size = 100) {
    const std::string key = std::to_string(number);
    const std::string value(size, static_cast<char>('a' + number % 26));
    return Blob::copy(as_bytes(key), as_bytes(value), static_cast<std::uint32_t>(number));
}

std::uint64_t hash(std::uint64_t id) {
    return id * 0x9E3779B97F4A7C15u;
}

BlobRef find(MemoryLevel &level, std::uint64_t id) {
    level.prefetch(hash(id));
    return level.find(hash(id), id);
}

void keep(MemoryLevel &level, std::uint64_t id, const BlobRef &kept) {
    level.keep(hash(id), id, kept);
}

// As a look-up does it. Whether it was kept.
bool offer(MemoryLevel &level, std::uint64_t id, const BlobRef &read) {
    if (!level.wants(hash(id), read->footprint())) return false;
    keep(level, id, read);
    return true;
}

TEST(MemoryLevelTest, GivesBackWhatItKeeps) {
    MemoryLevel level(1 << 20);
    const BlobRef one = blob(1);
    EXPECT_FALSE(find(level, 7));
    keep(level, 7, one);
    EXPECT_EQ(find(level, 7).get(), one.get());
    EXPECT_EQ(level.bytes(), one->footprint());
    EXPECT_FALSE(find(level, 8));
}

// An entry that was replaced, or copied, has another place.
TEST(MemoryLevelTest, KeepsTheLatestPlaceOfAHash) {
    MemoryLevel level(1 << 20);
    const BlobRef older = blob(1, 300), newer = blob(2);
    level.keep(5, 1, older);
    level.keep(5, 2, newer);
    EXPECT_FALSE(level.find(5, 1));
    EXPECT_EQ(level.find(5, 2).get(), newer.get());
    EXPECT_EQ(level.bytes(), newer->footprint());
}

TEST(MemoryLevelTest, TakesAnEntryInAtItsSecondLookUp) {
    MemoryLevel level(1 << 20);
    const BlobRef one = blob(1);
    EXPECT_FALSE(offer(level, 7, one));
    EXPECT_FALSE(find(level, 7));
    EXPECT_TRUE(offer(level, 7, one));
    EXPECT_TRUE(find(level, 7));
}

TEST(MemoryLevelTest, OfNoCapacityKeepsNothing) {
    MemoryLevel level(0);
    EXPECT_FALSE(offer(level, 7, blob(1)));
    keep(level, 7, blob(1));
    EXPECT_FALSE(find(level, 7));
    EXPECT_EQ(level.bytes(), 0u);
}

TEST(MemoryLevelTest, NeverHoldsMoreThanItsBound) {
    constexpr std::uint64_t kBound = 256 * 1024;
    MemoryLevel level(kBound);
    for (std::uint64_t i = 1; i < 5000; ++i) {
        keep(level, i, blob(i, 50 + i % 900));
        ASSERT_LE(level.bytes(), kBound);
    }
    EXPECT_GT(level.bytes(), kBound / 2);
}

TEST(MemoryLevelTest, RefusesWhatIsLargerThanAShareOfTheBound) {
    MemoryLevel level(160 * 1024);
    for (int use = 0; use < 3; ++use) EXPECT_FALSE(offer(level, 1, blob(1, 20'000)));
    keep(level, 1, blob(1, 20'000));
    EXPECT_FALSE(find(level, 1));
    keep(level, 2, blob(2, 5'000));
    EXPECT_TRUE(find(level, 2));
}

// Entries of one shard, so that a test knows when it is full.
std::uint64_t hash_of_one_shard(std::uint64_t id) {
    return (id * 0x9E3779B97F4A7C15u) >> 4 | 1;
}

// As a program that looks it up so often.
bool use(MemoryLevel &level, std::uint64_t id, unsigned times) {
    const std::uint64_t hash = hash_of_one_shard(id);
    const BlobRef read = blob(id, 400);
    for (unsigned i = 0; i < times; ++i) {
        if (!level.find(hash, id) && level.wants(hash, read->footprint()))
            level.keep(hash, id, read);
    }
    return static_cast<bool>(level.find(hash, id));
}

TEST(MemoryLevelTest, WhatIsUsedStaysWhileOthersComeAndGo) {
    MemoryLevel level(512 * 1024);
    for (std::uint64_t id = 1; id <= 20; ++id) EXPECT_TRUE(use(level, id, 4));
    for (std::uint64_t id = 1000; id < 20'000; ++id) {
        (void)use(level, id, 2);
        if (id % 50 == 0) {
            for (std::uint64_t hot = 1; hot <= 20; ++hot) (void)use(level, hot, 1);
        }
    }
    for (std::uint64_t id = 1; id <= 20; ++id) {
        EXPECT_TRUE(level.find(hash_of_one_shard(id), id)) << id;
    }
}

TEST(MemoryLevelTest, AFullLevelTakesInWhatIsUsedMoreThanTwiceAsOften) {
    MemoryLevel level(512 * 1024);
    std::uint64_t id = 1;
    while (use(level, id, 4)) ++id;
    ASSERT_GT(id, 40u) << "that many have a place";
    EXPECT_FALSE(use(level, 1'000'000, 3)) << "it was used less often";
    EXPECT_TRUE(use(level, 2'000'000, 20));
    EXPECT_TRUE(use(level, 2'000'000, 1)) << "and it stays";
}

// As at a change of scenes.
TEST(MemoryLevelTest, WhatIsNotUsedAnyMoreMakesWayInTheEnd) {
    MemoryLevel level(512 * 1024);
    for (std::uint64_t id = 1; id <= 40; ++id) (void)use(level, id, 60);
    for (unsigned round = 0; round < 100; ++round) {
        for (std::uint64_t id = 1001; id <= 1040; ++id) (void)use(level, id, 1);
    }
    unsigned old = 0, newer = 0;
    for (std::uint64_t id = 1; id <= 40; ++id) {
        old += level.find(hash_of_one_shard(id), id) ? 1u : 0u;
        newer += level.find(hash_of_one_shard(id + 1000), id + 1000) ? 1u : 0u;
    }
    EXPECT_LT(old, 30u);
    EXPECT_GT(newer, 30u);
}

// Each is as good as what is there, and copying it would be in vain.
TEST(MemoryLevelTest, AFullLevelHardlyChangesWhereAllAreUsedAlike) {
    MemoryLevel level(2 << 20);
    std::uint64_t x = 1;
    unsigned copied = 0, looked_up = 0;
    for (int i = 0; i < 200'000; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const std::uint64_t id = 1 + (x >> 33) % 12'000;
        if (find(level, id)) continue;
        const bool is_copied = offer(level, id, blob(id, 400));
        if (i < 100'000) continue;
        ++looked_up;
        copied += is_copied ? 1u : 0u;
    }
    EXPECT_LT(copied, looked_up / 8);
    EXPECT_GT(copied, 0u) << "it goes on learning";
}

// Removing an entry from an open-addressed table moves the entries behind it.
TEST(MemoryLevelTest, AgreesWithAMapWhileEntriesComeAndGo) {
    MemoryLevel level(64 * 1024);
    std::map<std::uint64_t, BlobRef> all;
    std::uint64_t x = 1;
    for (int i = 0; i < 50'000; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const std::uint64_t id = 1 + (x >> 33) % 700;
        if (!all.contains(id)) all.emplace(id, blob(id, 10 + id % 300));
        if (const BlobRef found = find(level, id)) {
            ASSERT_EQ(found.get(), all.at(id).get()) << id;
        } else {
            if (i % 3 != 0 || level.wants(hash(id), all.at(id)->footprint())) {
                keep(level, id, all.at(id));
            }
        }
        ASSERT_LE(level.bytes(), 64u * 1024);
    }
    std::uint64_t bytes = 0;
    for (const auto &[id, kept] : all) {
        if (find(level, id)) bytes += kept->footprint();
    }
    EXPECT_EQ(level.bytes(), bytes) << "what is counted is what is held";
}

TEST(MemoryLevelTest, ManyEntriesSeenOnceCostABoundedAmount) {
    MemoryLevel level(1 << 20);
    for (std::uint64_t id = 1; id < 2'500'000; ++id) (void)level.wants(hash(id), 100);
    EXPECT_EQ(level.bytes(), 0u);
    EXPECT_FALSE(offer(level, 9'999'999, blob(1)));
    EXPECT_TRUE(offer(level, 9'999'999, blob(1))) << "it still learns";
}

// All blobs are in one shard. Its table must grow for as many as the bound on bytes admits.
TEST(MemoryLevelTest, ManySmallBlobsFindAPlace) {
    MemoryLevel level(std::uint64_t{1} << 30);
    constexpr std::uint64_t kCount = 100'000;
    const auto hash_of = [](std::uint64_t i) { return (i * 0x9E3779B97F4A7C15u) >> 4 | 1; };
    for (std::uint64_t i = 1; i <= kCount; ++i) level.keep(hash_of(i), i, blob(i, 10));
    std::uint64_t found = 0;
    for (std::uint64_t i = 1; i <= kCount; ++i) found += level.find(hash_of(i), i) ? 1u : 0u;
    EXPECT_EQ(found, kCount);
}

TEST(MemoryLevelTest, BlobsOutliveTheLevelThatGaveThem) {
    BlobRef found;
    {
        MemoryLevel level(1 << 20);
        keep(level, 7, blob(3));
        found = find(level, 7);
        level.clear();
        EXPECT_FALSE(find(level, 7));
        EXPECT_EQ(level.bytes(), 0u);
    }
    EXPECT_EQ(found->value().size(), 100u);
    EXPECT_EQ(found->value()[0], std::byte{'d'});
}

TEST(MemoryLevelTest, ThreadsMayDoAllOfItAtOnce) {
    MemoryLevel level(128 * 1024);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 3000; ++i) {
                const std::uint64_t id = 1 + (i * 7 + t) % 400;
                const BlobRef found = find(level, id);
                if (found) {
                    ASSERT_EQ(found->cost_us(), id);
                } else {
                    keep(level, id, blob(id, 200));
                }
                if (t == 0 && i % 500 == 0) level.clear();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_LE(level.bytes(), 128u * 1024);
}

}  // namespace
}  // namespace cairn
