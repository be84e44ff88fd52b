// SPDX-License-Identifier: MIT
// `cairn-agent serve` as its user's session runs it: what applications need comes by itself, what they compile goes by
// itself, and it can be ended at any time.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "agent_process.h"
#include "support/eventually.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";

class AgentServeTest : public FleetTest {
  protected:
    AgentServeTest() {
        share(first_, url_, "ci");
        share(second_, url_);
    }
};

TEST_F(AgentServeTest, AStartPullsAndTheNextOneIsWarm) {
    first_.put_programs(kDriver, 0, 30);
    push(first_);
    const AgentProcess agent(second_);
    start_application(second_, kDriver);
    ASSERT_TRUE(agent.says("pulled 30 entries")) << agent.said();
    EXPECT_EQ(count_found(second_, kDriver, 0, 31), 30);
}

TEST_F(AgentServeTest, WhatIsCompiledIsPushedAndReachesTheOthers) {
    const AgentProcess first(first_);
    const AgentProcess second(second_);
    compile(first_, kDriver, 0, 20);
    ASSERT_TRUE(first.has_pushed(20)) << first.said();
    start_application(second_, kDriver);
    ASSERT_TRUE(second.says("pulled 20 entries")) << second.said();
    EXPECT_EQ(count_found(second_, kDriver, 0, 20), 20);
    // Later ones go, and come, too.
    compile(first_, kDriver, 20, 25);
    ASSERT_TRUE(first.has_pushed(25)) << first.said();
    // A start within five minutes after a pull does not pull: these are 300 ms here.
    std::this_thread::sleep_for(milliseconds(400));
    start_application(second_, kDriver);
    ASSERT_TRUE(second.says("pulled 5 entries")) << second.said();
    EXPECT_EQ(count_found(second_, kDriver, 0, 25), 25);
    expect_whole(url_);
}

// The remote answers, and is used for pulls all the same.
TEST_F(AgentServeTest, APushThatFailsForLackOfAKeyIsNoTroubleOfTheRemote) {
    share(first_, url_, "nokey");
    const AgentProcess agent(first_);
    compile(first_, kDriver, 0, 5);
    ASSERT_TRUE(agent.says("nokey")) << agent.said();
    const std::size_t said = agent.said().size();
    std::this_thread::sleep_for(milliseconds(400));
    start_application(first_, kDriver);
    EXPECT_TRUE(agent.says("pull gl-game: done with studio", said)) << agent.said();
    EXPECT_EQ(agent.said().find("in trouble"), std::string::npos) << agent.said();
}

TEST_F(AgentServeTest, WhatIsNotSharedStaysHere) {
    std::ofstream(first_.configuration() + "/config") << "[application other]\nshare = 1\n";
    const AgentProcess agent(first_);
    compile(first_, kDriver, 0, 5);
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_TRUE(fs::is_empty(storage_)) << agent.said();
}

TEST_F(AgentServeTest, EndsAtOnceWhenItIsAskedTo) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
        const AgentProcess agent(first_);
        const auto begin = steady_clock::now();
        agent.signal(number);
        EXPECT_EQ(agent.wait(), 0) << agent.said();
        EXPECT_LT(steady_clock::now() - begin, milliseconds(2000));
    }
}

TEST_F(AgentServeTest, ASecondOneRefusesAndTheFirstOneGoesOn) {
    const AgentProcess agent(first_);
    Environment environment = first_.environment();
    cli_test::Program second({CAIRN_AGENT, "serve"}, environment);
    EXPECT_EQ(second.wait(), 1);
    EXPECT_THAT(second.standard_error(), HasSubstr("agent"));
    compile(first_, kDriver, 0, 5);
    EXPECT_TRUE(agent.has_pushed(5)) << agent.said();
}

TEST_F(AgentServeTest, UsesNoProcessorWhereNothingStarts) {
    const AgentProcess agent(first_, 10'000);
    compile(first_, kDriver, 0, 5);
    ASSERT_TRUE(agent.has_pushed(5)) << agent.said();
    // Until all that the start has asked for is done: pushes follow for 45 minutes, which are 0.3 s here. On a busy
    // machine it takes longer.
    EXPECT_TRUE(cairn_test::eventually([&] {
        const std::uint64_t ticks = agent.ticks();
        const std::uint64_t switches = agent.status("voluntary_ctxt_switches");
        std::this_thread::sleep_for(milliseconds(1000));
        return agent.ticks() == ticks && agent.status("voluntary_ctxt_switches") == switches;
    })) << "it wakes up";
}

#ifndef __SANITIZE_ADDRESS__  // which takes memory of its own
TEST_F(AgentServeTest, ItsMemoryIsBoundedWhateverAnApplicationHas) {
    constexpr std::uint64_t kMostKib = 64 << 10;
    as_application(first_, [&] {
        put_many(first_, kDriver, 20'000, 3'000);  // 60 MB
        return 0;
    });
    const AgentProcess first(first_);
    start_application(first_, kDriver);
    ASSERT_TRUE(first.has_pushed(20000)) << first.said();
    EXPECT_LT(first.status("VmHWM"), kMostKib);
    const AgentProcess second(second_);
    start_application(second_, kDriver);
    ASSERT_TRUE(second.says("pulled 20000 entries")) << second.said();
    EXPECT_LT(second.status("VmHWM"), kMostKib);
    RecordProperty("push_kib", std::to_string(first.status("VmHWM")));
    RecordProperty("pull_kib", std::to_string(second.status("VmHWM")));
}
#endif

}  // namespace
}  // namespace cairn::fleet_test
