// SPDX-License-Identifier: MIT
// Each fault of a network or a server, at each kind of server: commands end in time, say which remote it is and no
// secret, believe nothing that is wrong, list nothing that is not there, and the next run makes up for it.
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <vector>

#include "faulty_storage.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::Backend;
using cairn_test::Fault;
using cli_test::Program;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;

constexpr const char *kDriver = "driver 1";
// Of a command: a call on a remote takes a minute at most, and the first that fails is the last.
constexpr seconds kBound{75};

std::unique_ptr<Program> begin(const Machine &machine, const Words &words) {
    return std::make_unique<Program>(cli_test::cairn_command(words), machine.environment());
}

// A storage with one fault, and a machine that pulls there.
struct Trial {
    Trial(const std::string &kind, Fault with, std::size_t bytes)
        : name(kind + " " + fault_name(with) + " after " + std::to_string(bytes)),
          fault(with),
          after(bytes),
          storage(kind) {}
    bool must_fail() const {
        const bool is_inside = fault == Fault::hang_inside || fault == Fault::cut;
        return is_inside
                   ? after < 100
                   : fault != Fault::slow && fault != Fault::longer && fault != Fault::shorter;
    }

    const std::string name;
    const Fault fault;
    const std::size_t after;  // so many bytes of an answer
    FaultyStorage storage;
    Machine reader;
    std::unique_ptr<Program> push, pull;
};

class EachFaultTest : public FaultsTest {
  protected:
    void SetUp() override {
        FaultsTest::SetUp();
        first_.put_programs(kDriver, 0, 10);
        for (const char *backend : {"http", "s3", "redis"}) {
            if (!Backend::why_missing(backend).empty()) continue;
            for (const Fault fault : {Fault::refuse, Fault::hang, Fault::hang_inside, Fault::cut,
                                      Fault::slow, Fault::garbage, Fault::longer, Fault::shorter}) {
                add(backend, fault, 10);
            }
            // In the middle of a list, a manifest or a pack.
            for (const Fault fault : {Fault::hang_inside, Fault::cut}) add(backend, fault, 700);
        }
        if (trials_.empty()) GTEST_SKIP() << "there is no server";
        first_.put_programs(kDriver, 10, 20);
    }
    void add(const std::string &backend, Fault fault, std::size_t after) {
        trials_.push_back(std::make_unique<Trial>(backend, fault, after));
        const Trial &trial = *trials_.back();
        first_.done(push_words_to(trial.storage.direct));
        trial.reader.trust(first_.key("ci"));
        trial.reader.start(kDriver);
    }
    // All at once, since most of that is waiting.
    void push_and_pull_at_once() {
        for (const auto &trial : trials_) trial->storage.proxy.set(trial->fault, trial->after);
        const auto start = steady_clock::now();
        for (const auto &trial : trials_) {
            trial->push = begin(first_, push_words_to(trial->storage.through));
            trial->pull = begin(trial->reader, pull_words_from(trial->storage.through));
        }
        for (const auto &trial : trials_) {
            SCOPED_TRACE(trial->name);
            for (Program *program : {trial->push.get(), trial->pull.get()}) {
                const int code = program->wait();
                const std::string said = program->standard_error();
                EXPECT_THAT(code, AnyOf(0, 1)) << said;
                EXPECT_TRUE(code == 1 || !trial->must_fail()) << said;
                EXPECT_TRUE(code == 0 || said.find(trial->storage.through) != std::string::npos)
                    << said;
                expect_no_secret(said);
            }
        }
        EXPECT_LT(steady_clock::now() - start, kBound);
    }

    std::vector<std::unique_ptr<Trial>> trials_;
};

TEST_F(EachFaultTest, EndsInTimeAndHarmsNothingAndTheNextRunCompletes) {
    push_and_pull_at_once();
    for (const auto &trial : trials_) {
        SCOPED_TRACE(trial->name);
        trial->storage.proxy.set(Fault::none);
        EXPECT_GE(expect_whole(trial->storage.direct).packs, 1u);
        EXPECT_EQ(trial->reader.programs_found(kDriver, 0, 20) % 10, 0);
        first_.done(push_words_to(trial->storage.through));
        trial->reader.done(pull_words_from(trial->storage.through));
        EXPECT_EQ(trial->reader.programs_found(kDriver, 0, 20), 20);
        expect_whole(trial->storage.direct);
    }
}

}  // namespace
}  // namespace cairn::fleet_test
