// SPDX-License-Identifier: MIT
// Machines share by each kind of storage, on real servers, and none of them notices which it is.
#include <gmock/gmock.h>

#include "backends.h"
#include "fleet_fixture.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using ::testing::HasSubstr;

constexpr const char *kDriver = "driver 1";

class EnginesTest : public FleetTest, public ::testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        const std::string why = cairn_test::Backend::why_missing(GetParam());
        if (!why.empty()) GTEST_SKIP() << why;
        cairn_test::prepare_environment();
        static int count = 0;
        url_ = cairn_test::Backend::of(GetParam()).url("fleet" + std::to_string(++count));
        third_.make_key("farm");
        third_.trust(first_.key("ci"));
        second_.trust(third_.key("farm"));
    }
    std::string push_third() const { return third_.done(third_words()); }
    Words third_words() const { return {"push", "--remote", url_, "--sign", "farm", "game"}; }
    std::string gc(const Words &options = {}) const {
        Words words = {"remote", "gc", "--remote", url_};
        words.insert(words.end(), options.begin(), options.end());
        return third_.done(words);
    }

    const Machine third_;
};

INSTANTIATE_TEST_SUITE_P(Each, EnginesTest, ::testing::ValuesIn(cairn_test::kAllBackends),
                         [](const auto &each) { return each.param; });

TEST_P(EnginesTest, EachMachineFindsWhatTheOthersHavePushed) {
    EXPECT_THAT(pull(second_), HasSubstr("nothing of this"));
    first_.put_programs(kDriver, 0, 60);
    EXPECT_THAT(push(first_), HasSubstr("pushed 60 entries in 1 pack"));
    EXPECT_THAT(push(first_), HasSubstr("nothing new"));
    second_.start(kDriver);
    EXPECT_THAT(pull(second_), HasSubstr("pulled 60 entries in 1 pack"));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 61), 60);
    third_.start(kDriver);
    pull(third_);
    third_.put_programs(kDriver, 60, 70);
    EXPECT_THAT(push_third(), HasSubstr("pushed 10 entries in 1 pack"));
    EXPECT_THAT(pull(second_), HasSubstr("pulled 10 entries in 1 pack"));
    EXPECT_THAT(pull(second_), HasSubstr("all of 70 entries there is here"));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 70), 70);
    const Whole whole = expect_whole(url_);
    EXPECT_EQ(whole.manifests, 2u);
    EXPECT_EQ(whole.packs, 2u);
}

TEST_P(EnginesTest, ADriverWithoutCachesHereIsNotTouched) {
    first_.put_programs(kDriver, 0, 10);
    Machine::put(first_.open_plain("engine"), "teapot", "I am a teapot.");
    push(first_);
    push(first_, "engine");
    second_.start("driver 2");
    EXPECT_THAT(pull(second_), HasSubstr("nothing for this machine's"));
    EXPECT_EQ(second_.programs_found("driver 2", 0, 10), 0);
    pull(second_, "engine");
    EXPECT_EQ(Machine::get(second_.open_plain("engine"), "teapot"), "I am a teapot.");
}

TEST_P(EnginesTest, StatusAndTidyingSeeTheSameEverywhere) {
    first_.put_programs(kDriver, 0, 20);
    push(first_);
    third_.put_programs(kDriver, 20, 30);
    push_third();
    second_.put_programs(kDriver, 0, 5);
    const Json remote = status(second_);
    EXPECT_EQ(remote["reachable"], true);
    const Json mine = remote["applications"][0]["for_this_machine"][0];
    EXPECT_EQ(mine["entries"], 30);
    EXPECT_EQ(mine["entries_not_here"], 25);
    EXPECT_EQ(mine["machines"], 2);
    EXPECT_EQ(mine["packs"], 2);
    EXPECT_THAT(gc(), HasSubstr("0 manifests and 0 packs removed"));
    EXPECT_THAT(gc({"--max-bytes", "1", "--dry-run"}), HasSubstr("2 manifests and 0 packs"));
    // Packs are too young to go with them.
    EXPECT_THAT(gc({"--max-bytes", "1"}), HasSubstr("2 manifests and 0 packs removed"));
    EXPECT_EQ(expect_whole(url_).manifests, 0u);
    // Each publishes again what it has.
    EXPECT_THAT(push(first_), HasSubstr("pushed 20 entries"));
    EXPECT_THAT(push_third(), HasSubstr("pushed 10 entries"));
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 30), 30);
    expect_whole(url_);
}

TEST_P(EnginesTest, PushesAndPullsAtTheSameTimeLoseNothing) {
    if (GetParam() == "http") GTEST_SKIP() << "one machine at a time writes to a web server";
    for (int round = 0; round < 2; ++round) {
        first_.put_programs(kDriver, round * 40, round * 40 + 20);
        third_.put_programs(kDriver, round * 40 + 20, round * 40 + 40);
        second_.start(kDriver);
        std::vector<std::unique_ptr<cli_test::Program>> programs;
        const auto begin = [&](const Machine &machine, const Words &words) {
            programs.push_back(std::make_unique<cli_test::Program>(cli_test::cairn_command(words),
                                                                   machine.environment()));
        };
        begin(first_, push_words());
        begin(third_, third_words());
        begin(second_, pull_words());
        begin(first_, push_words());
        for (const auto &program : programs) {
            EXPECT_EQ(program->wait(), 0) << program->standard_error();
        }
        expect_whole(url_);
    }
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 80), 80);
    // Two manifests of one machine become one.
    push(first_);
    EXPECT_EQ(expect_whole(url_).manifests, 2u);
}

}  // namespace
}  // namespace cairn::fleet_test
