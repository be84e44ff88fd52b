// SPDX-License-Identifier: MIT
#include "agent.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "os/testing/scratch.h"

namespace cairn::agent {
namespace {

// Notes what it is asked for, and answers what it was told to.
class FakeWorker final : public Worker {
  public:
    JobResult pull(const std::string &name, const Remotes &left_alone) override {
        return take("pull " + name, left_alone);
    }
    JobResult push(const std::string &name, const Remotes &left_alone) override {
        return take("push " + name, left_alone);
    }
    void stop() override { is_stopped = true; }

    std::vector<std::string> calls() const {
        const std::lock_guard lock(mutex_);
        return calls_;
    }
    Remotes left_alone() const {
        const std::lock_guard lock(mutex_);
        return left_alone_;
    }

    std::atomic<bool> is_stopped = false;
    std::atomic<bool> hangs = false;   // until this or is_stopped changes
    std::atomic<bool> throws = false;  // as where a disk is full
    std::atomic<bool> is_in_trouble = false;
    std::atomic<int> at_once = 0, most_at_once = 0;

  private:
    JobResult take(const std::string &what, const Remotes &left_alone) {
        most_at_once = std::max(most_at_once.load(), ++at_once);
        {
            const std::lock_guard lock(mutex_);
            calls_.push_back(what);
            left_alone_ = left_alone;
        }
        while (hangs && !is_stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --at_once;
        if (throws) throw std::runtime_error("the disk is full");
        if (!left_alone.empty()) return {{}, {}, left_alone};
        return is_in_trouble ? JobResult{{}, {"s3"}, {}} : JobResult{{"s3"}, {}, {}};
    }

    mutable std::mutex mutex_;
    std::vector<std::string> calls_;
    Remotes left_alone_;
};

using Calls = std::vector<std::string>;

// An agent on a thread of the test, with a clock that the test moves.
class AgentTest : public ::testing::Test {
  protected:
    AgentTest() : agent_(parts()), thread_([this] { agent_.run(end_.get()); }) {}
    ~AgentTest() override { end(); }

    Agent::Parts parts() {
        return {.notices = notices_,
                .worker = worker_,
                .name_of =
                    [](const AgentNotice &notice) {
                        return notice.root == "/root" ? std::optional(notice.identifier)
                                                      : std::nullopt;
                    },
                .is_shared = [](const std::string &name) { return name != "secret"; },
                .random = [] { return 0.5; },
                .clock = [this] { return clock_ms_.load(); },
                .log = Log(keep, this)};
    }
    void end() {
        if (!thread_.joinable()) return;
        const std::uint64_t one = 1;
        EXPECT_EQ(::write(end_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
        thread_.join();
    }
    void start(const std::string &name, const std::string &root = "/root") const {
        send(*encode_agent_notice(root, name));
    }
    // Once there is room for it: the kernel holds ten messages, and the agent takes no more than it
    // may.
    void send(Bytes message) const {
        ASSERT_TRUE(eventually([&] { return send_datagram(path_, message).ok(); }));
    }
    // The loop looks at the clock when it has something to look at.
    void advance(std::uint64_t ms) {
        clock_ms_ += ms;
        send(as_bytes("wake up"));
    }
    bool become(const Calls &expected) const {
        return eventually([&] { return worker_.calls() == expected; });
    }
    template <typename Condition>
    static bool eventually(Condition condition) {
        for (int i = 0; i < 60'000; ++i) {
            if (condition()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return condition();
    }
    static void keep(void *user, int, const char *line) {
        auto &test = *static_cast<AgentTest *>(user);
        const std::lock_guard lock(test.mutex_);
        test.lines_.emplace_back(line);
    }
    bool has_said(const std::string &line) const {
        const std::lock_guard lock(mutex_);
        return std::ranges::find(lines_, line) != lines_.end();
    }

    testing::Scratch scratch_;
    const std::string path_ = scratch_ / "cairn/agent.sock";
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
    std::atomic<std::uint64_t> clock_ms_ = 1'000'000;
    Notices notices_{path_};
    FakeWorker worker_;
    UniqueFd end_{::eventfd(0, EFD_CLOEXEC)};
    Agent agent_;
    std::thread thread_;
};

TEST_F(AgentTest, AStartIsPulledAtOnceAndPushedLater) {
    start("game");
    ASSERT_TRUE(become({"pull game"}));
    EXPECT_TRUE(eventually([&] { return has_said("pull game: done with s3"); }));
    advance(75 * Schedule::kSecond);
    EXPECT_TRUE(become({"pull game", "push game"}));
}

TEST_F(AgentTest, WhatIsNotSharedOrOfAnotherRootIsNothing) {
    start("secret");
    start("game", "/elsewhere");
    start("other");
    EXPECT_TRUE(become({"pull other"}));
}

TEST_F(AgentTest, NoticesAreTakenInWhileAJobHangs) {
    worker_.hangs = true;
    start("a");
    ASSERT_TRUE(become({"pull a"}));
    for (int i = 0; i < 50; ++i) ASSERT_NO_FATAL_FAILURE(start("b"));
    start("c");
    worker_.hangs = false;
    EXPECT_TRUE(become({"pull a", "pull b", "pull c"}));
    EXPECT_EQ(worker_.most_at_once, 1);
}

TEST_F(AgentTest, ARemoteInTroubleIsLeftAlone) {
    worker_.is_in_trouble = true;
    start("a");
    ASSERT_TRUE(become({"pull a"}));
    ASSERT_TRUE(eventually(
        [&] { return has_said("pull a: s3 is in trouble, and left alone for a while"); }));
    start("b");
    ASSERT_TRUE(become({"pull a", "pull b"}));
    EXPECT_EQ(worker_.left_alone(), Remotes{"s3"});
    worker_.is_in_trouble = false;
    advance(15 * Schedule::kSecond);
    EXPECT_TRUE(become({"pull a", "pull b", "pull a", "pull b"}));
    EXPECT_TRUE(worker_.left_alone().empty());
}

TEST_F(AgentTest, AWorkerThatFailsEndsNothing) {
    worker_.throws = true;
    start("a");
    ASSERT_TRUE(eventually([&] { return has_said("pull a: the disk is full"); }));
    worker_.throws = false;
    start("b");
    EXPECT_TRUE(become({"pull a", "pull b"}));
}

TEST_F(AgentTest, EndsWhenItIsAskedToAndTellsTheJobThatIsAtWork) {
    worker_.hangs = true;
    start("a");
    ASSERT_TRUE(become({"pull a"}));
    end();
    EXPECT_TRUE(worker_.is_stopped);
    EXPECT_EQ(worker_.at_once, 0);
    EXPECT_TRUE(has_said("ending"));
}

TEST_F(AgentTest, EndsAtOnceWhereThereIsNothingToDo) {
    end();
    EXPECT_FALSE(worker_.is_stopped);
}

// With the clock and the chance of the system, and what an application sends.
TEST(AgentByItself, HearsOfAnApplication) {
    const testing::Scratch scratch;
    ::setenv("XDG_RUNTIME_DIR", scratch.path().c_str(), 1);
    Notices notices(scratch / "cairn/agent.sock");
    FakeWorker worker;
    const UniqueFd end(::eventfd(0, EFD_CLOEXEC));
    Agent agent({notices, worker,
                 [](const AgentNotice &notice) { return std::optional(notice.identifier); },
                 [](const std::string &) { return true; }});
    std::thread thread([&] { agent.run(end.get()); });
    tell_agent("/root", "game");
    while (worker.calls().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(worker.calls(), Calls{"pull game"});
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(end.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    thread.join();
    ::unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace cairn::agent
