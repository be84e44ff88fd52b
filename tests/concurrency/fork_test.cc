// A process that forks while it has a cache open: both go on using it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "support/process.h"
#include "support/random.h"
#include "support/stamped_value.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kWatchdogSeconds = 60;
constexpr std::uint64_t kEach = 400;
constexpr std::uint64_t kShared = 50;

class Fork : public testing::Test {
  protected:
    Fork() {
        options_.memory_bytes = 1u << 20;  // little for a child to give back
        options_.root = directory_.path();
        EXPECT_EQ(cache_.open(options_), CAIRN_OK);
    }

    TempDirectory directory_;
    CacheOptions options_;
    Cache cache_;
};

ByteVector key_of(std::uint64_t writer, std::uint64_t n) {
    return numbered_key(1, writer << 32 | n);
}

int put_result(Cache &cache, std::uint64_t writer, std::uint64_t n) {
    const auto value = stamped_value({n, writer, 0, 0}, 50 + mix(writer, n) % 5000);
    return cache.put(key_of(writer, n), value);
}

bool put_entry(Cache &cache, std::uint64_t writer, std::uint64_t n) {
    return put_result(cache, writer, n) == CAIRN_OK;
}

bool has_entry(Cache &cache, std::uint64_t writer, std::uint64_t n) {
    const auto blob = cache.get(key_of(writer, n));
    const auto stamp = blob ? read_stamp(blob->bytes()) : std::nullopt;
    return stamp && stamp->key == n && stamp->writer == writer;
}

bool has_entries(Cache &cache, std::uint64_t writer) {
    for (std::uint64_t n = 0; n < kEach; ++n) {
        if (!has_entry(cache, writer, n)) return false;
    }
    return true;
}

// Entries of its own, and versions of entries that all write; a reader never sees what nobody
// stored.
int use(Cache &cache, std::uint64_t writer) {
    for (std::uint64_t n = 0; n < kEach; ++n) {
        if (!put_entry(cache, writer, n)) return 2;
        const std::uint64_t shared = n % kShared;
        if (cache.put(numbered_key(2, shared), stamped_value({shared, writer, n, 0}, 700)) != 0)
            return 3;
        const auto blob = cache.get(numbered_key(2, shared));
        const auto stamp = blob ? read_stamp(blob->bytes()) : std::nullopt;
        if (!stamp || stamp->key != shared) return 4;
        if (!has_entry(cache, writer, n / 2)) return 5;
    }
    return 0;
}

TEST_F(Fork, BothProcessesPutAndGetAfterwards) {
    ASSERT_EQ(use(cache_, 0), 0);
    std::vector<Child> children;
    for (std::uint64_t writer = 1; writer <= 3; ++writer) {
        children.emplace_back([&, writer] {
            alarm(kWatchdogSeconds);
            if (!has_entries(cache_, 0)) return 1;
            const int result = use(cache_, writer);
            if (writer != 2) cache_.close();  // one leaves without
            return result;
        });
    }
    EXPECT_EQ(use(cache_, 4), 0);
    for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
    Cache later(options_);
    for (Cache *cache : {&cache_, &later}) {
        for (std::uint64_t writer = 0; writer <= 4; ++writer)
            EXPECT_TRUE(has_entries(*cache, writer)) << writer;
    }
    EXPECT_EQ(later.stats().entries, 5 * kEach + kShared);
    EXPECT_EQ(later.stats().damaged, 0u);
}

TEST_F(Fork, AnOpenCacheThatWasNotUsedYetWorksInBoth) {
    Child child([&] { return use(cache_, 1); });
    EXPECT_EQ(use(cache_, 2), 0);
    EXPECT_EQ(describe_status(child.wait()), "");
    EXPECT_TRUE(has_entries(cache_, 1) && has_entries(cache_, 2));
}

TEST_F(Fork, ViewsStayValidInTheChild) {
    ASSERT_TRUE(put_entry(cache_, 0, 1));
    const auto view = cache_.get(key_of(0, 1));
    ASSERT_TRUE(view);
    const auto body = [&] {
        if (cache_.remove(key_of(0, 1)) != CAIRN_OK) return 1;
        cache_.close();
        return read_stamp(view->bytes()) ? 0 : 2;
    };
    EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
    EXPECT_TRUE(read_stamp(view->bytes()));
    EXPECT_EQ(cache_.contains(key_of(0, 1)), CAIRN_MISS);
}

// Other threads of the parent may be anywhere in the library, with any lock held, at the moment of
// the fork.
TEST_F(Fork, WorksWhileOtherThreadsAreInsideCalls) {
    if (const char *why = why_no_fork_beside_threads()) GTEST_SKIP() << why;
    constexpr std::uint64_t kForks = 40;
    std::atomic<bool> stop = false;
    std::atomic<int> put_failure = CAIRN_OK;
    std::array<std::uint64_t, 4> stored = {};
    std::atomic<unsigned> not_found = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t writer = 0; writer < 4; ++writer) {
        threads.emplace_back([&, writer] {
            Random random(writer);
            for (std::uint64_t n = 0; !stop; n = (n + 1) % kEach) {
                // Mostly look-ups: what is stored here must not reach the limit.
                if (random.one_in(8) || n >= stored[writer]) {
                    const int result = put_result(cache_, writer, n);
                    if (result != CAIRN_OK) put_failure = result;
                    if (n == stored[writer]) ++stored[writer];
                }
                if (!has_entry(cache_, writer, n)) ++not_found;
                if (n == 0) {
                    EXPECT_EQ(cache_.stats().version, options_.version);
                }
            }
        });
    }
    for (std::uint64_t i = 0; i < kForks && !HasFailure(); ++i) {
        const std::uint64_t writer = 100 + i;
        EXPECT_EQ(
            run_in_child(kWatchdogSeconds,
                         [&] {
                             for (std::uint64_t n = 0; n < 10; ++n) {
                                 if (!put_entry(cache_, writer, n) || !has_entry(cache_, writer, n))
                                     return 1;
                                 if (cache_.get(key_of(0, n)) && !has_entry(cache_, 0, n)) return 2;
                             }
                             if (cache_.remove(key_of(writer, 0)) != CAIRN_OK) return 3;
                             if (i == 5 && cache_.sync() != CAIRN_OK) return 4;
                             if (cache_.stats().entries < 9) return 5;
                             cache_.close();
                             return 0;
                         }),
            "")
            << "fork " << i;
    }
    stop = true;
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(put_failure, CAIRN_OK);
    EXPECT_EQ(not_found, 0u);
    for (std::uint64_t i = 0; i < kForks && !HasFailure(); ++i) {
        for (std::uint64_t n = 1; n < 10; ++n) EXPECT_TRUE(has_entry(cache_, 100 + i, n));
    }
}

// ---- who has the cache open

class ForkedHold : public Fork {
  protected:
    // The result for an unrelated process that opens the cache in another version.
    int open_other() const {
        int result = 0;
        const std::string end = run_in_child(kWatchdogSeconds, [&] {
            CacheOptions other = options_;
            other.version = 2;
            return -Cache(other).result();
        });
        if (!end.empty()) result = -std::stoi(end.substr(end.rfind(' ')));
        return result;
    }
};

TEST_F(ForkedHold, TheChildsCloseLeavesTheParentsCacheOpen) {
    ASSERT_TRUE(put_entry(cache_, 0, 1));
    const auto body = [&] {
        cache_.close();
        return 0;
    };
    EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
    // The other process must not inherit our handle: it opens and closes its own.
    EXPECT_EQ(open_other(), CAIRN_ERROR_BUSY);
    EXPECT_TRUE(has_entry(cache_, 0, 1));
    EXPECT_TRUE(put_entry(cache_, 0, 2));
}

TEST_F(ForkedHold, TheParentsCloseLeavesTheChildsCacheOpen) {
    ASSERT_TRUE(put_entry(cache_, 0, 1));
    Child child([&] {
        alarm(kWatchdogSeconds);
        for (;;) {
            if (!has_entry(cache_, 0, 1)) return 1;
            usleep(1000);
        }
    });
    cache_.close();
    EXPECT_EQ(open_other(), CAIRN_ERROR_BUSY);
    EXPECT_FALSE(child.ended());
    child.kill();
    EXPECT_EQ(open_other(), CAIRN_OK);
}

TEST_F(Fork, AChildThatIsKilledWhileItStoresTakesNothingWithIt) {
    ASSERT_EQ(use(cache_, 0), 0);
    for (unsigned i = 0; i < 20; ++i) {
        Child child([&] {
            for (std::uint64_t n = 0; put_entry(cache_, 1 + i, n); ++n) {
            }
            return 1;
        });
        const std::uint64_t from = i * 10;
        for (std::uint64_t n = from; n < from + 10; ++n) ASSERT_TRUE(put_entry(cache_, 50, n));
        usleep(500 * i);
        child.kill();
        for (std::uint64_t n = 0; n < from + 10; ++n) ASSERT_TRUE(has_entry(cache_, 50, n));
    }
    EXPECT_TRUE(has_entries(cache_, 0));
    Cache later(options_);
    EXPECT_TRUE(has_entries(later, 0));
}

}  // namespace
}  // namespace cairn_test
