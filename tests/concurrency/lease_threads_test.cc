// Threads that miss the same entry at once, in caches on disk and in memory.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/cache.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kThreads = 6;
constexpr std::uint32_t kLongMs = 30'000;
constexpr std::size_t kKeys = 24;

class LeaseThreadsTest : public testing::TestWithParam<std::uint32_t> {
  protected:
    LeaseThreadsTest() {
        CacheOptions options;
        options.root = directory_.path();
        options.mode = GetParam();
        EXPECT_EQ(cache_.open(options), CAIRN_OK);
    }
    int acquire(const std::string &key, std::uint32_t patience_ms, cairn_lease **lease) {
        return cairn_lease_acquire(cache_.handle(), key.data(), key.size(), patience_ms, lease);
    }

    TempDirectory directory_;
    Cache cache_;
};

TEST_P(LeaseThreadsTest, EachEntryIsMadeOnce) {
    std::array<std::atomic<unsigned>, kKeys> made = {};
    std::atomic<unsigned> trouble = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            for (std::size_t k = 0; k < kKeys; ++k) {
                const std::size_t n = (k + (i % 2) * 7) % kKeys;
                const std::string key = "key " + std::to_string(n);
                cairn_lease *lease = nullptr;
                const int got = acquire(key, kLongMs, &lease);
                if (got == CAIRN_EXISTS) continue;
                if (got != CAIRN_OK) {
                    ++trouble;
                    continue;
                }
                ++made[n];
                usleep(500);
                if (cache_.put(as_bytes(key), as_bytes("value")) != CAIRN_OK) ++trouble;
                cairn_lease_release(lease);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(trouble, 0u);
    for (const auto &count : made) EXPECT_EQ(count, 1u);
}

TEST_P(LeaseThreadsTest, WhatIsGivenBackWithoutAnEntryGoesToTheNext) {
    std::atomic<unsigned> inside = 0, trouble = 0, turns = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            cairn_lease *lease = nullptr;
            if (acquire("key", kLongMs, &lease) != CAIRN_OK) {
                ++trouble;
                return;
            }
            if (++inside != 1) ++trouble;
            usleep(1000);
            --inside;
            ++turns;
            cairn_lease_release(lease);
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(trouble, 0u);
    EXPECT_EQ(turns, kThreads);
}

TEST_P(LeaseThreadsTest, WhoHasOneDoesNotWaitForAnother) {
    cairn_lease *own = nullptr, *others = nullptr, *more = nullptr;
    ASSERT_EQ(acquire("own", 0, &own), CAIRN_OK);
    std::thread([&] { EXPECT_EQ(acquire("others", 0, &others), CAIRN_OK); }).join();
    EXPECT_EQ(acquire("others", kLongMs, &more), CAIRN_ERROR_BUSY);
    EXPECT_EQ(acquire("own", kLongMs, &more), CAIRN_ERROR_BUSY);
    ASSERT_EQ(acquire("free", kLongMs, &more), CAIRN_OK);
    cairn_lease_release(more);
    cairn_lease_release(own);
    std::thread([&] { cairn_lease_release(others); }).join();
    ASSERT_EQ(acquire("others", 0, &others), CAIRN_OK);
    cairn_lease_release(others);
}

TEST_P(LeaseThreadsTest, AnotherCacheHasLeasesOfItsOwn) {
    CacheOptions options;
    options.root = directory_.path();
    options.identifier = "other";
    options.mode = GetParam();
    const Cache other(options);
    cairn_lease *one = nullptr, *two = nullptr;
    ASSERT_EQ(acquire("key", 0, &one), CAIRN_OK);
    ASSERT_EQ(cairn_lease_acquire(other.handle(), "key", 3, 0, &two), CAIRN_OK);
    cairn_lease_release(one);
    cairn_lease_release(two);
}

INSTANTIATE_TEST_SUITE_P(Modes, LeaseThreadsTest,
                         testing::Values(CAIRN_MODE_DISK, CAIRN_MODE_MEMORY), [](const auto &kind) {
                             return kind.param == CAIRN_MODE_DISK ? "Disk" : "Memory";
                         });

}  // namespace
}  // namespace cairn_test
