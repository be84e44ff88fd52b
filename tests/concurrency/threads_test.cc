// Threads that share one handle, or have handles of their own; made for ThreadSanitizer too.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "crash/actor.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kThreads = 8;
constexpr unsigned kStepsEach = 1500;

void run_threads(unsigned count, const std::function<void(unsigned)> &body) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back(body, i);
    for (auto &thread : threads) thread.join();
}

ActorRules rules_for_threads() {
    ActorRules rules;
    rules.worker_count = kThreads;
    rules.value_size_max = 20000;
    return rules;
}

void expect_nothing_found(const Ledger &ledger) {
    EXPECT_EQ(ledger.findings.lost, 0u);
    EXPECT_EQ(ledger.findings.wrong, 0u);
    EXPECT_EQ(ledger.findings.failed, 0u);
}

// CAIRN_MODE_... and memory_bytes.
using Mode = std::pair<std::uint32_t, std::uint64_t>;

// In memory mode one handle for all; in disk mode the modes of private copies differ as well.
class ThreadsWithOptions : public testing::TestWithParam<Mode> {
  protected:
    ThreadsWithOptions() {
        options_.root = directory_.path();
        options_.mode = GetParam().first;
        options_.memory_bytes = GetParam().second;
    }

    TempDirectory directory_;
    CacheOptions options_;
    std::unique_ptr<Ledger> ledger_ = std::make_unique<Ledger>();
};

TEST_P(ThreadsWithOptions, ShareAHandle) {
    Cache cache(options_);
    ASSERT_EQ(cache.result(), CAIRN_OK);
    run_threads(kThreads, [&](unsigned self) {
        Actor actor(*ledger_, self, rules_for_threads(), self);
        actor.use(&cache);
        for (unsigned i = 0; i < kStepsEach; ++i) actor.step();
    });
    Actor actor(*ledger_, 0, rules_for_threads(), 99);
    actor.use(&cache);
    actor.read_everything();
    actor.enumerate_everything();
    expect_nothing_found(*ledger_);
}

TEST_P(ThreadsWithOptions, ShareAHandleWhileItIsCleared) {
    Cache cache(options_);
    ASSERT_EQ(cache.result(), CAIRN_OK);
    Counter running = kThreads - 1;
    run_threads(kThreads, [&](unsigned self) {
        Actor actor(*ledger_, self, rules_for_threads(), self);
        actor.use(&cache);
        if (self == 0) {
            while (running != 0) {
                ++ledger_->clears_started;
                EXPECT_EQ(cache.clear(), CAIRN_OK);
                ++ledger_->clears_finished;
                for (unsigned i = 0; i < 200; ++i) actor.read_some_owned();
            }
            return;
        }
        for (unsigned i = 0; i < kStepsEach; ++i) {
            if (i % 2 == 0) {
                actor.write_owned();
            } else {
                actor.read_some_owned();
            }
        }
        --running;
    });
    expect_nothing_found(*ledger_);
}

TEST_P(ThreadsWithOptions, AgreeWhoPutFirst) {
    Cache cache(options_);
    ASSERT_EQ(cache.result(), CAIRN_OK);
    constexpr std::uint64_t kKeys = 400;
    std::vector<Counter> winners(kKeys);
    std::barrier together(kThreads);
    run_threads(kThreads, [&](unsigned self) {
        for (std::uint64_t key = 0; key < kKeys; ++key) {
            together.arrive_and_wait();
            const auto value = stamped_value({key, self, 0, 0}, 100);
            const int result = cache.put(numbered_key(1, key), value, CAIRN_PUT_IF_ABSENT);
            if (result == CAIRN_OK) {
                winners[key] += 100 + self;
            } else {
                EXPECT_EQ(result, CAIRN_EXISTS);
            }
        }
    });
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        ASSERT_GE(winners[key], 100u) << "nobody won";
        ASSERT_LT(winners[key], 200u) << "several won";
        const auto blob = cache.get(numbered_key(1, key));
        ASSERT_TRUE(blob);
        const auto stamp = read_stamp(blob->bytes());
        ASSERT_TRUE(stamp);
        EXPECT_EQ(stamp->writer, winners[key] - 100);
    }
}

std::string mode_name(const testing::TestParamInfo<Mode> &mode) {
    if (mode.param.first == CAIRN_MODE_MEMORY) return "memory";
    if (mode.param.second == 0) return "disk";
    return mode.param.second == UINT64_MAX ? "disk_no_copies" : "disk_few_copies";
}

INSTANTIATE_TEST_SUITE_P(Modes, ThreadsWithOptions,
                         testing::Values(Mode{CAIRN_MODE_DISK, 0},
                                         Mode{CAIRN_MODE_DISK, UINT64_MAX},
                                         Mode{CAIRN_MODE_DISK, 100000}, Mode{CAIRN_MODE_MEMORY, 0}),
                         mode_name);

TEST(Threads, WithHandlesOfTheirOwnShareACache) {
    const TempDirectory directory;
    const auto ledger = std::make_unique<Ledger>();
    CacheOptions options;
    options.root = directory.path();
    run_threads(kThreads, [&](unsigned self) {
        Actor actor(*ledger, self, rules_for_threads(), self);
        for (unsigned i = 0; i < kStepsEach / 30; ++i) {
            Cache cache(options);
            ASSERT_EQ(cache.result(), CAIRN_OK);
            actor.use(&cache);
            for (unsigned j = 0; j < 20; ++j) actor.step();
        }
    });
    expect_nothing_found(*ledger);
}

// A view that one thread took is read and given back by another, after the entry and the cache are
// gone.
TEST(Threads, HandViewsToOneAnother) {
    const TempDirectory directory;
    CacheOptions options;
    options.root = directory.path();
    Cache cache(options);
    ASSERT_EQ(cache.result(), CAIRN_OK);
    constexpr std::uint64_t kKeys = 100;
    std::vector<std::vector<Blob>> views(kThreads);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        ASSERT_EQ(cache.put(numbered_key(1, key), stamped_value({key, 0, 0, 0}, 3000)), CAIRN_OK);
    }
    run_threads(kThreads, [&](unsigned self) {
        for (std::uint64_t key = 0; key < kKeys; ++key) {
            auto view = cache.get(numbered_key(1, key));
            ASSERT_TRUE(view);
            views[self].push_back(std::move(*view));
        }
    });
    ASSERT_EQ(cache.clear(), CAIRN_OK);
    cache.close();
    run_threads(kThreads, [&](unsigned self) {
        auto &taken = views[(self + 1) % kThreads];
        for (std::uint64_t key = 0; key < kKeys; ++key) {
            const auto stamp = read_stamp(taken[key].bytes());
            ASSERT_TRUE(stamp);
            EXPECT_EQ(stamp->key, key);
        }
        taken.clear();
    });
}

}  // namespace
}  // namespace cairn_test
