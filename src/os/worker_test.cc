// SPDX-License-Identifier: MIT
#include "os/worker.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <new>

#include "os/environment.h"
#include "os/testing/child.h"

namespace cairn {
namespace {

// Waits until something is so that another thread is about to make so.
void wait_for(const std::function<bool()> &is_so) {
    while (!is_so()) sleep_us(100);
}

TEST(Worker, CallsItsBodyOnceForEachWakeAndIsIdleThen) {
    std::atomic<int> calls = 0;
    Worker worker([&] { ++calls; });
    EXPECT_TRUE(worker.is_idle());
    for (int i = 1; i <= 3; ++i) {
        ASSERT_TRUE(worker.wake());
        wait_for([&] { return worker.is_idle(); });
        EXPECT_EQ(calls, i);
    }
}

TEST(Worker, WokenWhileItWorksCallsItsBodyOnceMore) {
    std::atomic<int> calls = 0;
    std::atomic<bool> is_held = true;
    Worker worker([&] {
        ++calls;
        wait_for([&] { return !is_held; });
    });
    ASSERT_TRUE(worker.wake());
    wait_for([&] { return calls == 1; });
    ASSERT_TRUE(worker.wake());
    ASSERT_TRUE(worker.wake());
    is_held = false;
    wait_for([&] { return worker.is_idle(); });
    EXPECT_EQ(calls, 2) << "two wakes that come while it works are one";
}

TEST(Worker, StopWaitsForWhatWasWokenAndRefusesTheNext) {
    std::atomic<int> calls = 0;
    Worker worker([&] { ++calls; });
    ASSERT_TRUE(worker.wake());
    worker.stop();
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(worker.wake());
    EXPECT_EQ(calls, 1);
}

class Waiting : public ::testing::Test {
  protected:
    void start() {
        ASSERT_TRUE(worker.wake());
        wait_for([&] { return has_begun.load(); });
    }

    std::atomic<int> waits = 0;
    std::atomic<bool> has_begun = false;
    std::atomic<bool> was_stopped = false;
    Worker worker{[this] {
        has_begun = true;
        while (worker.wait_until(Deadline::never())) ++waits;
        was_stopped = worker.is_stopping();
    }};
};

TEST_F(Waiting, EndsItsWaitWhenItIsWoken) {
    start();
    for (int i = 1; i <= 3; ++i) {
        ASSERT_TRUE(worker.wake());
        wait_for([&] { return waits == i; });
    }
    EXPECT_FALSE(was_stopped);
}

TEST_F(Waiting, EndsWhenItIsStopped) {
    start();
    worker.stop();
    EXPECT_TRUE(was_stopped);
}

TEST(Worker, WaitsUntilItsDeadlineWhereNobodyWakesIt) {
    std::atomic<bool> has_waited = false;
    Worker worker([&] { has_waited = worker.wait_until(Deadline::in_us(100)); });
    ASSERT_TRUE(worker.wake());
    wait_for([&] { return has_waited.load(); });
}

TEST(Worker, WithoutMemoryEndsItsBodyAndNotTheProcess) {
    std::atomic<int> calls = 0;
    Worker worker([&] {
        ++calls;
        throw std::bad_alloc();
    });
    for (int i = 1; i <= 2; ++i) {
        ASSERT_TRUE(worker.wake());
        wait_for([&] { return worker.is_idle(); });
        EXPECT_EQ(calls, i);
    }
}

TEST(Worker, TakesNoSignals) {
    sigset_t blocked;
    sigemptyset(&blocked);
    Worker worker([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
    ASSERT_TRUE(worker.wake());
    worker.stop();
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_EQ(sigismember(&blocked, SIGUSR1), 1);
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 0) << "the thread that woke it goes on taking them";
}

TEST(Worker, InTheBackgroundIsABatchThreadAndItsMakerIsNot) {
    std::atomic<int> policy = -1;
    Worker worker([&] { policy = ::sched_getscheduler(0); }, Worker::Priority::background);
    ASSERT_TRUE(worker.wake());
    worker.stop();
    EXPECT_EQ(policy, SCHED_BATCH);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
}

// The child's copy of a worker that was at work, or held a lock, when it was forked.
TEST(Worker, InAForkedChildIsIdleAndStartsAThreadOfTheChilds) {
    std::atomic<bool> is_held = true;
    std::atomic<int> calls = 0;
    Worker worker([&] {
        ++calls;
        wait_for([&] { return !is_held; });
    });
    ASSERT_TRUE(worker.wake());
    wait_for([&] { return calls == 1; });
    EXPECT_EQ(testing::in_child([&] {
                  if (!worker.is_idle()) return 1;
                  is_held = false;
                  if (!worker.wake()) return 2;
                  worker.stop();
                  return calls == 2 ? 0 : 3;
              }),
              0);
    EXPECT_EQ(testing::in_child([&] {
                  worker.stop();  // waits for no thread that is not there
                  return 0;
              }),
              0);
    is_held = false;
}

}  // namespace
}  // namespace cairn
