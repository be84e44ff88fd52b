// Processes that share a cache: stopped ones, racing ones, short-lived ones. Killed ones are in
// tests/crash.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <vector>

#include "crash/scenarios.h"
#include "support/files.h"
#include "support/long_form.h"
#include "support/process.h"
#include "support/random.h"
#include "support/shared.h"
#include "support/stamped_value.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kProcesses = 8;
// After so long without any progress something hangs. No test depends on how fast anything is.
constexpr unsigned kWatchdogSeconds = 60;

void pause_us(long microseconds) {
    const timespec time = {0, microseconds * 1000};
    nanosleep(&time, nullptr);
}

CacheOptions options_in(const TempDirectory &directory) {
    CacheOptions options;
    options.root = directory.path();
    return options;
}

// ---- stopped processes

struct Mark {
    std::uint64_t reads;
    std::uint64_t total;
};

class StoppedProcess : public testing::TestWithParam<Scenario> {
  protected:
    // Waits until every worker but `stopped` has got on. False: one has not.
    bool others_get_on(unsigned stopped) {
        constexpr std::uint64_t kReads = 20;
        constexpr std::uint64_t kOperations = 30;
        std::vector<Mark> marks;
        for (const Progress &progress : arena_->ledger.progress)
            marks.push_back({progress.reads, progress.total()});
        const time_t deadline = time(nullptr) + kWatchdogSeconds;
        for (unsigned i = 0; i < kProcesses; ++i) {
            const Progress &progress = arena_->ledger.progress[i];
            // The one that clears does little else.
            const bool clears = arena_->scenario == Scenario::clear && i == 0;
            while (i != stopped && !clears &&
                   (progress.reads < marks[i].reads + kReads ||
                    progress.total() < marks[i].total + kOperations)) {
                if (time(nullptr) > deadline || workers_[i].ended()) return false;
                pause_us(200);
            }
        }
        return true;
    }

    TempDirectory directory_;
    Shared<Arena> arena_;
    std::vector<Child> workers_;
};

TEST_P(StoppedProcess, DelaysNobody) {
    constexpr unsigned kStops = kIsSlow ? 8 : 25;
    arena_->scenario = GetParam();
    // A process that is stopped with the lock on disk space keeps others from getting more, and
    // they are told so.
    arena_->refusals = Refusals::busy;
    arena_->worker_count = kProcesses;
    for (unsigned i = 0; i < kProcesses; ++i) {
        workers_.emplace_back([&, i] {
            run_worker(*arena_, i, directory_.path(), i);
            return 0;
        });
    }
    Random random(5);
    for (unsigned i = 0; i < kStops; ++i) {
        const auto victim = static_cast<unsigned>(random.below(kProcesses));
        pause_us(static_cast<long>(random.below(3000)));
        workers_[victim].stop();
        ASSERT_TRUE(others_get_on(victim)) << "stop " << i << " of worker " << victim;
        workers_[victim].resume();
        if (arena_->ledger.bytes_written > (std::uint64_t{1} << 30)) break;
    }
    arena_->ledger.stop = 1;
    for (Child &worker : workers_) EXPECT_EQ(describe_status(worker.wait()), "");
    const auto body = [&] {
        verify_cache(*arena_, directory_.path());
        return 0;
    };
    EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
    EXPECT_EQ(arena_->findings().lost, 0u);
    EXPECT_EQ(arena_->findings().wrong, 0u);
    EXPECT_EQ(arena_->findings().failed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, StoppedProcess,
                         testing::Values(Scenario::mixed, Scenario::growth, Scenario::clear,
                                         Scenario::short_lived),
                         [](const auto &scenario) {
                             return std::string(scenario_name(scenario.param));
                         });

struct Opener {
    Counter opened = 0;
    Counter last = 0;  // not 0: there is one more cache to be opened
};

// A process that is stopped anywhere inside cairn_open while the index grows finds another index
// when it goes on. It must not mislead those who have the cache open and have not noticed yet.
TEST(StoppedOpener, HidesNothingThatWasAddedMeanwhile) {
    constexpr unsigned kRounds = kIsSlow ? 6 : 30;
    constexpr std::uint64_t kBefore = 1500;  // entries that the first level of the index holds
    constexpr std::uint64_t kAfter = 5000;   // and more than it can hold
    Random random(3);
    for (unsigned round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
        const TempDirectory directory;
        Cache writer(options_in(directory));
        std::vector<Cache> early(kProcesses);
        for (Cache &cache : early) ASSERT_EQ(cache.open(options_in(directory)), CAIRN_OK);
        const auto put = [&](std::uint64_t n) {
            return writer.put(numbered_key(1, n), numbered_key(2, n));
        };
        for (std::uint64_t n = 0; n < kBefore; ++n) ASSERT_EQ(put(n), CAIRN_OK);
        const Shared<std::array<Opener, kProcesses>> state;
        std::vector<Child> openers;
        for (unsigned self = 0; self < kProcesses; ++self) {
            openers.emplace_back([&, self] {
                Opener &own = (*state)[self];
                for (; own.last == 0; ++own.opened) {
                    if (Cache(options_in(directory)).result() != CAIRN_OK) return 1;
                }
                return 0;
            });
        }
        pause_us(1000 + static_cast<long>(random.below(2000)));
        for (const Child &opener : openers) opener.stop();
        for (std::uint64_t n = kBefore; n < kAfter; ++n) ASSERT_EQ(put(n), CAIRN_OK);
        for (unsigned self = 0; self < kProcesses; ++self) {
            (*state)[self].last = 1;
            openers[self].resume();
            EXPECT_EQ(describe_status(openers[self].wait()), "");
            std::uint64_t missed = 0;
            for (std::uint64_t n = 0; n < kAfter; ++n)
                missed += early[self].contains(numbered_key(1, n)) != CAIRN_OK;
            EXPECT_EQ(missed, 0u) << "round " << round << ", opener " << self;
        }
    }
}

// ---- racing processes

constexpr std::uint64_t kRaces = kIsSlow ? 400 : 1500;

struct Races {
    std::array<Counter, kRaces> arrived{};
    std::array<std::array<std::atomic<int>, kRaces>, kProcesses> results{};
};

TEST(Processes, ExactlyOneWinsEachPutIfAbsent) {
    const TempDirectory directory;
    const Shared<Races> races;
    std::vector<Child> children;
    for (unsigned self = 0; self < kProcesses; ++self) {
        children.emplace_back([&, self] {
            alarm(kWatchdogSeconds);
            Cache cache(options_in(directory));
            if (!cache.is_open()) return 2;
            for (std::uint64_t key = 0; key < kRaces; ++key) {
                // All begin together: that is when two could win.
                ++races->arrived[key];
                while (races->arrived[key] < kProcesses) sched_yield();
                const auto value = stamped_value({key, self, 0, 0}, 60 + key % 3000);
                races->results[self][key] =
                    cache.put(numbered_key(1, key), value, CAIRN_PUT_IF_ABSENT);
            }
            return 0;
        });
    }
    for (Child &child : children) ASSERT_EQ(describe_status(child.wait()), "");
    Cache cache(options_in(directory));
    ASSERT_EQ(cache.result(), CAIRN_OK);
    for (std::uint64_t key = 0; key < kRaces; ++key) {
        std::vector<std::uint64_t> winners;
        for (unsigned self = 0; self < kProcesses; ++self) {
            const int result = races->results[self][key];
            if (result == CAIRN_OK)
                winners.push_back(self);
            else
                ASSERT_EQ(result, CAIRN_EXISTS);
        }
        ASSERT_EQ(winners.size(), 1u) << "key " << key;
        const auto blob = cache.get(numbered_key(1, key));
        ASSERT_TRUE(blob);
        const auto stamp = read_stamp(blob->bytes());
        ASSERT_TRUE(stamp);
        EXPECT_EQ(stamp->writer, winners[0]);
    }
    EXPECT_EQ(cache.stats().entries, kRaces);
}

// ---- acknowledged and killed

TEST(Processes, FindWhatAProcessStoredThatIsKilledRightAfterItSaidSo) {
    const TempDirectory directory;
    Cache cache(options_in(directory));
    ASSERT_EQ(cache.result(), CAIRN_OK);
    for (std::uint64_t round = 0; round < 60; ++round) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        Child child([&] {
            Cache own(options_in(directory));
            for (std::uint64_t i = 0;; ++i) {
                const std::uint64_t key = round << 32 | i;
                const auto value = stamped_value({key, 0, 0, 0}, 100 + mix(key) % 9000);
                if (own.put(numbered_key(1, key), value) != CAIRN_OK) return 1;
                if (write(ends[1], &key, sizeof(key)) != sizeof(key)) return 2;
            }
        });
        close(ends[1]);
        std::uint64_t key = 0;
        for (std::uint64_t i = 0; i <= round % 7; ++i)
            ASSERT_EQ(read(ends[0], &key, sizeof(key)), static_cast<ssize_t>(sizeof(key)));
        child.kill();
        // Whatever else it had said before it died counts too.
        do {
            const auto blob = cache.get(numbered_key(1, key));
            ASSERT_TRUE(blob) << "round " << round << ", entry " << (key & 0xFFFFFFFF);
            const auto stamp = read_stamp(blob->bytes());
            ASSERT_TRUE(stamp && stamp->key == key);
        } while (read(ends[0], &key, sizeof(key)) == sizeof(key));
        close(ends[0]);
    }
}

// ---- many short-lived processes

TEST(Processes, ThatLiveShortlyLeaveFewFiles) {
    const TempDirectory directory;
    constexpr std::uint64_t kShortLives = kIsSlow ? 40 : 150;
    for (std::uint64_t i = 0; i < kShortLives; ++i) {
        Child child([&] {
            Cache cache(options_in(directory));
            if (cache.put(numbered_key(1, i), stamped_value({i, 0, 0, 0}, 2000)) != CAIRN_OK)
                return 1;
            if (i % 2 == 0) kill(getpid(), SIGKILL);  // half of them without closing
            return 0;
        });
        child.wait();
    }
    const std::string path = directory / "test";
    EXPECT_LE(files_in(path, ".val").size(), 3u);
    Cache cache(options_in(directory));
    for (std::uint64_t i = 0; i < kShortLives; ++i)
        EXPECT_EQ(cache.contains(numbered_key(1, i)), CAIRN_OK) << i;
}

TEST(Processes, ThatBeginTogetherLoseNoFirstEntry) {
    constexpr unsigned kRounds = kIsSlow ? 15 : 60;
    const Shared<std::array<Counter, kRounds>> arrived;
    for (unsigned round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
        const TempDirectory directory;
        std::vector<Child> children;
        for (std::uint64_t self = 0; self < kProcesses; ++self) {
            children.emplace_back([&, self] {
                alarm(kWatchdogSeconds);
                Cache cache(options_in(directory));
                const auto value = stamped_value({self, 0, 0, 0}, 500);
                ++(*arrived)[round];
                while ((*arrived)[round] < kProcesses) sched_yield();
                return cache.put(numbered_key(1, self), value) == CAIRN_OK ? 0 : 1;
            });
        }
        for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
        Cache cache(options_in(directory));
        for (std::uint64_t self = 0; self < kProcesses; ++self)
            EXPECT_TRUE(cache.get(numbered_key(1, self))) << "round " << round;
    }
}

// ---- versions

TEST(Processes, CannotOpenACacheInAnotherVersionWhileOneHasItOpen) {
    const TempDirectory directory;
    CacheOptions options = options_in(directory);
    Cache cache(options);
    ASSERT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_OK);
    const auto open_other = [&] {
        return run_in_child(kWatchdogSeconds, [&] {
            CacheOptions other = options;
            other.version = 2;
            return -Cache(other).result();
        });
    };
    EXPECT_EQ(open_other(), "exit code " + std::to_string(-CAIRN_ERROR_BUSY));
    EXPECT_TRUE(cache.get(as_bytes("key")));
    cache.close();
    EXPECT_EQ(open_other(), "");
    EXPECT_EQ(cache.open(options), CAIRN_OK);
    EXPECT_FALSE(cache.get(as_bytes("key")));
}

}  // namespace
}  // namespace cairn_test
