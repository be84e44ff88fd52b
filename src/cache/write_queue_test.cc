// SPDX-License-Identifier: MIT
#include "cache/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

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

BlobRef entry_of(const std::string &key, const std::string &value) {
    return Blob::copy(as_bytes(key), as_bytes(value), 0);
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

class WriteQueueTest : public testing::Test {
  protected:
    WriteQueueTest() {
        auto opened = Store::open(options_at(directory_.path()));
        EXPECT_TRUE(opened.ok());
        store_ = std::move(opened.value());
    }
    std::string stored(const std::string &key) {
        return text(store_->get(as_bytes(key), MemoryLevel::Admission::second_use).value());
    }

    cairn_test::TempDirectory directory_;
    std::unique_ptr<Store> store_;
};

TEST_F(WriteQueueTest, WhatIsPushedIsFoundAtOnceAndStoredSoon) {
    WriteQueue queue(*store_, 1u << 20);
    for (int i = 0; i < 500; ++i) {
        const std::string key = "key" + std::to_string(i);
        ASSERT_TRUE(queue.push(entry_of(key, "value" + std::to_string(i)), {}));
        const BlobRef found = queue.find(as_bytes(key));
        EXPECT_EQ(found ? text(found) : stored(key), "value" + std::to_string(i));
    }
    EXPECT_TRUE(queue.flush(60 * kSecondUs));
    for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(stored("key" + std::to_string(i)), "value" + std::to_string(i));
    }
    EXPECT_EQ(queue.stats().entries, 0u);
    EXPECT_EQ(queue.stats().bytes, 0u);
    EXPECT_EQ(queue.stats().dropped, 0u);
}

TEST_F(WriteQueueTest, ItWritesWithoutBeingAsked) {
    WriteQueue queue(*store_, 1u << 20);
    ASSERT_TRUE(queue.push(entry_of("a", "1"), {}));
    for (int i = 0; i < 60'000 && stored("a") != "1"; ++i) sleep_us(1000);
    EXPECT_EQ(stored("a"), "1");
}

TEST_F(WriteQueueTest, ItsEndWritesWhatIsQueued) {
    {
        WriteQueue queue(*store_, 1u << 20);
        ASSERT_TRUE(queue.push(entry_of("a", "1"), {}));
    }
    EXPECT_EQ(stored("a"), "1");
}

TEST_F(WriteQueueTest, TheNewestIsDroppedWhenItIsFullAndTheOlderStay) {
    ASSERT_TRUE(store_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    Gate gate;
    WriteQueue queue(*store_, 100);
    ASSERT_TRUE(queue.push(entry_of("a", std::string(40, 'a')), {}));
    ASSERT_TRUE(queue.push(entry_of("b", std::string(40, 'b')), {}));
    EXPECT_FALSE(queue.push(entry_of("c", std::string(40, 'c')), {}));
    EXPECT_FALSE(queue.push(entry_of("b", std::string(90, 'B')), {})) << "nor in place of another";
    EXPECT_EQ(queue.stats().dropped, 2u);
    EXPECT_EQ(text(queue.find(as_bytes("b"))), std::string(40, 'b'));
    EXPECT_FALSE(queue.find(as_bytes("c")));
    EXPECT_FALSE(queue.flush(1000)) << "the disk does not answer";
    gate.open();
    EXPECT_TRUE(queue.flush(60 * kSecondUs));
    EXPECT_EQ(stored("a"), std::string(40, 'a'));
    EXPECT_EQ(stored("b"), std::string(40, 'b'));
    EXPECT_EQ(stored("c"), "(nothing)");
}

TEST_F(WriteQueueTest, TheLatestOfAKeyIsWhatCounts) {
    ASSERT_TRUE(store_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    Gate gate;
    WriteQueue queue(*store_, 1u << 20);
    for (const char *value : {"1", "2", "3"}) {
        ASSERT_TRUE(queue.push(entry_of("a", value), {}));
        EXPECT_EQ(text(queue.find(as_bytes("a"))), value);
    }
    gate.open();
    EXPECT_TRUE(queue.flush(60 * kSecondUs));
    EXPECT_EQ(stored("a"), "3");
}

TEST_F(WriteQueueTest, WhatIsCancelledIsNeverStoredLater) {
    WriteQueue queue(*store_, 1u << 20);
    for (int round = 0; round < 200; ++round) {
        ASSERT_TRUE(queue.push(entry_of("a", "1"), {}));
        ASSERT_TRUE(queue.push(entry_of("b", "1"), {}));
        if (round % 3 == 0) sleep_us(900);
        {
            WriteQueue::Pause pause(queue);
            ASSERT_TRUE(store_->remove(as_bytes("a")).ok());
            const BlobRef queued = queue.find(as_bytes("a"));
            EXPECT_EQ(pause.cancel(as_bytes("a")), static_cast<bool>(queued));
        }
        EXPECT_EQ(stored("a"), "(nothing)");
        EXPECT_FALSE(queue.find(as_bytes("a")));
        if (round % 5 == 0) {
            WriteQueue::Pause pause(queue);
            ASSERT_TRUE(store_->clear().ok());
            pause.cancel_all();
            EXPECT_EQ(queue.stats().bytes, 0u);
            EXPECT_EQ(stored("b"), "(nothing)");
        }
    }
    EXPECT_TRUE(queue.flush(60 * kSecondUs));
    EXPECT_EQ(stored("a"), "(nothing)");
}

// Who waits for an entry that is cancelled must not wait for ever: no writing wakes it up then.
TEST_F(WriteQueueTest, WhoWaitsForWhatIsCancelledGoesOn) {
    constexpr std::uint64_t kNeverNs = 60 * kSecondUs * 1000;
    WriteQueue queue(*store_, 1u << 20);
    std::atomic<bool> stop = false;
    std::thread canceller([&] {
        for (int i = 0; !stop; ++i) {
            WriteQueue::Pause pause(queue);
            i % 2 == 0 ? (void)pause.cancel(as_bytes("a")) : pause.cancel_all();
        }
    });
    for (int round = 0; round < 5000; ++round) {
        ASSERT_TRUE(queue.push(entry_of("a", "1"), {}));
        const std::uint64_t begin = monotonic_ns();
        EXPECT_TRUE(queue.flush(kNeverNs / 1000));
        if (monotonic_ns() - begin >= kNeverNs) {
            ADD_FAILURE() << "nobody woke it up";
            break;
        }
    }
    stop = true;
    canceller.join();
}

TEST_F(WriteQueueTest, WhatTheStoreRefusesIsCountedAndForgotten) {
    ASSERT_TRUE(store_->put(as_bytes("warm"), as_bytes("up"), {}).ok());
    static SystemCalls calls = kKernel;
    calls.pwritev = [](int, const iovec *, int, off_t) -> ssize_t {
        errno = ENOSPC;
        return -1;
    };
    system_calls = &calls;
    {
        WriteQueue queue(*store_, 1u << 20);
        ASSERT_TRUE(queue.push(entry_of("a", "1"), {}));
        EXPECT_TRUE(queue.flush(60 * kSecondUs));
        EXPECT_EQ(queue.stats().failed, 1u);
        EXPECT_EQ(queue.stats().bytes, 0u);
        EXPECT_FALSE(queue.find(as_bytes("a")));
    }
    system_calls = &kKernel;
}

// It was found already: what it replaced must not come back.
TEST_F(WriteQueueTest, WhatTheStoreRefusesLeavesNothingOlder) {
    ASSERT_TRUE(store_->put(as_bytes("a"), as_bytes("older"), {}).ok());
    static SystemCalls calls = kKernel;
    calls.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) -> ssize_t {
        if (count == 1) return kKernel.pwritev(fd, pieces, count, offset);
        errno = ENOSPC;
        return -1;
    };
    system_calls = &calls;
    {
        WriteQueue queue(*store_, 1u << 20);
        ASSERT_TRUE(queue.push(entry_of("a", "newer"), {}));
        EXPECT_TRUE(queue.flush(60 * kSecondUs));
        EXPECT_EQ(queue.stats().failed, 1u);
    }
    system_calls = &kKernel;
    EXPECT_EQ(stored("a"), "(nothing)");
}

TEST_F(WriteQueueTest, ThreadsFindWhatTheyHavePushedUntilItIsStored) {
    constexpr int kThreads = 4;
    constexpr int kEach = 300;
    WriteQueue queue(*store_, 1u << 20);
    std::vector<std::thread> threads;
    std::atomic<int> lost = 0;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                const std::string key = std::to_string(t) + "/" + std::to_string(i % 20);
                const std::string value = std::to_string(i);
                queue.push(entry_of(key, value), {});
                const BlobRef queued = queue.find(as_bytes(key));
                if ((queued ? text(queued) : stored(key)) != value) ++lost;
                if (i % 50 == 0) queue.flush(kSecondUs);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(lost, 0);
    EXPECT_TRUE(queue.flush(60 * kSecondUs));
}

}  // namespace
}  // namespace cairn
