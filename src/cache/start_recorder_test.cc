// The record of a start, in a program cache as the EGL front end opens it: on disk only.
// SPDX-License-Identifier: MIT
#include "cache/start_recorder.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "cache/disk_cache.h"
#include "cache/program_cache.h"
#include "os/environment.h"
#include "support/cache.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

using cairn_test::Child;
using cairn_test::eventually;

constexpr std::uint64_t kLongUs = 60'000'000;

class StartRecorderTest : public testing::Test {
  protected:
    ProgramCache::Options options() const {
        ProgramCache::Options options;
        options.store.root = directory_.path();
        options.store.limit_bytes = 64u << 20;
        options.generation = {"engine", "", "driver"};
        options.queue_bytes = 8u << 20;
        return options;
    }
    // The start is recorded at once, and ends when this test does.
    ProgramCache::Options soon() const {
        ProgramCache::Options soon = options();
        soon.times = {1, kLongUs};
        return soon;
    }
    static std::unique_ptr<ProgramCache> open(const ProgramCache::Options &options) {
        auto opened = ProgramCache::open(options);
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }
    static void put(ProgramCache &cache, const std::string &key) {
        EXPECT_TRUE(cache.put(as_bytes(key), as_bytes("value"), {}).ok());
    }
    static bool get(ProgramCache &cache, const std::string &key) {
        return static_cast<bool>(cache.get(as_bytes(key)).value());
    }
    void fill(const std::vector<std::string> &keys) const {
        {
            const auto cache = open(options());
            for (const std::string &key : keys) put(*cache, key);
        }
        forget_order(directory());
    }
    Directory directory() const {
        auto directory = Directory::open(directory_ / identifier_of(options().generation));
        EXPECT_TRUE(directory.ok());
        return std::move(directory.value());
    }
    StartOrder order() const { return read_order(directory()); }

    cairn_test::TempDirectory directory_;
};

TEST_F(StartRecorderTest, TheKeysOfAStartAreWrittenInTheOrderOfTheirFirstUse) {
    fill({"a", "b", "c"});
    {
        const auto cache = open(options());
        for (const char *key : {"b", "absent", "a", "b"}) get(*cache, key);
        put(*cache, "new");
        std::byte buffer[16];
        EXPECT_TRUE(cache->get_into(as_bytes("c"), buffer).ok());
        EXPECT_EQ(cache->stats().program->start_keys, 4u);
        EXPECT_TRUE(order().empty()) << "not before the start is some seconds old";
    }
    EXPECT_EQ(order(), (StartOrder{"b", "a", "new", "c"}));
}

TEST_F(StartRecorderTest, TheNextStartGoesFirstAndKeepsWhatWasBefore) {
    fill({"a", "b", "c"});
    for (const char *key : {"a", "b"}) get(*open(options()), key);
    EXPECT_EQ(order(), (StartOrder{"b", "a"}));
}

TEST_F(StartRecorderTest, ItIsThereAlthoughTheProcessIsKilled) {
    fill({"a", "b"});
    Child child([&] {
        const auto cache = open(soon());
        while (order().empty()) {
            get(*cache, "b");
            sleep_us(500);
        }
        raise(SIGKILL);
        return 1;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 9 (Killed)");
    EXPECT_EQ(order(), StartOrder{"b"});
}

TEST_F(StartRecorderTest, WhatIsUsedAfterTheStartIsNoPartOfIt) {
    fill({"a"});
    ProgramCache::Options ended = options();
    ended.times = {0, 0};
    {
        const auto cache = open(ended);
        const std::uint64_t opened_ns = monotonic_ns();
        EXPECT_TRUE(eventually([&] { return coarse_monotonic_ns() > opened_ns; }));
        get(*cache, "a");
        EXPECT_EQ(cache->stats().program->start_keys, 0u);
    }
    EXPECT_TRUE(order().empty());
}

// A program that never closes its cache flushes it when it exits.
TEST_F(StartRecorderTest, AFlushWritesItAndTheNextOneASecondLater) {
    fill({"a", "b"});
    const auto cache = open(options());
    get(*cache, "a");
    EXPECT_TRUE(cache->flush(kLongUs).ok());
    EXPECT_EQ(order(), StartOrder{"a"});
    get(*cache, "b");
    EXPECT_TRUE(cache->flush(kLongUs).ok());
    EXPECT_EQ(order(), StartOrder{"a"});
    EXPECT_TRUE(eventually([&] { return cache->flush(kLongUs).ok() && order().size() == 2; }));
}

TEST_F(StartRecorderTest, WhatWasClearedLeavesNoOrderHoweverSoonTheCacheIsClosed) {
    fill({"a"});
    for (int i = 0; i < 50; ++i) {
        auto cache = open(soon());
        put(*cache, "secret");
        if (i % 2 == 0) {
            EXPECT_TRUE(eventually([&] { return get(*cache, "secret") && !order().empty(); }));
        }
        EXPECT_TRUE(cache->clear().ok());
        EXPECT_EQ(cache->stats().program->start_keys, 0u);
        cache.reset();
        ASSERT_EQ(directory().info(kOrderFileName).error(), Error::not_found) << i;
    }
}

// As `cairn clear` does, or another process of the application.
TEST_F(StartRecorderTest, WhatAnotherProcessClearsIsNotWrittenAgain) {
    for (const bool all : {true, false}) {
        fill({"a"});
        auto cache = open(options());
        put(*cache, "secret");
        Child child([&] {
            StoreOptions store = options().store;
            store.identifier = identifier_of(options().generation);
            const auto other = DiskCache::open(store);
            if (!other.ok()) return 1;
            if (!all) return other.value()->clear_range(0, UINT64_MAX).ok() ? 0 : 2;
            return other.value()->clear().ok() ? 0 : 3;
        });
        EXPECT_EQ(child.wait(), 0);
        cache.reset();
        EXPECT_TRUE(order().empty()) << all;
    }
}

// As after each start of the system that found the disk's state older than what was put.
TEST_F(StartRecorderTest, AnIndexThatIsMadeAnewForgetsNoStart) {
    fill({"a", "b"});
    { get(*open(options()), "a"); }
    auto cache = open(options());
    cairn_test::Cache other({.root = directory_.path(),
                             .identifier = identifier_of(options().generation),
                             .version = options().store.version});
    EXPECT_TRUE(other.make_index_anew());
    get(*cache, "b");
    cache.reset();
    EXPECT_EQ(order(), (StartOrder{"b", "a"}));
}

// It may have written between the two things that a clear does.
TEST_F(StartRecorderTest, WhatIsWrittenWhileOthersClearIsRemovedByTheNextWrite) {
    fill({"a"});
    auto cache = open(soon());
    EXPECT_TRUE(eventually([&] { return get(*cache, "a") && !order().empty(); }));
    StoreOptions store = options().store;
    store.identifier = identifier_of(options().generation);
    EXPECT_TRUE(Store::open(store).value()->clear().ok());  // as far as it is killed then
    put(*cache, "new");
    cache.reset();
    const StartOrder left = order();
    EXPECT_EQ(std::count(left.begin(), left.end(), "a"), 0);
}

TEST_F(StartRecorderTest, EachStartCountsOnce) {
    fill({"a", "b"});
    for (const char *key : {"a", "b", "b"}) {
        const auto cache = open(soon());
        const StartOrder own = {key};
        EXPECT_TRUE(
            eventually([&] { return get(*cache, key) && read_order(directory(), 1) == own; }));
    }
    EXPECT_EQ(read_order(directory(), 2), StartOrder{"b"});
    EXPECT_EQ(read_order(directory(), 3), (StartOrder{"b", "a"}));
}

TEST_F(StartRecorderTest, MoreKeysThanAFileHoldsAndLongOnesAreLeftOut) {
    const auto cache = open(options());
    put(*cache, std::string(kOrderKeyMax + 1, 'k'));
    for (std::size_t i = 0; i < kOrderKeysMax + 10; ++i) put(*cache, std::to_string(i));
    EXPECT_EQ(cache->stats().program->start_keys, kOrderKeysMax);
}

TEST_F(StartRecorderTest, ThreadsRecordEachKeyOnce) {
    std::vector<std::string> keys;
    for (int i = 0; i < 200; ++i) keys.push_back("key" + std::to_string(i));
    fill(keys);
    {
        const auto cache = open(soon());
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (const std::string &key : keys) get(*cache, key);
            });
        }
        for (std::thread &thread : threads) thread.join();
    }
    StartOrder recorded = order();
    std::sort(recorded.begin(), recorded.end());
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(recorded, keys);
}

}  // namespace
}  // namespace cairn
