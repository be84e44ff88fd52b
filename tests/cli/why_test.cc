// SPDX-License-Identifier: MIT
// `cairn why`, of runs that applications have left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "histories.h"
#include "history/counters.h"
#include "program.h"

namespace cairn::cli_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class WhyTest : public testing::Test {
  protected:
    Finished why(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "why");
        return cairn(arguments, {{"CAIRN_DIR", root_}, {"TZ", "UTC"}});
    }
    nlohmann::json json(std::vector<std::string> arguments = {}) const {
        arguments.emplace_back("--json");
        const Finished finished = why(arguments);
        EXPECT_EQ(finished.exit_code, 0) << finished.standard_error;
        return nlohmann::json::parse(finished.standard_output);
    }

    Folder folder_;
    const std::string root_ = folder_ / "root";
};

TEST_F(WhyTest, WithoutRunsItSaysWhatToDo) {
    const Finished none = why({});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.standard_error, HasSubstr("no run is remembered in " + root_));
    EXPECT_THAT(none.standard_error, HasSubstr("`cairn run -- APP`"));
    EXPECT_FALSE(std::filesystem::exists(root_));
    { HistoryRun(root_, "gl-game", "GL_VERSION: 1\n"); }
    EXPECT_EQ(why({}).exit_code, 1) << "it linked nothing";
    { HistoryRun(root_, "gl-game", "GL_VERSION: 1\n").hit(1, 1); }
    EXPECT_THAT(why({"gane"}).standard_error, HasSubstr("did you mean `game`?"));
    EXPECT_EQ(why({"--run", "2"}).exit_code, 1);
    EXPECT_THAT(why({"--run", "2"}).standard_error,
                HasSubstr("there is no run 2: 1 is remembered"));
    EXPECT_EQ(why({"--run", "x"}).exit_code, 2);
    EXPECT_EQ(why({"--run", "0"}).exit_code, 2);
    EXPECT_EQ(why({"--run", "1", "--last"}).exit_code, 2);
    EXPECT_EQ(why({"--programs", "-1"}).exit_code, 2);
}

TEST_F(WhyTest, ShowsTheLastRunAndWhatCostMost) {
    {
        HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
        run.hit(3, 2'000'000);
        run.miss(Outcome::never_seen, 5'000'000, 0x11);
        run.miss(Outcome::never_seen, 90'000'000, 0x22);
        run.miss(Outcome::not_cacheable, 1'000'000, 0, Detail::linked_before);
        LinkKey key;
        key.fill(0x22);
        run.history().keep_sources(key, "vertex:\nvoid main() {}\033[2J\n");
    }
    const std::string text = why({}).standard_output;
    EXPECT_THAT(text, HasSubstr("Runs, the last one first:\n   1  20"));
    EXPECT_THAT(text, HasSubstr("game: 3 of 6 programs from the cache\n"));
    EXPECT_THAT(text, HasSubstr("about 6.0 ms saved"));
    EXPECT_THAT(text, HasSubstr("       2  never seen before             95.0 ms\n"));
    EXPECT_THAT(text, HasSubstr("the program was linked before and may be in use\n"));
    EXPECT_THAT(text, HasSubstr("Programs that cost most:\n   90.0 ms  2222222222222222"));
    EXPECT_THAT(text, HasSubstr("| void main() {}?[2J\n")) << "nothing steers the terminal";
    EXPECT_THAT(why({"--last"}).standard_output, Not(HasSubstr("Runs, the last")));
    EXPECT_THAT(why({"--last", "--programs", "1"}).standard_output, Not(HasSubstr("11111111")));

    const auto run = json()["run"];
    EXPECT_EQ(run["application"], "game");
    EXPECT_EQ(run["is_running"], false);
    EXPECT_EQ(run["programs"], 6);
    EXPECT_EQ(run["hits"], 3);
    EXPECT_EQ(run["outcomes"]["never-seen"]["spent_ns"], 95'000'000);
    ASSERT_EQ(run["misses"].size(), 3u);
    EXPECT_EQ(run["misses"][1]["key"], std::string(32, '2'));
    EXPECT_EQ(run["misses"][1]["sources"], "vertex:\nvoid main() {}\033[2J\n");
    EXPECT_TRUE(run["misses"][2]["key"].is_null());
    EXPECT_EQ(run["has_older_misses"], false);
}

TEST_F(WhyTest, SaysHowDriversDiffer) {
    std::string older;
    {
        HistoryRun run(root_, "gl-game",
                       "GL_VERSION: 4.5 Mesa 22.3.6\nlibrary: libLLVM.so 11112222333344445555\n"
                       "library: libold.so 1\n");
        older = run.identifier();
        run.hit(1, 1);
    }
    HistoryRun run(root_, "gl-game",
                   "GL_VERSION: 4.6 Mesa 23.1.0\nlibrary: libLLVM.so 99992222333344445555\n"
                   "MESA_DEBUG=1\n");
    run.miss(Outcome::other_driver, 1'000'000, 0x33, Detail::none, generation_number(older));
    EXPECT_THAT(why({"--last"}).standard_output,
                HasSubstr("GL_VERSION from 4.5 Mesa 22.3.6 to 4.6 Mesa 23.1.0; "));
    const auto miss = json()["run"]["misses"][0];
    EXPECT_EQ(miss["other_cache"], older);
    ASSERT_EQ(miss["differences"].size(), 4u) << miss;
    EXPECT_EQ(miss["differences"][0]["field"], "GL_VERSION");
    EXPECT_EQ(json()["run"]["is_running"], true);
    EXPECT_EQ(json({"--run", "2"})["run"]["cache"], older);

    std::filesystem::remove_all(root_ + "/" + older);
    EXPECT_THAT(why({"--last"}).standard_output,
                HasSubstr("the other generation cannot be read any more"));
}

TEST_F(WhyTest, HostileFilesDoNoHarm) {
    std::string cache;
    {
        HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
        cache = root_ + "/" + run.identifier();
        run.miss(Outcome::other_driver, 1'000'000, 0x33, Detail::none, UINT64_MAX);
        run.miss(Outcome::other_context, 1'000'000, 0x33, Detail::none, UINT64_MAX);
        run.miss(Outcome::evicted, 1'000'000, 0x33, Detail::none, UINT64_MAX);
        run.miss(Outcome::unknown, UINT64_MAX, 0x33, static_cast<Detail>(255));
    }
    EXPECT_EQ(why({}).exit_code, 0);
    EXPECT_EQ(json()["run"]["misses"].size(), 4u);
    for (const char *text :
         {"", "x", "CNHISTL1CNHISTL1CNHISTL1CNHISTL1CNHISTL1CNHISTL1CNHISTL1CNHISTL1"}) {
        std::ofstream(cache + "/history") << text;
        EXPECT_EQ(why({}).exit_code, 1) << text;
    }
    std::filesystem::remove(cache + "/history");
    std::filesystem::create_directory(cache + "/history");
    EXPECT_EQ(why({}).exit_code, 1);
}

}  // namespace
}  // namespace cairn::cli_test
