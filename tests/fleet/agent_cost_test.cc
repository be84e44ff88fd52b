// SPDX-License-Identifier: MIT
// What an agent takes of its machine while its remote is in trouble and applications start all the time: hardly
// anything, at the speed at which it runs for users.
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "agent_process.h"
#include "faulty_storage.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::Backend;
using cairn_test::Fault;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr const char *kDriver = "driver 1";
constexpr seconds kTime{20};
// Between two starts on one machine.
constexpr milliseconds kPause{200};
// Of the processor: a hundredth of the time, and this to start the agent and for its first jobs.
constexpr std::uint64_t kShare = 100;
constexpr std::uint64_t kBeginMs = 100;
constexpr std::uint64_t kMostKib = 64 << 10;

// A program that does not become smaller: what comes at 1 kB in a second is not there in time.
void put_large(const Machine &machine) {
    std::mt19937 random(7);
    std::string value(200'000, '\0');
    for (char &each : value) each = static_cast<char>(random());
    Machine::put(machine.open_programs(kDriver), "large", value);
}

// A machine whose applications ask, and whose agent pulls, looks and pushes through a proxy that does this.
class MachineInTrouble {
  public:
    MachineInTrouble(const std::string &kind, Fault fault, const Machine &publisher)
        : name_(kind + ", " + cairn_test::fault_name(fault)), fault_(fault), storage_(kind) {
        publisher.done({"push", "--remote", storage_.direct, "--sign", "ci", "game"});
        machine_.make_key("own");
        machine_.trust(publisher.key("ci"));
        share(machine_, storage_.through, "own");
        std::ofstream(machine_.configuration() + "/config", std::ios::app) << "ask_ms = 20\n";
        compile(machine_, kDriver, 0, 5);
        storage_.proxy.set(fault);
        begin_ = steady_clock::now();
        agent_ = std::make_unique<AgentProcess>(machine_, /*speed=*/1);
    }
    void start() {
        start_application(machine_, kDriver);
        ++starts_;
    }
    void expect_little() const {
        SCOPED_TRACE(name_);
        // What is slow may still come.
        EXPECT_TRUE(fault_ == Fault::slow || agent_->says("is in trouble")) << agent_->said();
        EXPECT_EQ(agent_->said().find("pulled"), std::string::npos) << agent_->said();
        const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
        const std::uint64_t used_ms = agent_->ticks() * 1000 / per_second;
        const auto time = duration_cast<milliseconds>(steady_clock::now() - begin_);
        const std::uint64_t kib = agent_->status("VmHWM");
        std::cout << name_ << ": " << used_ms << " ms of the processor in " << time.count()
                  << " ms with " << starts_ << " starts, " << kib << " KiB, "
                  << storage_.proxy.connections() << " connections\n";
        EXPECT_LE(used_ms, kBeginMs + static_cast<std::uint64_t>(time.count()) / kShare);
        EXPECT_LT(kib, kMostKib);
        // It has heard of the starts. Many may come together.
        EXPECT_GE(agent_->status("voluntary_ctxt_switches"), 5u);
    }

  private:
    const std::string name_;
    const Fault fault_;
    FaultyStorage storage_;
    Machine machine_;
    steady_clock::time_point begin_;
    std::uint64_t starts_ = 0;
    std::unique_ptr<AgentProcess> agent_;
};

class AgentCostTest : public FaultsTest {
  protected:
    // All of them at once, as each takes the whole time.
    void add(const std::string &kind) {
        const std::string why = Backend::why_missing(kind);
        if (!why.empty()) {
            std::cout << "not with " << kind << ": " << why << "\n";
            return;
        }
        for (const Fault fault : {Fault::refuse, Fault::hang, Fault::garbage, Fault::slow}) {
            machines_.push_back(std::make_unique<MachineInTrouble>(kind, fault, first_));
        }
    }
    std::vector<std::unique_ptr<MachineInTrouble>> machines_;
};

TEST_F(AgentCostTest, ARemoteInTroubleCostsAHundredthOfAProcessorAtMost) {
    put_large(first_);
    add("s3");
    add("redis");
    if (machines_.empty()) GTEST_SKIP() << "no server is here";
    const auto end = steady_clock::now() + kTime;
    const auto pause = kPause / machines_.size();
    for (std::size_t i = 0; steady_clock::now() < end; ++i) {
        machines_[i % machines_.size()]->start();
        std::this_thread::sleep_for(pause);
    }
    for (const auto &machine : machines_) machine->expect_little();
}

}  // namespace
}  // namespace cairn::fleet_test
