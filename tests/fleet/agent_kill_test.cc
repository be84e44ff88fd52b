// SPDX-License-Identifier: MIT
// The agent is killed while it pushes and pulls, at any moment: nothing is listed that is not there, and the next one
// completes. CAIRN_FLEET_KILLS is how many times.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "agent_process.h"
#include "faulty_storage.h"
#include "support/eventually.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::eventually;
using std::chrono::milliseconds;

constexpr const char *kDriver = "driver 1";

// Over each storage: what is half done there differs.
class AgentKillTest : public FleetTest, public ::testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        const std::string why = cairn_test::Backend::why_missing(GetParam());
        if (!why.empty()) GTEST_SKIP() << why;
        cairn_test::prepare_environment();
        url_ = cairn_test::Backend::of(GetParam()).url(new_space());
        share(first_, url_, "ci");
        share(second_, url_);
    }
    std::size_t entries_there() const {
        const Json remote = status(second_);
        const Json &applications = remote["applications"];
        if (applications.empty() || applications[0]["for_this_machine"].empty()) return 0;
        return applications[0]["for_this_machine"][0]["entries"];
    }
    static unsigned rounds() {
        const char *const text = std::getenv("CAIRN_FLEET_KILLS");
        return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : 6;
    }
};

INSTANTIATE_TEST_SUITE_P(Each, AgentKillTest, ::testing::ValuesIn(cairn_test::kAllBackends),
                         [](const auto &each) { return each.param; });

TEST_P(AgentKillTest, KilledWhileItPushesItListsNothingThatIsNotThere) {
    std::mt19937 random(7);
    int programs = 0;
    for (unsigned i = 0; i < rounds(); ++i) {
        AgentProcess agent(first_);
        compile(first_, kDriver, programs, programs + 10);
        programs += 10;
        // A push begins 60 to 90 ms later.
        std::this_thread::sleep_for(milliseconds(55 + random() % 80));
        agent.signal(SIGKILL);
        EXPECT_EQ(agent.wait(), 1000 + SIGKILL);
        expect_whole(url_);
    }
    const AgentProcess agent(first_);
    start_application(first_, kDriver);
    second_.start(kDriver);
    EXPECT_TRUE(eventually([&] {
        std::this_thread::sleep_for(milliseconds(50));
        return entries_there() == static_cast<std::size_t>(programs);
    })) << agent.said();
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, programs), programs);
    expect_whole(url_);
}

TEST_P(AgentKillTest, KilledWhileItPullsItLeavesTheOldPackOrTheNewOne) {
    std::mt19937 random(7);
    for (unsigned i = 0; i < rounds(); ++i) {
        const int from = static_cast<int>(i) * 10;
        first_.put_programs(kDriver, from, from + 10);
        push(first_);
        AgentProcess agent(second_);
        start_application(second_, kDriver);
        std::this_thread::sleep_for(milliseconds(random() % 40));
        agent.signal(SIGKILL);
        EXPECT_EQ(agent.wait(), 1000 + SIGKILL);
        // Of what is pulled at once all is there or nothing.
        EXPECT_EQ(count_found(second_, kDriver, from, from + 10) % 10, 0);
    }
    const AgentProcess agent(second_);
    start_application(second_, kDriver);
    const int all = static_cast<int>(rounds()) * 10;
    EXPECT_TRUE(agent.says("pull gl-game: done with studio")) << agent.said();
    EXPECT_EQ(second_.programs_found(kDriver, 0, all), all);
}

}  // namespace
}  // namespace cairn::fleet_test
