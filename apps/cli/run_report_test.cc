// SPDX-License-Identifier: MIT
#include "run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(RunReport, SaysWhyNothingPassedThrough) {
    RunResult result = cached_run();
    result.report.link_calls = 0;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("2 contexts were created")));
    result.report.contexts = 0;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("no context was created")));
    result.report.processes = 0;
    EXPECT_THAT(report_lines(result), ElementsAre(HasSubstr("did not use EGL")));
    result.problem = "the EGL front end cannot be read";
    EXPECT_THAT(report_lines(result),
                ElementsAre("ran uncached: the EGL front end cannot be read"));
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
        "processes",  "contexts",        "compile_calls", "compile_ns", "link_calls",
        "link_ns",    "driver_compiles", "driver_links",  "hits",       "misses",
        "rejected",   "stored",          "store_failed",  "bypassed",   "saved_ns",
        "bytes_read", "bytes_written",   "overhead_ns"};
    for (size_t i = 0; i < names.size(); ++i) {
        counters[1 + i] = 100 + i;
    }
    const auto json = report_json(result);
    EXPECT_EQ(json["command"], (std::vector<std::string>{"app", "--option"}));
    EXPECT_EQ(json["exit_code"], 137);
    EXPECT_EQ(json["signal"], 9);
    EXPECT_TRUE(json["problem"].is_null());
    ASSERT_EQ(json["report"].size(), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(json["report"][names[i]], 100 + i) << names[i];
    }
}

}  // namespace
}  // namespace cairn::cli
