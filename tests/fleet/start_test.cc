// SPDX-License-Identifier: MIT
// What an application's start costs where the agent is dead, hangs, or waits for a remote that hangs: one message that
// the kernel refuses or takes at once.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "agent_process.h"
#include "os/environment.h"
#include "support/shared.h"

namespace {

std::atomic<bool> is_watching = false;
std::atomic<unsigned> messages = 0;

}  // namespace

// In place of the C library's.
extern "C" ssize_t sendmsg(int fd, const msghdr *message, int flags) {
    if (is_watching) ++messages;
    return ::syscall(SYS_sendmsg, fd, message, flags);
}

namespace cairn::fleet_test {
namespace {

constexpr std::size_t kStarts = 25;

struct Start {
    std::atomic<unsigned> messages;
    std::atomic<std::uint64_t> ns;
};

// Of some starts, each of which is a process: the most messages, and the time of the one in the middle.
struct Cost {
    unsigned messages = 0;
    std::uint64_t ns = 0;
};

Cost cost_of_start(const Machine &machine) {
    const cairn_test::Shared<Start> start;
    Cost cost;
    std::vector<std::uint64_t> times;
    for (std::size_t i = 0; i < kStarts; ++i) {
        as_application(machine, [&] {
            is_watching = true;
            const std::uint64_t begin_ns = monotonic_ns();
            machine.start("driver 1");
            start->ns = monotonic_ns() - begin_ns;
            start->messages = messages.load();
            return 0;
        });
        cost.messages = std::max(cost.messages, start->messages.load());
        times.push_back(start->ns);
    }
    std::ranges::sort(times);
    cost.ns = times[kStarts / 2];
    return cost;
}

// It accepts what comes, and never answers.
class HungServer {
  public:
    HungServer() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr *>(&address), size), 0);
        EXPECT_EQ(::listen(fd_, 16), 0);
        EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr *>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
    }
    ~HungServer() { ::close(fd_); }
    HungServer(const HungServer &) = delete;
    HungServer &operator=(const HungServer &) = delete;
    bool was_called() const {
        pollfd poll = {fd_, POLLIN, 0};
        return ::poll(&poll, 1, 60'000) == 1;
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/fleet"; }

  private:
    const int fd_;
    std::uint16_t port_ = 0;
};

class StartTest : public FleetTest {
  protected:
    StartTest() { share(second_, server_.url()); }
    void expect_cheap() const {
        const Cost cost = cost_of_start(second_);
        EXPECT_LE(cost.messages, without_.messages + 1);
        // So that a wait shows, in the middle one of many; bench/start_bench measures starts.
        constexpr std::uint64_t kWaitNs = 50'000'000;
        EXPECT_LT(cost.ns, 2 * without_.ns + kWaitNs);
    }

    const HungServer server_;
    // No agent was ever there.
    const Cost without_ = cost_of_start(second_);
};

TEST_F(StartTest, OneMessageIsSentWhereAnAgentLives) {
    const AgentProcess agent(second_);
    EXPECT_EQ(cost_of_start(second_).messages, 1u);
}

TEST_F(StartTest, NothingIsWaitedForWhereTheAgentIsDead) {
    const AgentProcess agent(second_);
    agent.signal(SIGKILL);
    EXPECT_EQ(agent.wait(), 1000 + SIGKILL);
    EXPECT_TRUE(fs::exists(second_.runtime() + "/cairn/agent.sock"));
    expect_cheap();
}

TEST_F(StartTest, NothingIsWaitedForWhereTheAgentHangs) {
    const AgentProcess agent(second_);
    agent.signal(SIGSTOP);
    // More than its queue has.
    for (int i = 0; i < 2; ++i) expect_cheap();
    agent.signal(SIGCONT);
}

TEST_F(StartTest, NothingIsWaitedForWhereTheRemoteHangs) {
    const AgentProcess agent(second_);
    expect_cheap();
    ASSERT_TRUE(server_.was_called());
    agent.signal(SIGTERM);
    EXPECT_EQ(agent.wait(), 0);
    EXPECT_NE(agent.said().find("cut short"), std::string::npos) << agent.said();
}

}  // namespace
}  // namespace cairn::fleet_test
