// SPDX-License-Identifier: MIT
// The agent, where a remote is in trouble: it says so, harms nothing, goes on by itself, and ends when it is asked to.
#include <signal.h>

#include <chrono>
#include <thread>

#include "agent_process.h"
#include "faulty_storage.h"
#include "support/eventually.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::Backend;
using cairn_test::eventually;
using cairn_test::Fault;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";

class AgentFaultsTest : public FaultsTest, public ::testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        FaultsTest::SetUp();
        const std::string why = Backend::why_missing(GetParam());
        if (!why.empty()) GTEST_SKIP() << why;
        faulty_ = std::make_unique<FaultyStorage>(GetParam());
        share(first_, faulty_->through, "ci");
    }

    std::unique_ptr<FaultyStorage> faulty_;
};

INSTANTIATE_TEST_SUITE_P(Each, AgentFaultsTest, ::testing::Values("http", "s3", "redis"),
                         [](const auto &each) { return each.param; });

TEST_P(AgentFaultsTest, GoesOnByItselfOnceTheRemoteAnswers) {
    const AgentProcess agent(first_);
    int programs = 0;
    std::size_t said = 0;
    for (const Fault fault : {Fault::refuse, Fault::cut, Fault::garbage}) {
        SCOPED_TRACE(fault_name(fault));
        faulty_->proxy.set(fault, 10);
        compile(first_, kDriver, programs, programs + 5);
        programs += 5;
        // The start before may have been pulled a moment ago; a push follows anyhow.
        EXPECT_TRUE(agent.says("is in trouble", said)) << agent.said();
        faulty_->proxy.set(Fault::none);
        EXPECT_TRUE(agent.has_pushed(5, said)) << agent.said();
        said = agent.said().size();
        expect_whole(faulty_->direct);
    }
    expect_no_secret(agent.said());
    second_.start(kDriver);
    second_.done(pull_words_from(faulty_->direct));
    EXPECT_EQ(second_.programs_found(kDriver, 0, programs), programs);
}

// Each cache, driver and remote that a job is about may fail: it is one failure of one remote.
TEST_P(AgentFaultsTest, AsksARemoteInTroubleOnceInAJob) {
    faulty_->proxy.set(Fault::refuse);
    std::ofstream(first_.configuration() + "/remotes", std::ios::app)
        << "[other]\nurl = " << url_ << "\n";
    compile(first_, kDriver, 0, 5);
    push(first_);
    // Slow enough for one job.
    const AgentProcess agent(first_, /*speed=*/1);
    as_application(first_, [&] {
        first_.start(kDriver);
        first_.start("driver 2");
        return 0;
    });
    const std::string trouble = "pull gl-game: studio is in trouble";
    EXPECT_TRUE(agent.says(trouble)) << agent.said();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const std::string said = agent.said();
    EXPECT_EQ(said.find(trouble), said.rfind(trouble)) << said;
}

TEST_P(AgentFaultsTest, EndsAtOnceAlthoughTheRemoteHangs) {
    faulty_->proxy.set(Fault::hang);
    const unsigned before = faulty_->proxy.connections();
    const AgentProcess agent(first_);
    compile(first_, kDriver, 0, 5);
    // The pull that the start has asked for hangs.
    ASSERT_TRUE(eventually([&] { return faulty_->proxy.connections() > before; }));
    const auto start = steady_clock::now();
    agent.signal(SIGTERM);
    EXPECT_EQ(agent.wait(), 0) << agent.said();
    EXPECT_LT(steady_clock::now() - start, seconds(6)) << "a call that hangs has ten";
    EXPECT_THAT(agent.said(), HasSubstr("cut short"));
    // The next one completes.
    faulty_->proxy.set(Fault::none);
    const AgentProcess next(first_);
    start_application(first_, kDriver);
    EXPECT_TRUE(next.has_pushed(5)) << next.said();
}

}  // namespace
}  // namespace cairn::fleet_test
