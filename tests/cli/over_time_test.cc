// SPDX-License-Identifier: MIT
// `cairn stats` over time, and `cairn metrics`, of what processes have counted.
#include <cairn/cairn_program_cache.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "counting.h"
#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class OverTimeTest : public testing::Test {
  protected:
    Finished run(const std::vector<std::string> &arguments) const {
        return cairn(arguments, {{"CAIRN_DIR", root_}});
    }
    std::string text(const std::vector<std::string> &arguments) const {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
        EXPECT_EQ(finished.standard_error, "");
        return finished.standard_output;
    }
    nlohmann::json json(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        return nlohmann::json::parse(text(arguments));
    }
    // Today, four days ago, ten days ago, and too long ago.
    void count_four_days() const {
        count(root_, "game", 0xabc, 0,
              {{count_of(Outcome::hit_disk), 3}, {Number::saved_ns, 9'000'000}});
        count(root_, "game", 0xabc, 4,
              {{count_of(Outcome::never_seen), 1},
               {ns_of(Outcome::never_seen), 2'000'000},
               {Number::stored, 2}});
        count(root_, "other", 0, 10, {{count_of(Outcome::hit_memory), 10}, {Number::evicted, 4}});
        count(root_, "game", 0xdef, 200, {{count_of(Outcome::hit_pack), 100}, {Number::starts, 5}});
    }

    Folder folder_;
    const std::string root_ = folder_ / "root";
};

TEST_F(OverTimeTest, WithoutNumbersItSaysSo) {
    EXPECT_THAT(text({"stats"}), HasSubstr("No numbers yet: no application has"));
    EXPECT_THAT(text({"stats", "today"}), HasSubstr("No numbers yet: "));
    EXPECT_EQ(json({"stats"})["over_time"]["all"]["total"]["lookups"], 0);
    EXPECT_THAT(text({"metrics"}), HasSubstr("\ncairn_caches_unreadable 0\n"));
    EXPECT_FALSE(fs::exists(root_)) << "looking must not create anything";
    count_four_days();
    EXPECT_THAT(
        text({"stats", "today", "--application", "gmae"}),
        HasSubstr(
            "No numbers yet of `gmae` (did you mean `game`?); there are numbers of game, other."));
    EXPECT_THAT(text({"stats", "today", "--application", "other"}),
                HasSubstr("No program was looked up today."));
}

TEST_F(OverTimeTest, ASpanHasItsDays) {
    count_four_days();
    const auto over_time = json({"stats"})["over_time"];
    EXPECT_EQ(over_time["today"]["total"]["lookups"], 3);
    EXPECT_EQ(over_time["today"]["applications"].size(), 1u);
    EXPECT_EQ(over_time["week"]["total"]["lookups"], 4);
    EXPECT_EQ(over_time["week"]["total"]["hits"], 3);
    EXPECT_EQ(over_time["all"]["total"]["lookups"], 114);
    ASSERT_EQ(over_time["all"]["applications"].size(), 2u);
    const auto &game = over_time["all"]["applications"][0];
    EXPECT_EQ(game["application"], "game");
    EXPECT_EQ(game["outcomes"]["never-seen"]["programs"], 1);
    EXPECT_EQ(game["outcomes"]["never-seen"]["spent_ns"], 2'000'000);
    EXPECT_EQ(game["outcomes"]["hit-pack"]["programs"], 100);
    EXPECT_EQ(game["saved_ns"], 9'000'000);
    EXPECT_EQ(game["compile_ns"], 2'000'000);
    EXPECT_EQ(game["stored"], 2);
    EXPECT_EQ(game["starts"], 5);
    EXPECT_FALSE(game.contains("generations"));
    ASSERT_EQ(over_time["days"].size(), 3u) << "no day of what is too long ago";
    EXPECT_EQ(over_time["days"][0]["total"]["evicted"], 4);
    EXPECT_THAT(over_time["days"][0]["day"].get<std::string>(),
                testing::MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}"));
}

TEST_F(OverTimeTest, OneSpanAndOneApplicationCanBeChosen) {
    count_four_days();
    const auto week = json({"stats", "week"});
    EXPECT_EQ(week["over_time"].size(), 1u);
    EXPECT_EQ(week["over_time"]["week"]["total"]["lookups"], 4);
    EXPECT_EQ(
        json({"stats", "all", "--application", "other"})["over_time"]["all"]["total"]["lookups"],
        10);
    EXPECT_EQ(json({"stats", "--application", "gl-other"})["over_time"]["all"]["total"]["lookups"],
              10);
    const auto all = json({"stats", "all", "--by-generation"});
    const auto &generations = all["over_time"]["all"]["applications"][0]["generations"];
    ASSERT_EQ(generations.size(), 2u);
    EXPECT_EQ(generations[0]["generation"], "0000000000000abc");
    EXPECT_EQ(generations[0]["lookups"], 4);
    EXPECT_EQ(generations[1]["generation"], "earlier");
    EXPECT_EQ(generations[1]["lookups"], 100);
}

TEST_F(OverTimeTest, PeopleReadIt) {
    count_four_days();
    const std::string all = text({"stats", "all"});
    EXPECT_THAT(all, HasSubstr("game\n    103 of 104 programs from the cache (99.0 %)\n"));
    EXPECT_THAT(
        all,
        HasSubstr("    found: 3 from disk, 100 from a pack\n    compiled: 1 never seen before\n"));
    EXPECT_THAT(all, HasSubstr("about 9.0 ms saved; compiling took 2.0 ms"));
    EXPECT_THAT(all, HasSubstr("2 applications since counting began\n    113 of 114 programs"));
    EXPECT_THAT(text({"stats", "all", "--by-generation"}),
                HasSubstr("generation 0000000000000abc: 3 of 4"));
    const std::string plain = text({"stats"});
    EXPECT_THAT(plain, HasSubstr("No caches in "));
    EXPECT_THAT(plain, HasSubstr("today: 3 of 3 programs from the cache (100.0 %)"));
    EXPECT_THAT(plain, HasSubstr("week:  3 of 4 programs"));
}

TEST_F(OverTimeTest, CachesAreNarrowedToo) {
    count_four_days();
    for (const char *application : {"gl-game", "gl-other"}) {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.application = application;
        options.identity = "driver";
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
        cairn_close(cache);
    }
    EXPECT_EQ(json({"stats"})["caches"].size(), 2u);
    const auto narrowed = json({"stats", "--application", "game"});
    EXPECT_EQ(narrowed["total"]["caches"], 1);
    EXPECT_EQ(narrowed["caches"][0]["application"], "game");
    EXPECT_THAT(text({"metrics"}), HasSubstr("application=\"game\"} 0\n"));
}

TEST_F(OverTimeTest, WrongUsageIsRefused) {
    const std::vector<std::vector<std::string>> wrong = {
        {"stats", "yesterday"},          {"stats", "todya"},
        {"stats", "today", "week"},      {"stats", "--forget", "today"},
        {"stats", "--forget", "--json"}, {"metrics", "file"}};
    for (const auto &arguments : wrong) {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.exit_code, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(finished.standard_error, HasSubstr("--help"));
    }
    EXPECT_THAT(run({"stats", "todya"}).standard_error, HasSubstr("did you mean `today`"));
}

TEST_F(OverTimeTest, NumbersAreForgotten) {
    count_four_days();
    EXPECT_THAT(text({"stats", "--forget", "--application", "game"}),
                HasSubstr("Forgot the numbers of `game`"));
    EXPECT_EQ(json({"stats", "all"})["over_time"]["all"]["total"]["lookups"], 10);
    EXPECT_THAT(text({"stats", "--forget", "--yes"}),
                HasSubstr("Forgot the numbers of all applications"));
    EXPECT_THAT(text({"stats", "all"}), HasSubstr("No numbers yet"));
    EXPECT_THAT(text({"stats", "--forget"}), HasSubstr("Forgot"));
}

TEST_F(OverTimeTest, AtATerminalItAsksBeforeItForgets) {
    count_four_days();
    TerminalProgram refused(cairn_command({"stats", "--forget"}), {{"CAIRN_DIR", root_}});
    ASSERT_TRUE(refused.wait_for("Forget the numbers of all applications in " + root_ + "? [y/N]"));
    refused.type("n\n");
    EXPECT_EQ(refused.wait(), 1);
    EXPECT_EQ(json({"stats", "all"})["over_time"]["all"]["total"]["lookups"], 114);
    TerminalProgram sure(cairn_command({"stats", "--forget", "-y"}), {{"CAIRN_DIR", root_}});
    EXPECT_EQ(sure.wait(), 0);
    EXPECT_EQ(json({"stats", "all"})["over_time"]["all"]["total"]["lookups"], 0);
}

TEST_F(OverTimeTest, MetricsHaveEachOutcomeOfEachApplication) {
    count_four_days();
    const std::string metrics = text({"metrics"});
    for (const char *line :
         {"cairn_lookups_total{application=\"game\",outcome=\"hit-pack\"} 100",
          "cairn_lookups_total{application=\"game\",outcome=\"evicted\"} 0",
          "cairn_lookup_seconds_total{application=\"game\",outcome=\"never-seen\"} 0.002000000",
          "cairn_saved_seconds_total{application=\"game\"} 0.009000000",
          "cairn_evicted_entries_total{application=\"other\"} 4",
          "cairn_starts_total{application=\"game\"} 5", "# TYPE cairn_lookups_total counter",
          "# TYPE cairn_cache_entries gauge"}) {
        EXPECT_THAT(metrics, HasSubstr(std::string(line) + "\n"));
    }
    EXPECT_THAT(metrics, HasSubstr("cairn_build_info{version=\""));
}

TEST_F(OverTimeTest, TotalsDoNotFallWhenDaysGo) {
    count_four_days();
    const std::string line = "cairn_lookups_total{application=\"game\",outcome=\"hit-pack\"} ";
    EXPECT_THAT(text({"metrics"}), HasSubstr(line + "100\n"));
    // These claim rows, and fold what is too long ago.
    count(root_, "third", 0, 0, {{Number::starts, 1}});
    count(root_, "game", 0xdef, 0, {{count_of(Outcome::hit_pack), 1}});
    EXPECT_THAT(text({"metrics"}), HasSubstr(line + "101\n"));
}

TEST_F(OverTimeTest, NamesOfApplicationsSpoilNothing) {
    count(root_, "a\"b\\c\nd\xff\x1b[31m", 0, 0, {{Number::starts, 1}});
    count(root_, "a\"b\\c\nd\xfe\x1b[31m", 0, 0, {{Number::starts, 2}});
    EXPECT_THAT(text({"metrics"}),
                HasSubstr("\ncairn_starts_total{application=\"a\\\"b\\\\c?d??[31m\"} 3\n"));
    EXPECT_THAT(text({"stats", "today"}), Not(HasSubstr("\x1b")));
    EXPECT_EQ(json({"stats"})["over_time"]["today"]["applications"].size(), 2u);
}

TEST_F(OverTimeTest, AnOutputFileIsReplacedAsAWhole) {
    count_four_days();
    const std::string file = folder_.write("cairn.prom", "old");
    EXPECT_EQ(text({"metrics", "--output", file}), "");
    EXPECT_EQ(read_file(file), text({"metrics"}));
    EXPECT_EQ(run({"metrics", "--output", folder_ / "nowhere/cairn.prom"}).exit_code, 1);
    struct stat status = {};
    ASSERT_EQ(::stat((folder_ / "cairn.prom").c_str(), &status), 0);
    EXPECT_EQ(text({"metrics", "--output", "-"}), text({"metrics"}));
}

TEST_F(OverTimeTest, ACacheThatCannotBeReadIsCounted) {
    count_four_days();
    fs::create_directory(root_ + "/broken");
    folder_.write("root/broken/00000001.lock", "");
    const std::string metrics = text({"metrics"});
    EXPECT_THAT(metrics, HasSubstr("cairn_lookups_total{"));
    EXPECT_THAT(metrics, HasSubstr("\ncairn_caches_unreadable "));
}

// A dashboard for Grafana uses only what there is.
TEST_F(OverTimeTest, EveryMetricOfTheDashboardExists) {
    count_four_days();
    const std::string metrics = text({"metrics"});
    const auto dashboard = nlohmann::json::parse(read_file(CLI_DASHBOARD));
    EXPECT_FALSE(dashboard["panels"].empty());
    std::set<std::string> used;
    for (const std::string &expression : expressions_of(dashboard)) {
        const auto names = metrics_in(expression);
        EXPECT_FALSE(names.empty()) << expression;
        used.insert(names.begin(), names.end());
    }
    EXPECT_GE(used.size(), 8u);
    for (const std::string &name : used) {
        EXPECT_THAT(metrics, HasSubstr("# TYPE " + name + " ")) << name;
    }
}

}  // namespace
}  // namespace cairn::cli_test
