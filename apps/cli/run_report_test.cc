// SPDX-License-Identifier: MIT
#include "run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cairn::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

RunResult cached_run() {
    RunResult result;
    result.command = {"app"};
    result.manifest = "/somewhere/cairn_egl.json";
    result.report.processes = 1;
    result.report.contexts = 2;
    return result;
}

TEST(RunReport, SaysWhatWasSaved) {
    RunResult result = cached_run();
    result.report.compile_calls = 66;
    result.report.compile_ns = 2'000'000;
    result.report.link_calls = 33;
    result.report.link_ns = 10'340'000;
    result.report.hits = 30;
    result.report.misses = 2;
    result.report.bypassed = 1;
    result.report.stored = 2;
    result.report.saved_ns = 345'600'000;
    EXPECT_THAT(
        report_lines(result),
        ElementsAre("30 of 33 programs from the cache, 2 not found, 1 of a kind that is not "
                    "cached; 2 entries stored",
                    "66 compiles and 33 links took 12.3 ms; about 345.6 ms saved"));
}

TEST(RunReport, SaysWhyProgramsWereCompiled) {
    RunResult result = cached_run();
    result.report.link_calls = 5;
    result.report.hits = 2;
    result.report.misses = 3;
    const auto set = [&result](Outcome outcome, uint64_t links, uint64_t spent_ns) {
        result.report.outcomes[static_cast<size_t>(outcome)] = links;
        result.report.outcome_ns[static_cast<size_t>(outcome)] = spent_ns;
    };
    set(Outcome::hit_disk, 2, 300'000);
    result.report.remembered = 3;
    EXPECT_EQ(report_lines(result).size(), 2u);
    set(Outcome::never_seen, 1, 9'900'000);
    set(Outcome::evicted, 2, 5'000);
    EXPECT_THAT(
        report_lines(result),
        ElementsAre("2 of 5 programs from the cache, 3 not found",
                    "compiled: 1 never seen before (9.9 ms), 2 evicted to make room (5 us); "
                    "`cairn why` says more",
                    HasSubstr("5 links")));
    const auto json = report_json(result)["report"]["outcomes"];
    EXPECT_EQ(json.size(), kOutcomes);
    EXPECT_EQ(json["evicted"]["programs"], 2);
    EXPECT_EQ(json["never-seen"]["spent_ns"], 9'900'000);
}

TEST(RunReport, SaysWhichWindowSystemWasUsed) {
    RunResult result = cached_run();
    result.report.link_calls = 1;
    EXPECT_THAT(report_lines(result).back(), testing::Not(HasSubstr("through")));
    result.report.glx_contexts = 1;
    EXPECT_THAT(report_lines(result).back(), EndsWith("; through EGL and GLX"));
    result.report.glx_contexts = 2;
    EXPECT_THAT(report_lines(result).back(), EndsWith("; through GLX"));
}

TEST(RunReport, SaysWhyNothingPassedThrough) {
    RunResult result = cached_run();
    result.report.link_calls = 0;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("2 contexts were created")));
    result.report.contexts = 0;
    result.report.processes = 0;
    result.report.displays = 1;
    result.report.loads = 1;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("no context was created")));
    result.report.displays = 0;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("no display was initialised")));
    result.report.loads = 0;
    EXPECT_THAT(report_lines(result), ElementsAre(AllOf(HasSubstr("was not seen to use EGL"),
                                                        HasSubstr("another `cairn run`"))));
    result.problem = "the EGL front end cannot be read";
    EXPECT_THAT(report_lines(result),
                ElementsAre("ran uncached: the EGL front end cannot be read"));
}

TEST(RunReport, SaysHowTheApplicationDrewInstead) {
    RunResult result = cached_run();
    result.report.contexts = 0;
    result.seen.vulkan = true;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("used Vulkan")));
    result.seen.past_us = true;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("cannot see or load")));
    result.seen.of_32_bits = true;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("a 32-bit program")));
    result.seen.cleared_environment = true;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("environment was cleared")));
    result.seen.glx = true;
    EXPECT_THAT(report_lines(result),
                ElementsAre(HasSubstr("libGLX_cairn.so.0) is not installed")));
    result.glx = "libGLX_cairn.so.0";
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("environment was cleared")));
    // A program that is cached may have all of that beside.
    result.report.contexts = 1;
    result.report.link_calls = 1;
    result.report.misses = 1;
    EXPECT_THAT(report_lines(result).front(), HasSubstr("0 of 1 program from the cache"));
}

TEST(RunReport, CountsTheBinariesOfTheApplication) {
    RunResult result = cached_run();
    result.report.own_binaries = 3;
    EXPECT_THAT(report_lines(result),
                ElementsAre(HasSubstr("a cache of its own, 3 programs came from that")));
    result.report.link_calls = 1;
    result.report.hits = 1;
    EXPECT_THAT(report_lines(result).front(),
                HasSubstr("1 of 1 program from the cache, 3 more from a cache of the "
                          "application's own"));
}

void set_problem(RunResult &result, uint64_t problem, const std::string &why) {
    result.report.problem = problem;
    why.copy(result.report.problem_text, sizeof result.report.problem_text);
}

TEST(RunReport, SaysWhyTheCacheWasNotUsed) {
    RunResult result = cached_run();
    result.report.link_calls = 1;
    result.report.misses = 1;
    EXPECT_TRUE(report_json(result)["cache_problem"].is_null());
    set_problem(result, kProblemNotUsed, "cannot use /x: read-only\033[2J");
    EXPECT_EQ(report_lines(result).back(),
              "the cache could not be used: cannot use /x: read-only?[2J");
    EXPECT_EQ(report_json(result)["cache_problem"], report_lines(result).back());
    result.report.hits = 1;
    EXPECT_THAT(report_lines(result).back(), StartsWith("a cache could not be used: "));
    // Not ended by a zero, as nobody of ours would leave it.
    set_problem(result, kProblemNotUsed, std::string(1000, 'x'));
    EXPECT_THAT(report_lines(result).back(), EndsWith("used: " + std::string(160, 'x')));
}

TEST(RunReport, SaysWhyAProcessWasNotServed) {
    RunResult result = cached_run();
    result.report.loads = 1;
    set_problem(result, kProblemNotServed, "the configuration says `enabled = 0` for game");
    const std::string why = "ran uncached: the configuration says `enabled = 0` for game";
    EXPECT_EQ(report_lines(result), std::vector<std::string>{why});
    result.report.link_calls = 1;
    result.report.hits = 1;
    EXPECT_EQ(report_lines(result).back(), "a process " + why) << "and another one was";
}

TEST(RunReport, SaysWhyEntriesCouldNotBeStored) {
    RunResult result = cached_run();
    result.report.link_calls = 1;
    result.report.hits = 1;
    set_problem(result, kProblemNotStored, "the disk is full");
    EXPECT_EQ(report_lines(result).size(), 2u) << "nothing was lost";
    result.report.store_failed = 2;
    EXPECT_EQ(report_lines(result).back(), "2 entries could not be stored: the disk is full");
}

TEST(RunReport, SaysWhenEntriesCouldNotBeStored) {
    RunResult result = cached_run();
    result.report.link_calls = 1;
    result.report.misses = 1;
    result.report.store_failed = 1;
    EXPECT_THAT(report_lines(result).back(), HasSubstr("1 entry could not be stored"));
}

TEST(RunReport, HitsSlowerThanCompilingSaveNothing) {
    RunResult result = cached_run();
    result.report.link_calls = 1;
    result.report.hits = 1;
    result.report.saved_ns = static_cast<uint64_t>(int64_t{-5});
    EXPECT_THAT(report_lines(result).back(), HasSubstr("about 0 ms saved"));
    EXPECT_EQ(report_json(result)["report"]["saved_ns"], 0);
}

TEST(RunReport, JsonHasEveryCounterAndHowTheApplicationEnded) {
    RunResult result = cached_run();
    result.command = {"app", "--option"};
    result.exit_code = 137;
    result.signal = 9;
    // Each counter gets the number of its place, so that none can stand for another.
    auto *counters = reinterpret_cast<uint64_t *>(&result.report);
    const std::vector<std::string> names = {
        "processes",   "contexts",        "compile_calls", "compile_ns", "link_calls",
        "link_ns",     "driver_compiles", "driver_links",  "hits",       "misses",
        "rejected",    "stored",          "store_failed",  "bypassed",   "saved_ns",
        "bytes_read",  "bytes_written",   "overhead_ns",   "loads",      "displays",
        "own_binaries"};
    for (size_t i = 0; i < names.size(); ++i) {
        counters[1 + i] = 100 + i;
    }
    result.report.glx_contexts = 99;
    const auto json = report_json(result);
    EXPECT_EQ(json["command"], (std::vector<std::string>{"app", "--option"}));
    EXPECT_EQ(json["exit_code"], 137);
    EXPECT_EQ(json["signal"], 9);
    EXPECT_TRUE(json["problem"].is_null());
    ASSERT_EQ(json["report"].size(), names.size() + 2);
    EXPECT_TRUE(json["report"]["outcomes"].is_object());
    EXPECT_EQ(json["report"]["glx_contexts"], 99);
    for (size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(json["report"][names[i]], 100 + i) << names[i];
    }
}

}  // namespace
}  // namespace cairn::cli
