// SPDX-License-Identifier: MIT
#include "cache/memory_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cairn {
namespace {

class MemoryCacheTest : public testing::Test {
  protected:
    static MemoryCache::Options options(std::uint64_t limit, Charge charge = Charge::value) {
        MemoryCache::Options result;
        result.limit_bytes = limit;
        result.charge = charge;
        result.policy = policy_by_name("lru");
        return result;
    }
    static bool put(MemoryCache &cache, const std::string &key, std::size_t size,
                    bool pinned = false) {
        PutOptions put;
        put.pinned = pinned;
        return cache.put(as_bytes(key), as_bytes(std::string(size, 'v')), put).ok();
    }
    // The keys from the youngest on, with "lru" the most recently used; one letter each.
    static std::string order(MemoryCache &cache) {
        std::string keys;
        for (std::uint64_t i = 0;; ++i) {
            const BlobRef blob = cache.nth(i).value();
            if (!blob) return keys;
            keys.push_back(static_cast<char>(blob->key()[0]));
        }
    }
};

TEST_F(MemoryCacheTest, CountsKeysOnlyWhereAskedTo) {
    MemoryCache values(options(100));
    MemoryCache both(options(100, Charge::key_and_value));
    EXPECT_TRUE(put(values, "a", 100));
    EXPECT_FALSE(put(both, "a", 100));
    EXPECT_TRUE(put(both, "a", 99));
    EXPECT_EQ(values.stats().memory_bytes, 100u);
    EXPECT_EQ(both.stats().memory_bytes, 100u);
}

TEST_F(MemoryCacheTest, ThreeOf40BytesInALimitOf100KeepTwo) {
    MemoryCache cache(options(100));
    for (const char *key : {"a", "b", "c"}) put(cache, key, 40);
    EXPECT_EQ(order(cache), "cb");
    EXPECT_EQ(cache.stats().memory_bytes, 80u);
}

TEST_F(MemoryCacheTest, AsManyBytesAsTheLimitFitAndOneMoreDoesNot) {
    MemoryCache cache(options(100));
    put(cache, "a", 40);
    put(cache, "b", 40);
    EXPECT_FALSE(put(cache, "a", 101)) << "refused before anything is evicted";
    EXPECT_EQ(order(cache), "ba");
    EXPECT_TRUE(put(cache, "c", 100));
    EXPECT_EQ(order(cache), "c");
}

TEST_F(MemoryCacheTest, ReplacingMovesToTheFrontAndCountsAnew) {
    MemoryCache cache(options(100));
    put(cache, "a", 40);
    put(cache, "b", 40);
    EXPECT_TRUE(put(cache, "a", 10));
    EXPECT_EQ(order(cache), "ab");
    EXPECT_EQ(cache.stats().memory_bytes, 50u);
    EXPECT_EQ(cache.stats().entries, 2u);
}

TEST_F(MemoryCacheTest, LookingByPlaceLeavesTheOrderAndGettingChangesIt) {
    MemoryCache cache(options(100));
    for (const char *key : {"a", "b", "c"}) put(cache, key, 10);
    EXPECT_EQ(order(cache), "cba");
    EXPECT_EQ(order(cache), "cba");
    EXPECT_FALSE(cache.nth(3).value());
    EXPECT_FALSE(cache.nth(UINT64_MAX).value());
    EXPECT_TRUE(cache.get(as_bytes("a")).value());
    EXPECT_EQ(order(cache), "acb");
}

TEST_F(MemoryCacheTest, TrimTakesTheOldestAndTellsWhatItFreed) {
    MemoryCache cache(options(100));
    put(cache, "a", 20);
    put(cache, "b", 20);
    EXPECT_EQ(cache.trim(40).value(), 0u);
    EXPECT_EQ(cache.trim(39).value(), 20u);
    EXPECT_EQ(order(cache), "b");
    EXPECT_TRUE(put(cache, "c", 80)) << "the limit is as before";
    EXPECT_EQ(cache.trim(0).value(), 100u);
    EXPECT_EQ(cache.stats().memory_bytes, 0u);
}

TEST_F(MemoryCacheTest, TrimTakesPinnedEntriesLastAndEmptyOnesInTheirTurn) {
    MemoryCache cache(options(100));
    put(cache, "p", 30, true);
    put(cache, "e", 0);
    put(cache, "a", 30);
    EXPECT_EQ(cache.trim(60).value(), 0u);
    EXPECT_EQ(order(cache), "aep");
    EXPECT_EQ(cache.trim(30).value(), 30u);
    EXPECT_EQ(order(cache), "p");
    EXPECT_EQ(cache.trim(0).value(), 30u);
    EXPECT_EQ(order(cache), "");
}

TEST_F(MemoryCacheTest, ALimitThatIsLoweredEvictsAndStays) {
    MemoryCache cache(options(100));
    put(cache, "a", 60);
    put(cache, "b", 40);
    EXPECT_EQ(cache.resize(50, 50).value(), 60u);
    EXPECT_EQ(order(cache), "b");
    EXPECT_EQ(cache.stats().limit_bytes, 50u);
    EXPECT_FALSE(put(cache, "c", 51));
    EXPECT_EQ(cache.resize(0, UINT64_MAX).value(), 40u);
    EXPECT_FALSE(put(cache, "c", 1));
    EXPECT_TRUE(put(cache, "c", 0));
    EXPECT_EQ(cache.resize(0, UINT64_MAX).value(), 0u);
    EXPECT_EQ(order(cache), "") << "nothing stays, nor what has no bytes";
}

TEST_F(MemoryCacheTest, ResizingEvictsDownToWhatIsToStayAndSetsTheLimit) {
    MemoryCache cache(options(100));
    put(cache, "p", 30, true);
    put(cache, "a", 30);
    put(cache, "b", 30);
    EXPECT_EQ(cache.resize(200, 60).value(), 30u);
    EXPECT_EQ(order(cache), "bp");
    EXPECT_EQ(cache.stats().limit_bytes, 200u);
    EXPECT_EQ(cache.resize(100, 200).value(), 0u);
    EXPECT_EQ(cache.stats().limit_bytes, 100u);
    EXPECT_EQ(cache.resize(40, 200).value(), 30u) << "the limit where that is less";
    EXPECT_EQ(order(cache), "p");
}

TEST_F(MemoryCacheTest, ResizingToNothingDropsAllAndChangesTheLimit) {
    MemoryCache cache(options(100));
    put(cache, "p", 30, true);
    put(cache, "e", 0);
    put(cache, "a", 30);
    EXPECT_EQ(cache.resize(40, 0).value(), 60u);
    EXPECT_EQ(order(cache), "");
    EXPECT_EQ(cache.stats().limit_bytes, 40u);
    EXPECT_FALSE(put(cache, "a", 41));
    EXPECT_TRUE(put(cache, "a", 40)) << "nothing is charged any more";
    EXPECT_EQ(cache.resize(40, 0).value(), 40u);
}

// Whatever is put meanwhile is either told or still there.
TEST_F(MemoryCacheTest, NoBytesAreLostBetweenResizesAndPuts) {
    MemoryCache cache(options(1000));
    constexpr std::uint64_t kPuts = 20'000;
    std::atomic<bool> done = false;
    std::thread putter([&] {
        for (std::uint64_t i = 0; i < kPuts; ++i) {
            while (!put(cache, std::to_string(i), 1)) {
            }
            // Nothing may be evicted.
            while (cache.stats().entries > 900) std::this_thread::yield();
        }
        done = true;
    });
    std::uint64_t told = 0;
    while (!done) told += cache.resize(1000, 0).value();
    putter.join();
    EXPECT_EQ(told + cache.stats().memory_bytes, kPuts);
}

TEST_F(MemoryCacheTest, WhatIsTooLargeIsNotCopiedFirst) {
    MemoryCache cache(options(100));
    // Never read: no machine has that much memory.
    const std::byte byte = {};
    const auto result = cache.put(as_bytes("a"), Bytes(&byte, PTRDIFF_MAX), PutOptions());
    EXPECT_EQ(result.error(), Error::too_large);
    EXPECT_EQ(cache.stats().puts_refused, 1u);
}

TEST_F(MemoryCacheTest, WhatIsPutBehindIsTheFirstToGoAndDrivesNothingOut) {
    MemoryCache cache(options(30));
    const auto behind = [&](const char *key) {
        return cache.put_behind(Blob::copy(as_bytes(key), as_bytes("123456789"), 0));
    };
    ASSERT_TRUE(put(cache, "a", 9));
    EXPECT_EQ(behind("a").value(), PutOutcome::exists);
    EXPECT_EQ(behind("b").value(), PutOutcome::stored);
    EXPECT_EQ(behind("c").value(), PutOutcome::stored);
    EXPECT_EQ(behind("d").error(), Error::full);
    EXPECT_EQ(cache.stats().memory_bytes, 27u);
    EXPECT_EQ(cache.stats().puts, 1u);
    ASSERT_TRUE(put(cache, "e", 9));
    EXPECT_FALSE(cache.contains(as_bytes("c")).value());
    EXPECT_TRUE(cache.contains(as_bytes("a")).value() && cache.contains(as_bytes("b")).value());
}

// --- policies

class MemoryPolicyTest : public testing::Test {
  protected:
    // Of so many entries, whatever their bytes.
    void open(const char *policy, std::uint64_t limit_entries) {
        MemoryCache::Options options;
        options.limit_bytes = 1 << 30;
        options.limit_entries = limit_entries;
        options.policy = policy_by_name(policy);
        cache_ = std::make_unique<MemoryCache>(options);
    }
    void put(char name, std::uint32_t cost_us = 1000, bool pinned = false) {
        PutOptions options;
        options.cost_us = cost_us;
        options.pinned = pinned;
        const std::string key(1, name);
        ASSERT_TRUE(cache_->put(as_bytes(key), as_bytes(std::string(1023, 'v')), options).ok());
    }
    void put_all(const std::string &names) {
        for (const char name : names) put(name);
    }
    void pin_all(const std::string &names) {
        for (const char name : names) put(name, 1000, true);
    }
    void hit(const std::string &names) {
        for (const char name : names) {
            ASSERT_TRUE(cache_->get(as_bytes(std::string(1, name))).value()) << name;
        }
    }
    // The names from the oldest to the youngest.
    std::string all() {
        std::string names;
        cache_->enumerate([&](const EntryInfo &info) {
            names.insert(names.begin(), static_cast<char>(info.key[0]));
            return true;
        });
        return names;
    }
    std::string after(const std::string &names) {
        put_all(names);
        return all();
    }

    std::unique_ptr<MemoryCache> cache_;
};

TEST_F(MemoryPolicyTest, FifoDropsTheOldestWhateverItsHits) {
    open("fifo", 4);
    put_all("ABCD");
    hit("AAAB");
    EXPECT_EQ(after("E"), "BCDE");
    EXPECT_EQ(after("FG"), "DEFG");
}

TEST_F(MemoryPolicyTest, LruDropsWhatWasUsedLongestAgo) {
    open("lru", 4);
    put_all("ABCD");
    hit("AAABA");
    EXPECT_EQ(after("E"), "DBAE") << "not what was used least often";
    hit("D");
    EXPECT_EQ(after("F"), "AEDF");
}

TEST_F(MemoryPolicyTest, MruDropsTheNewestButTheOneThatIsStored) {
    open("mru", 4);
    put_all("ABCD");
    hit("DDD");
    EXPECT_EQ(after("E"), "ABCE");
    EXPECT_EQ(after("FGH"), "ABCH");
}

TEST_F(MemoryPolicyTest, DefaultDropsTheOldestThatNobodyAskedFor) {
    open("default", 4);
    put_all("ABCD");
    hit("A");
    EXPECT_EQ(after("E"), "CDAE") << "what is kept is as a copy, younger than the rest";
    EXPECT_EQ(after("F"), "DAEF") << "and must be hit again to be kept again";
    EXPECT_EQ(after("G"), "AEFG");
    EXPECT_EQ(after("H"), "EFGH");
}

TEST_F(MemoryPolicyTest, DefaultWeighsHits) {
    open("default", 4);
    put_all("ABCD");
    hit("ABBCCCD");
    EXPECT_EQ(after("E"), "BCDE") << "of those that were hit once, the oldest";
    // B had two hits, and C three; they have one less since.
    EXPECT_EQ(after("F"), "EBCF");
    EXPECT_EQ(after("G"), "BFCG");
    EXPECT_EQ(after("H"), "FCGH");
}

TEST_F(MemoryPolicyTest, DefaultKeepsOnceWhatIsDear) {
    open("default", 4);
    put('A', 64'000);
    put_all("BCD");
    EXPECT_EQ(after("E"), "CDAE");
    EXPECT_EQ(after("FG"), "AEFG");
    EXPECT_EQ(after("H"), "EFGH") << "not for ever";
}

TEST_F(MemoryPolicyTest, WhatIsReplacedBeginsAnew) {
    open("default", 3);
    put_all("ABC");
    hit("AAA");
    put('A');
    EXPECT_EQ(after("DEF"), "DEF");
}

TEST_F(MemoryPolicyTest, APinnedEntryStaysWhateverThePolicy) {
    for (const char *policy : {"default", "fifo", "lru", "mru"}) {
        open(policy, 4);
        pin_all("P");
        put_all("AB");
        pin_all("Q");
        hit("AAB");
        EXPECT_EQ(after("CDEFG").size(), 4u) << policy;
        for (const char *pinned : {"P", "Q"}) {
            EXPECT_TRUE(cache_->contains(as_bytes(pinned)).value()) << policy;
        }
        EXPECT_EQ(cache_->trim(2048).value(), 2048u) << policy;
        EXPECT_EQ(all(), "PQ") << policy;
        EXPECT_EQ(cache_->trim(1024).value(), 1024u) << policy;
        EXPECT_EQ(all(), "Q") << policy << ": of the pinned the oldest goes first";
    }
}

TEST_F(MemoryPolicyTest, TrimmingGoesByThePolicy) {
    const std::pair<const char *, const char *> left[] = {
        {"default", "BD"}, {"fifo", "CD"}, {"lru", "DB"}, {"mru", "AB"}};
    for (const auto &[policy, expected] : left) {
        open(policy, 4);
        put_all("ABCD");
        hit("BB");
        EXPECT_EQ(cache_->trim(2048).value(), 2048u);
        std::string names = all();
        if (std::string(policy) == "default") std::sort(names.begin(), names.end());
        EXPECT_EQ(names, expected) << policy;
    }
}

// The seventeenth oldest is not compared, whatever the others are worth.
TEST_F(MemoryPolicyTest, AnEvictionLooksAtSixteenEntries) {
    open("default", 20);
    put_all("ABCDEFGHIJKLMNOPQRST");
    hit("ABCDEFGHIJKLMNOP");
    hit("BCDEFGHIJKLMNOP");
    EXPECT_EQ(after("U"), "QRSTBCDEFGHIJKLMNOPU");
    EXPECT_EQ(after("V"), "RSTNOPUBCDEFGHIJKLMV");
}

// With all of them worth keeping, hits are used up, and nothing is looked at for ever.
TEST_F(MemoryPolicyTest, EachEvictionDropsOneOfThoseThatAreAllWorthKeeping) {
    open("default", 4);
    put_all("ABCD");
    hit("AAABBBCCCDDD");
    EXPECT_EQ(after("E"), "BCDE");
    EXPECT_EQ(cache_->stats().entries, 4u);
}

TEST_F(MemoryPolicyTest, PinnedAndOtherEntriesAreInOneOrder) {
    open("lru", 10);
    put_all("A");
    pin_all("P");
    put_all("B");
    pin_all("Q");
    EXPECT_EQ(all(), "APBQ");
    hit("P");
    hit("A");
    EXPECT_EQ(all(), "BQPA");
    for (std::uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(static_cast<char>(cache_->nth(i).value()->key()[0]), "APQB"[i]);
    }
    ASSERT_TRUE(cache_->put_behind(Blob::copy(as_bytes("Z"), as_bytes("v"), 0)).ok());
    ASSERT_TRUE(cache_->put_behind(Blob::copy(as_bytes("Y"), as_bytes("v"), 0)).ok());
    EXPECT_EQ(all(), "YZBQPA");
}

}  // namespace
}  // namespace cairn
