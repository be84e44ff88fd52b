// SPDX-License-Identifier: MIT
// `cairn top`: at a terminal, and once for pipes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "histories.h"
#include "program.h"

namespace cairn::cli_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TopTest : public testing::Test {
  protected:
    Environment environment(const char *terminal = "xterm") const {
        return {{"CAIRN_DIR", root_}, {"TZ", "UTC"}, {"TERM", terminal}, {"LC_ALL", "C.UTF-8"}};
    }
    // What a terminal gets as it is given back: the other screen, and a cursor.
    static constexpr const char *kGivenBack = "\033[?1049l";

    Folder folder_;
    const std::string root_ = folder_ / "root";
};

TEST_F(TopTest, OnceSaysWhatGoesOn) {
    const auto once = [&] { return cairn({"top", "--once", "--interval", "0.5"}, environment()); };
    EXPECT_THAT(once().standard_output, HasSubstr("No application has linked a program"));
    HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
    run.hit(9, 1'000'000);
    EXPECT_THAT(once().standard_output, HasSubstr("1 application running"));
    std::atomic<bool> looked{false};
    std::thread working([&] {
        while (!looked) {
            run.hit(5, 1'000'000);
            run.miss(Outcome::damaged, 7'000'000, 0x44);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        run.history().note_making(true);
    });
    Finished during = once();
    // The thread that works may not get a turn meanwhile.
    for (int i = 0; i < 10 && during.standard_output.find(" 0.0 look-ups/s") != std::string::npos;
         ++i)
        during = once();
    looked = true;
    working.join();
    EXPECT_EQ(during.exit_code, 0);
    EXPECT_THAT(during.standard_output, HasSubstr("game "));
    EXPECT_THAT(during.standard_output, Not(HasSubstr(" 0.0 look-ups/s")));
    EXPECT_THAT(during.standard_output, HasSubstr("7.0 ms  damaged on disk\n"));
    EXPECT_THAT(once().standard_output, Not(testing::ContainsRegex("game .* - +[0-9.]+ ms")))
        << "it makes a program now";
}

TEST_F(TopTest, TwoProcessesOfAnApplicationAreOneApplication) {
    const HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
    const HistoryRun other(root_, "gl-game", "GL_VERSION: 2\n");
    EXPECT_THAT(cairn({"top", "--once", "--interval", "0.1"}, environment()).standard_output,
                HasSubstr("1 application running"));
    const HistoryRun third(root_, "gl-tool", "GL_VERSION: 1\n");
    EXPECT_THAT(cairn({"top", "--once", "--interval", "0.1"}, environment()).standard_output,
                HasSubstr("2 applications running"));
}

TEST_F(TopTest, OnceSaysWhatIsNotOnDiskYet) {
    const auto once = [&] {
        return cairn({"top", "--once", "--interval", "0.1"}, environment()).standard_output;
    };
    HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n"), other(root_, "gl-b", "GL_VERSION: 1\n");
    run.hit(1, 1'000'000);
    EXPECT_THAT(once(), Not(HasSubstr("not on disk yet")));
    run.history().note_queue(3, 3 << 10);
    EXPECT_THAT(once(), HasSubstr("3 entries (3.0 KiB) not on disk yet; "));
    other.history().note_queue(1, 1 << 10);
    EXPECT_THAT(once(), HasSubstr("4 entries (4.0 KiB) not on disk yet; "));
    EXPECT_THAT(once(), testing::ContainsRegex("game .* - +3 +1.0 ms"));
    run.history().note_queue(0, 0);
    EXPECT_THAT(once(), HasSubstr("1 entry (1.0 KiB) not on disk yet; "));
    other.history().note_queue(0, 0);
    EXPECT_THAT(once(), Not(HasSubstr("not on disk yet")));
}

TEST_F(TopTest, AtATerminalItEndsCleanlyHoweverItIsAsked) {
    HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
    run.hit(2, 1'000'000);
    for (const char *key : {"q", "\033", "\003"}) {
        TerminalProgram top(cairn_command({"top", "--interval", "0.2"}), environment());
        ASSERT_TRUE(top.wait_for("APPLICATION")) << top.shown();
        ASSERT_TRUE(top.wait_for("game")) << top.shown();
        top.type(key);
        EXPECT_EQ(top.wait(), 0);
        EXPECT_THAT(top.shown(), HasSubstr(kGivenBack));
    }
    for (const int signal : {SIGTERM, SIGHUP}) {
        TerminalProgram top(cairn_command({"top"}), environment());
        ASSERT_TRUE(top.wait_for("game")) << top.shown();
        top.send_signal(signal);
        EXPECT_EQ(top.wait(), 0);
        EXPECT_THAT(top.shown(), HasSubstr(kGivenBack));
    }
}

// What does not fit is left out, and comes back.
TEST_F(TopTest, ItFollowsTheSizeOfTheTerminal) {
    HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
    TerminalProgram top(cairn_command({"top"}), environment());
    top.resize(24, 120);
    ASSERT_TRUE(top.wait_for("EVICTED")) << top.shown();
    top.resize(5, 20);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    top.resize(40, 200);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    run.miss(Outcome::refused, 3'000'000, 0x44);
    EXPECT_TRUE(top.wait_for("refused by the driver")) << top.shown();
    top.type("q");
    EXPECT_EQ(top.wait(), 0);
}

TEST_F(TopTest, ItShowsWhatMissesMeanwhile) {
    HistoryRun run(root_, "gl-game", "GL_VERSION: 1\n");
    TerminalProgram top(cairn_command({"top", "--interval", "0.2"}), environment());
    ASSERT_TRUE(top.wait_for("game"));
    run.miss(Outcome::refused, 3'000'000, 0x44);
    EXPECT_TRUE(top.wait_for("refused by the driver")) << top.shown();
    top.type("q");
    EXPECT_EQ(top.wait(), 0);
}

TEST_F(TopTest, WhereThereIsNoTerminalItSaysWhatToDo) {
    const Finished piped = cairn({"top"}, environment());
    EXPECT_EQ(piped.exit_code, 2);
    EXPECT_THAT(piped.standard_error, HasSubstr("`cairn top --once`"));
    TerminalProgram odd(cairn_command({"top"}), environment("no-such-terminal"));
    EXPECT_EQ(odd.wait(), 2);
    EXPECT_THAT(odd.shown(), HasSubstr("`no-such-terminal` is not known here"));
    EXPECT_EQ(cairn({"top", "--interval", "0"}, environment()).exit_code, 2);
    EXPECT_EQ(cairn({"top", "--interval", "nan"}, environment()).exit_code, 2);
}

}  // namespace
}  // namespace cairn::cli_test
