// Program caches used by many threads at once, beside a fork, and over a disk that stands.
// SPDX-License-Identifier: MIT
#include <cairn/internal/front_end.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "capi/testing/programs.h"
#include "os/environment.h"
#include "os/system_calls.h"

namespace {

using cairn::testing::Programs;
using cairn_test::run_in_child;

class ProgramThreadsTest : public cairn::testing::ProgramCacheTest {};

// Made before the cache is open and gone after it: its thread must not see the table change.
class StandingDisk {
  public:
    StandingDisk() {
        stands = is_met_ = false;
        calls_.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) {
            is_met_ = stands.load();
            while (stands) cairn::sleep_us(100);
            return cairn::kKernel.pwritev(fd, pieces, count, offset);
        };
        cairn::system_calls = &calls_;
    }
    ~StandingDisk() { cairn::system_calls = &cairn::kKernel; }

    static void wait_until_met() {
        while (!is_met_) cairn::sleep_us(100);
    }
    static inline std::atomic<bool> stands;

  private:
    static inline std::atomic<bool> is_met_;
    static inline cairn::SystemCalls calls_;
};

TEST_F(ProgramThreadsTest, AForkedChildUsesItWhateverThreadsDo) {
    if (const char *why = cairn_test::why_no_fork_beside_threads()) GTEST_SKIP() << why;
    const Programs programs(options());
    programs.put("before", "1");
    std::atomic<bool> stop = false;
    std::thread busy([&] {
        for (int i = 0; !stop; ++i) {
            programs.put("busy" + std::to_string(i % 50), std::string(2000, 'x'));
            programs.get("busy" + std::to_string(i % 60));
        }
    });
    for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(
            run_in_child(60,
                         [&] {
                             if (programs.put("child" + std::to_string(round), "2") != CAIRN_OK)
                                 return 1;
                             if (programs.get("child" + std::to_string(round)) != "2") return 2;
                             cairn_use_end(programs.handle(), programs.begin_use("before"));
                             return programs.flush() == CAIRN_OK ? 0 : 3;
                         }),
            "");
    }
    stop = true;
    busy.join();
    for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(programs.get("child" + std::to_string(round)), "2");
    }
    EXPECT_EQ(programs.get("before"), "1");
}

TEST_F(ProgramThreadsTest, AForkedChildThatCannotOpenItMissesAndHasNoFigures) {
    const Programs programs(options());
    programs.put("a", "1");
    ASSERT_EQ(programs.flush(), CAIRN_OK);
    const std::uint32_t ticket = programs.begin_use("a");
    std::filesystem::remove_all(directory_.path());
    std::ofstream(directory_.path()) << "no directory";
    EXPECT_EQ(run_in_child(60,
                           [&] {
                               cairn_use_end(programs.handle(), ticket);
                               if (programs.get("a") != "(miss)") return 1;
                               if (programs.put("b", "2") != CAIRN_ERROR_IO) return 2;
                               cairn_program_cache_stats stats = {};
                               stats.size = sizeof stats;
                               const int result =
                                   cairn_program_cache_stats_get(programs.handle(), &stats);
                               return result == CAIRN_ERROR_UNSUPPORTED ? 0 : 3;
                           }),
              "");
    std::filesystem::remove(directory_.path());
}

TEST_F(ProgramThreadsTest, ThreadsSeeTheLatestOfTheirKeys) {
    auto small = options();
    small.memory_bytes = 2000;  // entries come and go all the time
    const Programs programs(small);
    std::vector<std::thread> threads;
    std::atomic<int> stale = 0;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 400; ++i) {
                const std::string key = std::to_string(t) + "/" + std::to_string(i % 30);
                const std::string value = std::to_string(i) + std::string(60, '.');
                if (programs.put(key, value) != CAIRN_OK) continue;
                programs.get(std::to_string((t + 1) % 4) + "/" + std::to_string(i % 30));
                if (programs.get(key) != value) ++stale;
                if (i % 7 == 0) {
                    programs.remove(key);
                    if (programs.get(key) != "(miss)") ++stale;
                }
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(stale, 0);
}

TEST_F(ProgramThreadsTest, ADiskThatStandsHoldsUpNeitherPutsNorLookUps) {
    const StandingDisk disk;
    auto none = options();
    none.memory_bytes = CAIRN_NONE;
    const Programs programs(none);
    programs.put("old", "1");
    ASSERT_EQ(programs.flush(), CAIRN_OK);
    StandingDisk::stands = true;
    programs.put("a", "2");
    StandingDisk::wait_until_met();
    EXPECT_EQ(programs.get("old"), "1");
    EXPECT_EQ(programs.get("a"), "2");
    EXPECT_EQ(programs.get("b"), "(miss)");
    EXPECT_EQ(programs.put("b", "3"), CAIRN_OK);
    EXPECT_EQ(programs.contains("b"), CAIRN_OK);
    cairn_use_end(programs.handle(), programs.begin_use("a"));
    EXPECT_EQ(programs.stats().queue_entries, 2u);
    EXPECT_EQ(cairn_flush(programs.handle(), 10), CAIRN_ERROR_BUSY);
    StandingDisk::stands = false;
    EXPECT_EQ(programs.flush(), CAIRN_OK);
    EXPECT_EQ(programs.get("b"), "3");
}

TEST_F(ProgramThreadsTest, ALeaseIsGivenBackOnceASlowDiskHasTheEntry) {
    const StandingDisk disk;
    const Programs programs(options());
    StandingDisk::stands = true;
    cairn_lease *lease = nullptr;
    ASSERT_EQ(cairn_lease_acquire(programs.handle(), "key", 3, 0, &lease), CAIRN_OK);
    programs.put("key", "1");
    std::thread slow([] {
        StandingDisk::wait_until_met();
        cairn::sleep_us(300'000);
        StandingDisk::stands = false;
    });
    cairn_lease_release(lease);
    EXPECT_EQ(programs.stats().queue_entries, 0u);
    slow.join();
}

// Each program would wait a second; one of the later ones may, as the machine does something else.
TEST_F(ProgramThreadsTest, ADiskThatStandsIsWaitedForByOneLeaseAndNotByEach) {
    const StandingDisk disk;
    const Programs programs(options());
    const auto release_ns = [&](const std::string &key) {
        cairn_lease *lease = nullptr;
        EXPECT_EQ(cairn_lease_acquire(programs.handle(), key.data(), key.size(), 0, &lease),
                  CAIRN_OK);
        programs.put(key, "1");
        const std::uint64_t begin_ns = cairn::monotonic_ns();
        cairn_lease_release(lease);
        return cairn::monotonic_ns() - begin_ns;
    };
    StandingDisk::stands = true;
    EXPECT_GE(release_ns("first"), 900'000'000u);
    std::uint64_t quickest_ns = UINT64_MAX;
    for (int i = 0; i < 5; ++i)
        quickest_ns = std::min(quickest_ns, release_ns("key " + std::to_string(i)));
    EXPECT_LT(quickest_ns, 500'000'000u);
    StandingDisk::stands = false;
    ASSERT_EQ(programs.flush(), CAIRN_OK);
    // It gets on: one is written in time, and from then on it is waited for again.
    bool is_waited_for = false;
    for (int i = 0; i < 20 && !is_waited_for; ++i) {
        (void)release_ns("in time " + std::to_string(i));
        StandingDisk::stands = true;
        std::thread slow([] {
            StandingDisk::wait_until_met();
            cairn::sleep_us(50'000);
            StandingDisk::stands = false;
        });
        (void)release_ns("later " + std::to_string(i));
        is_waited_for = programs.stats().queue_entries == 0;
        slow.join();
        ASSERT_EQ(programs.flush(), CAIRN_OK);
    }
    EXPECT_TRUE(is_waited_for);
}

TEST_F(ProgramThreadsTest, AThreadThatIsCancelledWhileItGivesALeaseBackHasGivenItBack) {
    const StandingDisk disk;
    const Programs programs(options());
    const auto acquire = [&](cairn_lease *&lease) {
        return cairn_lease_acquire(programs.handle(), "key", 3, 0, &lease);
    };
    StandingDisk::stands = true;
    std::atomic<bool> is_cancelled = false;
    std::thread thread([&] {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        cairn_lease *lease = nullptr;
        EXPECT_EQ(acquire(lease), CAIRN_OK);
        programs.put("another", "1");
        while (!is_cancelled) cairn::sleep_us(100);
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
        cairn_lease_release(lease);
        ADD_FAILURE() << "it was not cancelled";
    });
    pthread_cancel(thread.native_handle());
    is_cancelled = true;
    thread.join();
    cairn_lease *lease = nullptr;
    EXPECT_EQ(acquire(lease), CAIRN_OK);
    StandingDisk::stands = false;
    cairn_lease_release(lease);
}

TEST_F(ProgramThreadsTest, AQueueIsWatchedAndThatOfAForkedChildToo) {
    if (const char *why = cairn_test::why_no_fork_beside_threads()) GTEST_SKIP() << why;
    static std::atomic<std::uint64_t> entries, bytes;
    const auto told = [](void *user, std::uint64_t entries_now, std::uint64_t bytes_now) {
        EXPECT_EQ(user, &entries);
        entries = entries_now;
        bytes = bytes_now;
    };
    const StandingDisk disk;
    const Programs programs(options());
    EXPECT_EQ(cairn_watch_queue(nullptr, told, &entries), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_watch_queue(programs.handle(), nullptr, &entries),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_watch_queue(programs.handle(), told, &entries), CAIRN_OK);
    EXPECT_EQ(cairn_watch_queue(programs.handle(), told, &entries), CAIRN_ERROR_INVALID_ARGUMENT);
    StandingDisk::stands = true;
    for (const char *key : {"a", "b", "c"}) programs.put(key, "12345");
    EXPECT_EQ(entries, 3u);
    EXPECT_EQ(bytes, 18u);
    EXPECT_EQ(run_in_child(60,
                           [&] {
                               if (programs.put("child", "1") != CAIRN_OK) return 1;
                               if (entries != 1 || bytes != 6) return 2;
                               StandingDisk::stands = false;
                               if (programs.flush() != CAIRN_OK) return 3;
                               return entries == 0 && bytes == 0 ? 0 : 4;
                           }),
              "");
    EXPECT_EQ(entries, 3u);
    StandingDisk::stands = false;
    EXPECT_EQ(programs.flush(), CAIRN_OK);
    EXPECT_EQ(entries, 0u);
}

// A value too large for memory leaves room there, and a look-up may have read the value before it.
TEST_F(ProgramThreadsTest, ALateLookUpNeverKeepsWhatWasReplaced) {
    auto small = options();
    small.memory_bytes = 100;
    const Programs programs(small);
    std::atomic<bool> stop = false;
    std::vector<std::thread> readers;
    for (int t = 0; t < 3; ++t) {
        readers.emplace_back([&] {
            while (!stop) programs.get("key");
        });
    }
    int stale = 0;
    for (int round = 0; round < 3000; ++round) {
        programs.put("key", "old" + std::to_string(round));
        programs.flush();
        programs.get("key");
        cairn_trim(programs.handle(), 0, nullptr);  // readers are at the disk
        const std::string large = std::to_string(round) + std::string(200, '.');
        programs.put("key", large);
        programs.flush();
        if (programs.get("key") != large) ++stale;
    }
    stop = true;
    for (std::thread &reader : readers) reader.join();
    EXPECT_EQ(stale, 0);
}

// While others clear and remove, an entry is its latest or none, never an older one.
TEST_F(ProgramThreadsTest, NothingOlderComesUpWhileOthersClear) {
    auto none = options();
    none.memory_bytes = CAIRN_NONE;
    const Programs programs(none);
    std::atomic<bool> stop = false;
    std::thread clearing([&] {
        for (int i = 0; !stop; ++i) {
            cairn::sleep_us(3000);
            if (i % 2 == 0) cairn_clear(programs.handle());
            for (int key = 0; key < 20; ++key) programs.remove(std::to_string(key));
        }
    });
    constexpr int kKeys = 20;
    std::vector<std::string> latest(kKeys);
    int older = 0;
    for (int i = 0; i < 400'000; ++i) {
        const std::size_t put = static_cast<std::size_t>(i) % kKeys;
        const std::string value = std::to_string(i);
        if (programs.put(std::to_string(put), value) == CAIRN_OK) latest[put] = value;
        const std::size_t wanted = static_cast<std::size_t>(i) * 7 % kKeys;
        const std::string found = programs.get(std::to_string(wanted));
        if (found != latest[wanted] && found != "(miss)") ++older;
    }
    stop = true;
    clearing.join();
    EXPECT_EQ(older, 0);
}

}  // namespace
