// A program cache with its layers, above all the one that loads.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <functional>
#include <thread>

#include "cache/program_cache.h"
#include "os/environment.h"
#include "os/system_calls.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

using cairn_test::Child;
using cairn_test::eventually;

constexpr std::uint64_t kLongUs = 60'000'000;

std::string text(const BlobRef &blob) {
    if (!blob) return "(miss)";
    return {reinterpret_cast<const char *>(blob->value().data()), blob->value().size()};
}

// A disk that answers nobody but the thread that made this, while it is closed: reads of records.
class SlowDisk {
  public:
    SlowDisk() {
        is_patient() = true;
        calls_ = kKernel;
        calls_.pread = [](int fd, void *data, size_t size, off_t offset) {
            wait(offset);
            return kKernel.pread(fd, data, size, offset);
        };
        calls_.preadv = [](int fd, const iovec *pieces, int count, off_t offset) {
            wait(offset);
            return kKernel.preadv(fd, pieces, count, offset);
        };
        calls_.preadv2 = [](int fd, const iovec *pieces, int count, off_t offset, int flags) {
            if (is_cold() && offset >= 64) return would_wait();
            return kKernel.preadv2(fd, pieces, count, offset, flags);
        };
        system_calls = &calls_;
    }
    ~SlowDisk() { system_calls = &kKernel; }

    static void close() { held() = is_cold() = true; }
    // Reading from the page cache does not wait.
    static void close_for_threads() { held() = true; }
    static void open() { held() = is_cold() = false; }
    static void wait_until_somebody_waits() {
        EXPECT_TRUE(eventually([] { return waiting() != 0; }));
    }

  private:
    static ssize_t would_wait() {
        errno = EAGAIN;
        return -1;
    }
    static void wait(off_t offset) {
        if (is_patient() || offset < 64) return;
        ++waiting();
        while (held()) sleep_us(100);
        --waiting();
    }
    static bool &is_patient() {
        static thread_local bool is;
        return is;
    }
    static std::atomic<bool> &held() {
        static std::atomic<bool> is_held;
        return is_held;
    }
    static std::atomic<bool> &is_cold() {
        static std::atomic<bool> is;
        return is;
    }
    static std::atomic<int> &waiting() {
        static std::atomic<int> count;
        return count;
    }
    SystemCalls calls_;
};

class LoadingTest : public testing::Test {
  protected:
    ProgramCache::Options options() const {
        ProgramCache::Options options;
        options.store.root = directory_.path();
        options.store.limit_bytes = 64u << 20;
        options.generation = {"engine", "", "driver"};
        options.memory_bytes = 64u << 20;
        options.queue_bytes = 8u << 20;
        return options;
    }
    ProgramCache::Options without_loading() const {
        ProgramCache::Options without = options();
        without.load = false;
        return without;
    }
    static std::unique_ptr<ProgramCache> open(const ProgramCache::Options &options) {
        auto opened = ProgramCache::open(options);
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }
    static void put(ProgramCache &cache, const std::string &key, const std::string &value) {
        EXPECT_TRUE(cache.put(as_bytes(key), as_bytes(value), {}).ok());
    }
    static std::string get(ProgramCache &cache, const std::string &key) {
        return text(cache.get(as_bytes(key)).value());
    }
    void fill(int count, const ProgramCache::Options &options) const {
        const auto cache = open(options);
        for (int i = 0; i < count; ++i) put(*cache, name(i), value(i));
    }
    void fill(int count) const { fill(count, without_loading()); }
    static std::string name(int i) { return "key " + std::to_string(i); }
    static std::string value(int i) { return std::string(1000, 'v') + std::to_string(i); }
    Directory cache_directory() const {
        const std::string path = directory_ / identifier_of(options().generation);
        auto directory = Directory::open(path);
        EXPECT_TRUE(directory.ok());
        return std::move(directory.value());
    }
    static ProgramStats stats(ProgramCache &cache) { return *cache.stats().program; }
    static void wait_until_loaded(ProgramCache &cache) {
        EXPECT_TRUE(eventually([&] { return stats(cache).is_loaded; }));
    }

    cairn_test::TempDirectory directory_;
};

TEST_F(LoadingTest, StartUpBringsEntriesIntoMemory) {
    fill(100);
    const auto cache = open(options());
    wait_until_loaded(*cache);
    EXPECT_EQ(stats(*cache).loaded_entries, 100u);
    EXPECT_EQ(stats(*cache).memory_entries, 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(get(*cache, name(i)), value(i));
    EXPECT_EQ(stats(*cache).memory_hits, 100u);
    EXPECT_EQ(cache->stats().hits, 100u) << "loading counts no hits";
}

TEST_F(LoadingTest, StartUpDoesNotEvictForWhatItLoads) {
    fill(200);
    ProgramCache::Options small = options();
    small.memory_bytes = 50'000;
    const auto cache = open(small);
    wait_until_loaded(*cache);
    EXPECT_EQ(stats(*cache).memory_entries, stats(*cache).loaded_entries);
    EXPECT_GE(cache->stats().memory_bytes, 48'000u);
    EXPECT_LE(cache->stats().memory_bytes, 50'000u);
    // The newest are there.
    EXPECT_EQ(get(*cache, name(199)), value(199));
    EXPECT_EQ(stats(*cache).memory_hits, 1u);
}

TEST_F(LoadingTest, StartUpLoadsNothingWithoutAMemoryLevelOrWhenItIsSwitchedOff) {
    fill(10);
    ProgramCache::Options without = options();
    without.memory_bytes = 0;
    for (const ProgramCache::Options &each : {without, without_loading()}) {
        const auto cache = open(each);
        EXPECT_TRUE(stats(*cache).is_loaded);
        sleep_us(5000);
        EXPECT_EQ(stats(*cache).loaded_entries, 0u);
    }
}

TEST_F(LoadingTest, OpeningAndTheFirstLookUpDoNotWaitForALoaderThatWaitsForTheDisk) {
    fill(100);
    const SlowDisk disk;
    SlowDisk::close();
    const auto cache = open(options());
    SlowDisk::wait_until_somebody_waits();
    EXPECT_EQ(get(*cache, name(7)), value(7));
    put(*cache, "new", "value");
    EXPECT_EQ(get(*cache, "new"), "value");
    SlowDisk::open();
    wait_until_loaded(*cache);
    EXPECT_EQ(stats(*cache).memory_entries, 101u);
}

// The loader reads the key of the old entry when `change` happens. LateAhead has the moment after that.
class LateLoadTest : public LoadingTest {
  protected:
    void change_while_it_is_loaded(const std::function<void(ProgramCache &)> &change,
                                   const std::string &after) {
        fill(1);
        const SlowDisk disk;
        SlowDisk::close();
        const auto cache = open(options());
        SlowDisk::wait_until_somebody_waits();
        change(*cache);
        SlowDisk::open();
        wait_until_loaded(*cache);
        EXPECT_EQ(get(*cache, name(0)), after);
    }
};

TEST_F(LateLoadTest, ReplacesNothingThatWasPutMeanwhile) {
    change_while_it_is_loaded([](ProgramCache &cache) { put(cache, name(0), "newer"); }, "newer");
}

TEST_F(LateLoadTest, BringsNothingBackThatWasRemovedMeanwhile) {
    change_while_it_is_loaded(
        [](ProgramCache &cache) { EXPECT_TRUE(cache.remove(as_bytes(name(0))).value()); },
        "(miss)");
}

TEST_F(LateLoadTest, BringsNothingBackThatWasClearedMeanwhile) {
    change_while_it_is_loaded([](ProgramCache &cache) { EXPECT_TRUE(cache.clear().ok()); },
                              "(miss)");
}

TEST_F(LateLoadTest, BringsNothingBackThatAnotherProcessClearedMeanwhile) {
    fill(1);
    const SlowDisk disk;
    SlowDisk::close();
    const auto cache = open(options());
    SlowDisk::wait_until_somebody_waits();
    EXPECT_TRUE(open(without_loading())->clear().ok());  // as another process would
    SlowDisk::open();
    wait_until_loaded(*cache);
    EXPECT_EQ(get(*cache, name(0)), "(miss)");
}

TEST_F(LoadingTest, ATrimEndsTheLoading) {
    fill(100);
    const SlowDisk disk;
    SlowDisk::close();
    const auto cache = open(options());
    SlowDisk::wait_until_somebody_waits();
    (void)cache->trim(0);
    SlowDisk::open();
    wait_until_loaded(*cache);
    EXPECT_EQ(stats(*cache).memory_entries, 0u) << "not even the one that was being read";
}

TEST_F(LoadingTest, AReadOnlyCacheIsLoadedAndWritesNoOrder) {
    fill(5);
    forget_order(cache_directory());
    ProgramCache::Options reader = options();
    reader.store.access = Access::read_only;
    {
        const auto cache = open(reader);
        wait_until_loaded(*cache);
        EXPECT_EQ(stats(*cache).loaded_entries, 5u);
        EXPECT_EQ(get(*cache, name(1)), value(1));
    }
    EXPECT_TRUE(read_order(cache_directory()).empty());
}

// ThreadSanitizer lets no child of a process with threads start one.
const char *why_no_thread_in_a_child() {
#if defined(__SANITIZE_THREAD__)
    return "ThreadSanitizer";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return "ThreadSanitizer";
#endif
#endif
    return cairn_test::why_no_fork_beside_threads();
}

TEST_F(LoadingTest, AForkedChildHasALoaderOfItsOwn) {
    if (const char *why = why_no_thread_in_a_child()) GTEST_SKIP() << why;
    fill(5);
    const auto cache = open(options());
    wait_until_loaded(*cache);
    EXPECT_EQ(cairn_test::run_in_child(60,
                                       [&] {
                                           if (get(*cache, name(3)) != value(3)) return 1;
                                           wait_until_loaded(*cache);
                                           return stats(*cache).memory_entries == 5 ? 0 : 2;
                                       }),
              "");
}

// Time-bounded look-ups.

std::string within(ProgramCache &cache, const std::string &key, std::uint64_t patience_us) {
    const auto found = cache.get_within(as_bytes(key), patience_us);
    EXPECT_TRUE(found.ok());
    return found->has_value() ? text(found.value().value()) : "(late)";
}

TEST_F(LoadingTest, ABoundedGetFindsWhatTheDiskGivesInTime) {
    fill(10);
    for (ProgramCache::Options each : {without_loading(), options()}) {
        each.memory_bytes = each.load ? each.memory_bytes : 0;
        const auto cache = open(each);
        for (int i = 0; i < 10; ++i) EXPECT_EQ(within(*cache, name(i), kLongUs), value(i));
        EXPECT_EQ(within(*cache, "absent", kLongUs), "(miss)");
        EXPECT_EQ(stats(*cache).late, 0u);
    }
}

TEST_F(LoadingTest, ABoundedGetIsLateOnASlowDiskAndTheEntryIsInMemoryAfterwards) {
    fill(10);
    const SlowDisk disk;
    SlowDisk::close();
    const auto cache = open(without_loading());
    put(*cache, "new", "put just now");
    EXPECT_EQ(within(*cache, name(1), 2000), "(late)");
    EXPECT_EQ(within(*cache, name(2), 0), "(late)");
    EXPECT_EQ(within(*cache, "new", 0), "put just now") << "memory waits for nobody";
    EXPECT_EQ(stats(*cache).late, 2u);
    SlowDisk::open();
    EXPECT_TRUE(eventually([&] { return stats(*cache).memory_entries == 3; }));
    EXPECT_EQ(within(*cache, name(1), 0), value(1));
    EXPECT_EQ(within(*cache, name(2), 0), value(2));
}

TEST_F(LoadingTest, ABoundedGetComesBeforeWhatIsLoaded) {
    fill(100);
    const SlowDisk disk;
    SlowDisk::close();
    const auto cache = open(options());
    SlowDisk::wait_until_somebody_waits();
    EXPECT_EQ(within(*cache, name(0), 1000), "(late)") << "the loader waits for another entry";
    (void)cache->trim(0);
    SlowDisk::open();
    EXPECT_EQ(within(*cache, name(0), kLongUs), value(0));
}

TEST_F(LoadingTest, ABoundedGetDoesNotFindWhatWasRemovedWhileItWasRead) {
    fill(1);
    const SlowDisk disk;
    SlowDisk::close();
    const auto cache = open(without_loading());
    EXPECT_EQ(within(*cache, name(0), 1000), "(late)");
    SlowDisk::wait_until_somebody_waits();
    EXPECT_TRUE(cache->remove(as_bytes(name(0))).value());
    std::thread opener([] {
        sleep_us(2000);
        SlowDisk::open();
    });
    EXPECT_EQ(within(*cache, name(0), kLongUs), "(miss)");
    opener.join();
    EXPECT_EQ(stats(*cache).memory_entries, 0u);
}

// Where the file system can tell; else the thread reads it, with the same result.
TEST_F(LoadingTest, ABoundedGetOfWhatTheSystemHasInMemoryWaitsForNobody) {
    fill(2);
    const SlowDisk disk;
    const auto cache = open(without_loading());
    EXPECT_EQ(within(*cache, name(0), kLongUs), value(0));  // opens the segment
    SlowDisk::close_for_threads();
    const auto found = cache->get_within(as_bytes(name(1)), 1000);
    EXPECT_TRUE(!found->has_value() || text(found.value().value()) == value(1));
    if (!found->has_value()) {
        SlowDisk::open();
        GTEST_SKIP() << "this file system does not tell what is in memory";
    }
    EXPECT_EQ(stats(*cache).late, 0u);
    EXPECT_EQ(stats(*cache).memory_entries, 2u);
    EXPECT_EQ(cache->stats().hits, 2u);
    SlowDisk::open();
}

TEST_F(LoadingTest, BoundedGetsOfManyThreads) {
    fill(50);
    const auto cache = open(options());
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 50; ++j) EXPECT_EQ(within(*cache, name(j), kLongUs), value(j));
        });
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace cairn
