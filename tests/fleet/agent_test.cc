// SPDX-License-Identifier: MIT
// `cairn-agent serve` as its user's session runs it: what applications need comes by itself, what they compile goes by
// itself, and it can be ended at any time.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "agent_process.h"
#include "support/eventually.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::eventually;
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
    static void start_application(const Machine &machine) {
        as_application(machine, [&] {
            machine.start(kDriver);
            return 0;
        });
    }
    static void compile(const Machine &machine, int from, int to) {
        as_application(machine, [&] {
            machine.put_programs(kDriver, from, to);
            return 0;
        });
    }
    static int found(const Machine &machine, int from, int to) {
        return as_application(machine, [&] { return machine.programs_found(kDriver, from, to); });
    }
    std::size_t entries_there() const {
        const Json remote = status(second_);
        const Json &applications = remote["applications"];
        if (applications.empty() || applications[0]["for_this_machine"].empty()) return 0;
        return applications[0]["for_this_machine"][0]["entries"];
    }
    static unsigned rounds() {
        const char *const text = std::getenv("CAIRN_FLEET_KILLS");
        return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : 12;
    }
};

TEST_F(AgentServeTest, AStartPullsAndTheNextOneIsWarm) {
    first_.put_programs(kDriver, 0, 30);
    push(first_);
    const AgentProcess agent(second_);
    start_application(second_);
    ASSERT_TRUE(agent.says("pulled 30 entries")) << agent.said();
    EXPECT_EQ(found(second_, 0, 31), 30);
}

TEST_F(AgentServeTest, WhatIsCompiledIsPushedAndReachesTheOthers) {
    const AgentProcess first(first_);
    const AgentProcess second(second_);
    compile(first_, 0, 20);
    ASSERT_TRUE(first.says("pushed 20 entries")) << first.said();
    start_application(second_);
    ASSERT_TRUE(second.says("pulled 20 entries")) << second.said();
    EXPECT_EQ(found(second_, 0, 20), 20);
    // Later ones go, and come, too.
    compile(first_, 20, 25);
    ASSERT_TRUE(first.says("pushed 5 entries")) << first.said();
    // A start within five minutes after a pull does not pull: these are 300 ms here.
    std::this_thread::sleep_for(milliseconds(400));
    start_application(second_);
    ASSERT_TRUE(second.says("pulled 5 entries")) << second.said();
    EXPECT_EQ(found(second_, 0, 25), 25);
    expect_whole(url_);
}

TEST_F(AgentServeTest, WhatIsNotSharedStaysHere) {
    std::ofstream(first_.configuration() + "/config") << "[application other]\nshare = 1\n";
    const AgentProcess agent(first_);
    compile(first_, 0, 5);
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_FALSE(fs::exists(storage_)) << agent.said();
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
    compile(first_, 0, 5);
    EXPECT_TRUE(agent.says("pushed 5 entries")) << agent.said();
}

TEST_F(AgentServeTest, UsesNoProcessorWhereNothingStarts) {
    const AgentProcess agent(first_);
    compile(first_, 0, 5);
    ASSERT_TRUE(agent.says("pushed 5 entries")) << agent.said();
    // Until all that the start has asked for is done.
    std::this_thread::sleep_for(milliseconds(1500));
    const std::uint64_t ticks = agent.ticks();
    const std::uint64_t switches = agent.status("voluntary_ctxt_switches");
    std::this_thread::sleep_for(milliseconds(1000));
    EXPECT_EQ(agent.ticks(), ticks);
    EXPECT_EQ(agent.status("voluntary_ctxt_switches"), switches) << "it woke up";
}

// 20,000 programs of 3 kB that do not become smaller: 60 MB.
void put_many(const Machine &machine) {
    cairn_cache *const cache = machine.open_programs(kDriver);
    std::mt19937_64 random(1);
    std::string value(3'000, '\0');
    for (int i = 0; i < 20'000; ++i) {
        for (std::size_t at = 0; at < value.size(); at += 8) {
            const std::uint64_t word = random();
            std::memcpy(value.data() + at, &word, 8);
        }
        const std::string key = Machine::key_of(i);
        const cairn_put_options options = {sizeof options, 0, 1000};
        // Busy: it is put faster than it is written.
        while (cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options) ==
               CAIRN_ERROR_BUSY) {
            std::this_thread::sleep_for(milliseconds(1));
        }
    }
    cairn_close(cache);
}

#ifndef __SANITIZE_ADDRESS__  // which takes memory of its own
TEST_F(AgentServeTest, ItsMemoryIsBoundedWhateverAnApplicationHas) {
    constexpr std::uint64_t kMostKib = 64 << 10;
    as_application(first_, [&] {
        put_many(first_);
        return 0;
    });
    const AgentProcess first(first_);
    start_application(first_);
    ASSERT_TRUE(first.says("pushed 20000 entries")) << first.said();
    EXPECT_LT(first.status("VmHWM"), kMostKib);
    const AgentProcess second(second_);
    start_application(second_);
    ASSERT_TRUE(second.says("pulled 20000 entries")) << second.said();
    EXPECT_LT(second.status("VmHWM"), kMostKib);
    RecordProperty("push_kib", std::to_string(first.status("VmHWM")));
    RecordProperty("pull_kib", std::to_string(second.status("VmHWM")));
}
#endif

TEST_F(AgentServeTest, KilledWhileItPushesItListsNothingThatIsNotThere) {
    std::mt19937 random(7);
    int programs = 0;
    for (unsigned i = 0; i < rounds(); ++i) {
        AgentProcess agent(first_);
        compile(first_, programs, programs + 10);
        programs += 10;
        // A push begins 60 to 90 ms later.
        std::this_thread::sleep_for(milliseconds(55 + random() % 80));
        agent.signal(SIGKILL);
        EXPECT_EQ(agent.wait(), 1000 + SIGKILL);
        expect_whole(url_);
    }
    const AgentProcess agent(first_);
    start_application(first_);
    second_.start(kDriver);
    EXPECT_TRUE(eventually([&] {
        std::this_thread::sleep_for(milliseconds(50));
        return entries_there() == static_cast<std::size_t>(programs);
    })) << agent.said();
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, programs), programs);
    expect_whole(url_);
}

TEST_F(AgentServeTest, KilledWhileItPullsItLeavesTheOldPackOrTheNewOne) {
    std::mt19937 random(7);
    for (unsigned i = 0; i < rounds(); ++i) {
        const int from = static_cast<int>(i) * 10;
        first_.put_programs(kDriver, from, from + 10);
        push(first_);
        AgentProcess agent(second_);
        start_application(second_);
        std::this_thread::sleep_for(milliseconds(random() % 40));
        agent.signal(SIGKILL);
        EXPECT_EQ(agent.wait(), 1000 + SIGKILL);
        // Of what is pulled at once all is there or nothing.
        EXPECT_EQ(found(second_, from, from + 10) % 10, 0);
    }
    const AgentProcess agent(second_);
    start_application(second_);
    const int all = static_cast<int>(rounds()) * 10;
    EXPECT_TRUE(agent.says("pull gl-game: done with studio")) << agent.said();
    EXPECT_EQ(second_.programs_found(kDriver, 0, all), all);
}

}  // namespace
}  // namespace cairn::fleet_test
