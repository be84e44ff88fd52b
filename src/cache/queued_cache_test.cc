// SPDX-License-Identifier: MIT
#include "cache/queued_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cache/disk_cache.h"
#include "os/environment.h"
#include "os/system_calls.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSecondUs = 1'000'000;

StoreOptions options_at(const std::string &root) {
    StoreOptions options;
    options.root = root;
    options.identifier = "queue";
    options.limit_bytes = 64u << 20;
    return options;
}

std::string text(const BlobRef &blob) {
    if (!blob) return "(nothing)";
    return {reinterpret_cast<const char *>(blob->value().data()), blob->value().size()};
}

// While it is closed, no write to a file returns.
class Gate {
  public:
    Gate() {
        held() = true;
        calls_ = kKernel;
        calls_.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) {
            while (held()) sleep_us(100);
            return kKernel.pwritev(fd, pieces, count, offset);
        };
        system_calls = &calls_;
    }
    ~Gate() {
        open();
        system_calls = &kKernel;
    }
    static void open() { held() = false; }

  private:
    static std::atomic<bool> &held() {
        static std::atomic<bool> is_held;
        return is_held;
    }
    SystemCalls calls_;
};

// A queue over a disk cache; `stored` looks past it.
class QueuedCacheTest : public testing::Test {
  protected:
    QueuedCacheTest() : disk_(open()) {}
    std::unique_ptr<DiskCache> open() const {
        auto opened = DiskCache::open(options_at(directory_.path()));
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }
    std::string stored(const std::string &key) { return text(disk_->get(as_bytes(key)).value()); }
    static bool put(QueuedCache &queue, const std::string &key, const std::string &value) {
        return queue.put(as_bytes(key), as_bytes(value), {}).ok();
    }
    static std::string get(QueuedCache &queue, const std::string &key) {
        return text(queue.get(as_bytes(key)).value());
    }
    static QueueStats stats(QueuedCache &queue) { return queue.stats().program->queue; }

    cairn_test::TempDirectory directory_;
    std::unique_ptr<DiskCache> disk_;
};

TEST_F(QueuedCacheTest, WhatIsPushedIsFoundAtOnceAndStoredSoon) {
    QueuedCache queue(open(), 1u << 20);
    for (int i = 0; i < 500; ++i) {
        const std::string key = "key" + std::to_string(i);
        ASSERT_TRUE(put(queue, key, "value" + std::to_string(i)));
        EXPECT_EQ(get(queue, key), "value" + std::to_string(i));
    }
    EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
    for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(stored("key" + std::to_string(i)), "value" + std::to_string(i));
    }
    EXPECT_EQ(stats(queue).entries, 0u);
    EXPECT_EQ(stats(queue).bytes, 0u);
    EXPECT_EQ(stats(queue).dropped, 0u);
}

TEST_F(QueuedCacheTest, ALookUpThatFindsAQueuedEntryIsCountedOnceAsAHit) {
    ASSERT_TRUE(disk_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    const Gate gate;  // the entry stays in the queue
    QueuedCache queue(open(), 1u << 20);
    ASSERT_TRUE(put(queue, "a", "12"));
    EXPECT_EQ(get(queue, "a"), "12");
    std::array<std::byte, 2> buffer = {};
    EXPECT_EQ(queue.get_into(as_bytes("a"), buffer).value(), 2u);
    EXPECT_EQ(text(queue.get_cached(as_bytes("a"))), "12");
    EXPECT_TRUE(queue.contains(as_bytes("a")).value());
    EXPECT_EQ(text(queue.peek(as_bytes("a"))), "12");
    EXPECT_EQ(get(queue, "b"), "(nothing)");
    const CacheStats counted = queue.stats();
    EXPECT_EQ(counted.hits, 3u);
    EXPECT_EQ(counted.misses, 1u);
    EXPECT_EQ(counted.bytes_read, 6u);
    Gate::open();
}

TEST_F(QueuedCacheTest, ItWritesWithoutBeingAsked) {
    QueuedCache queue(open(), 1u << 20);
    ASSERT_TRUE(put(queue, "a", "1"));
    for (int i = 0; i < 60'000 && stored("a") != "1"; ++i) sleep_us(1000);
    EXPECT_EQ(stored("a"), "1");
}

TEST_F(QueuedCacheTest, ItsEndWritesWhatIsQueued) {
    {
        QueuedCache queue(open(), 1u << 20);
        ASSERT_TRUE(put(queue, "a", "1"));
    }
    EXPECT_EQ(stored("a"), "1");
}

TEST_F(QueuedCacheTest, TheNewestIsDroppedWhenItIsFullAndTheOlderStay) {
    ASSERT_TRUE(disk_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    Gate gate;
    QueuedCache queue(open(), 100);
    ASSERT_TRUE(put(queue, "a", std::string(40, 'a')));
    ASSERT_TRUE(put(queue, "b", std::string(40, 'b')));
    EXPECT_FALSE(put(queue, "c", std::string(40, 'c')));
    EXPECT_FALSE(put(queue, "b", std::string(90, 'B'))) << "nor in place of another";
    EXPECT_EQ(stats(queue).dropped, 2u);
    EXPECT_EQ(get(queue, "b"), std::string(40, 'b'));
    EXPECT_EQ(get(queue, "c"), "(nothing)");
    EXPECT_FALSE(queue.flush(1000).ok()) << "the disk does not answer";
    gate.open();
    EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
    EXPECT_EQ(stored("a"), std::string(40, 'a'));
    EXPECT_EQ(stored("b"), std::string(40, 'b'));
    EXPECT_EQ(stored("c"), "(nothing)");
}

TEST_F(QueuedCacheTest, TheLatestOfAKeyIsWhatCounts) {
    ASSERT_TRUE(disk_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    Gate gate;
    QueuedCache queue(open(), 1u << 20);
    for (const char *value : {"1", "2", "3"}) {
        ASSERT_TRUE(put(queue, "a", value));
        EXPECT_EQ(get(queue, "a"), value);
    }
    gate.open();
    EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
    EXPECT_EQ(stored("a"), "3");
}

TEST_F(QueuedCacheTest, WhatIsCancelledIsNeverStoredLater) {
    QueuedCache queue(open(), 1u << 20);
    for (int round = 0; round < 200; ++round) {
        ASSERT_TRUE(put(queue, "a", "1"));
        ASSERT_TRUE(put(queue, "b", "1"));
        if (round % 3 == 0) sleep_us(900);
        EXPECT_TRUE(queue.remove(as_bytes("a")).value());
        EXPECT_EQ(stored("a"), "(nothing)");
        EXPECT_EQ(get(queue, "a"), "(nothing)");
        if (round % 5 == 0) {
            EXPECT_TRUE(queue.clear().ok());
            EXPECT_EQ(stats(queue).bytes, 0u);
            EXPECT_EQ(stored("b"), "(nothing)");
        }
    }
    EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
    EXPECT_EQ(stored("a"), "(nothing)");
}

// What a watcher was told last; it fails where it is told nonsense.
struct Told {
    static void tell(void *user, std::uint64_t entries, std::uint64_t bytes) {
        auto &own = *static_cast<Told *>(user);
        EXPECT_EQ(entries == 0, bytes == 0);
        own.entries = entries;
        own.bytes = bytes;
        own.entries_max = std::max<std::uint64_t>(own.entries_max, entries);
    }
    QueueWatcher watcher{tell, this};
    std::atomic<const QueueWatcher *> place = &watcher;
    std::atomic<std::uint64_t> entries = 0, bytes = 0, entries_max = 0;
};

TEST_F(QueuedCacheTest, AWatcherIsToldWhatIsQueuedUntilItIsWritten) {
    ASSERT_TRUE(disk_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    Told told;
    Gate gate;
    QueuedCache queue(open(), 1u << 20, &told.place);
    for (std::uint64_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(put(queue, "key" + std::to_string(i), "123456"));
        EXPECT_EQ(told.entries, i + 1);
        EXPECT_EQ(told.bytes, (i + 1) * 10);
    }
    EXPECT_FALSE(queue.flush(1000).ok());
    EXPECT_EQ(told.entries, 5u) << "nothing is written yet";
    gate.open();
    EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
    EXPECT_EQ(told.entries, 0u);
    EXPECT_EQ(told.entries_max, 5u);
}

TEST_F(QueuedCacheTest, AWatcherIsToldOfWhatIsReplacedCancelledAndRefused) {
    ASSERT_TRUE(disk_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    Told told;
    {
        Gate gate;
        QueuedCache queue(open(), 100, &told.place);
        ASSERT_TRUE(put(queue, "a", std::string(9, 'a')));
        ASSERT_TRUE(put(queue, "b", std::string(9, 'b')));
        ASSERT_TRUE(put(queue, "b", std::string(19, 'b')));
        const std::uint64_t replaced = told.bytes;
        EXPECT_GE(replaced, 30u) << "the older one may be in the writer's hands";
        EXPECT_FALSE(put(queue, "c", std::string(90, 'c')));
        EXPECT_EQ(told.bytes, replaced);
        gate.open();
        EXPECT_TRUE(queue.clear().ok());
        EXPECT_EQ(told.entries, 0u);
        ASSERT_TRUE(put(queue, "d", "1"));
        (void)queue.remove(as_bytes("d"));
        EXPECT_EQ(told.entries, 0u);
        ASSERT_TRUE(put(queue, "e", "1"));
    }
    EXPECT_EQ(told.entries, 0u) << "its end writes what is queued";
}

// A thread that waits for an entry that is cancelled goes on: no write wakes it up then.
TEST_F(QueuedCacheTest, WhoWaitsForWhatIsCancelledGoesOn) {
    constexpr std::uint64_t kNeverNs = 60 * kSecondUs * 1000;
    QueuedCache queue(open(), 1u << 20);
    std::atomic<bool> stop = false;
    std::thread canceller([&] {
        for (int i = 0; !stop; ++i) {
            i % 2 == 0 ? (void)queue.remove(as_bytes("a")) : (void)queue.clear();
        }
    });
    for (int round = 0; round < 5000; ++round) {
        ASSERT_TRUE(put(queue, "a", "1"));
        const std::uint64_t begin = monotonic_ns();
        EXPECT_TRUE(queue.flush(kNeverNs / 1000).ok());
        if (monotonic_ns() - begin >= kNeverNs) {
            ADD_FAILURE() << "nobody woke it up";
            break;
        }
    }
    stop = true;
    canceller.join();
}

TEST_F(QueuedCacheTest, WhatTheStoreRefusesIsCountedAndForgotten) {
    ASSERT_TRUE(disk_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    static SystemCalls calls = kKernel;
    calls.pwritev = [](int, const iovec *, int, off_t) -> ssize_t {
        errno = ENOSPC;
        return -1;
    };
    system_calls = &calls;
    {
        QueuedCache queue(open(), 1u << 20);
        ASSERT_TRUE(put(queue, "a", "1"));
        EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
        EXPECT_EQ(stats(queue).failed, 1u);
        EXPECT_EQ(stats(queue).bytes, 0u);
        EXPECT_EQ(get(queue, "a"), "(nothing)");
    }
    system_calls = &kKernel;
}

// It was found already: what it replaced must not come back.
TEST_F(QueuedCacheTest, WhatTheStoreRefusesLeavesNothingOlder) {
    ASSERT_TRUE(disk_->put(as_bytes("a"), as_bytes("older"), {}).ok());
    static SystemCalls calls = kKernel;
    calls.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) -> ssize_t {
        if (count == 1) return kKernel.pwritev(fd, pieces, count, offset);
        errno = ENOSPC;
        return -1;
    };
    system_calls = &calls;
    {
        QueuedCache queue(open(), 1u << 20);
        ASSERT_TRUE(put(queue, "a", "newer"));
        EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
        EXPECT_EQ(stats(queue).failed, 1u);
    }
    system_calls = &kKernel;
    EXPECT_EQ(stored("a"), "(nothing)");
}

TEST_F(QueuedCacheTest, ThreadsFindWhatTheyHavePushedUntilItIsStored) {
    constexpr int kThreads = 4;
    constexpr int kEach = 300;
    QueuedCache queue(open(), 1u << 20);
    std::vector<std::thread> threads;
    std::atomic<int> lost = 0;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                const std::string key = std::to_string(t) + "/" + std::to_string(i % 20);
                const std::string value = std::to_string(i);
                put(queue, key, value);
                if (get(queue, key) != value) ++lost;
                if (i % 50 == 0) (void)queue.flush(kSecondUs);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(lost, 0);
    EXPECT_TRUE(queue.flush(60 * kSecondUs).ok());
}

}  // namespace
}  // namespace cairn
