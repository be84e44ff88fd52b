// SPDX-License-Identifier: MIT
// Signals that reach `cairn run` reach the application.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "program.h"

namespace cairn::cli_test {
namespace {

class SignalTest : public testing::Test {
  protected:
    SignalTest()
        : program_(cairn_command({"run", "-q", "--", CAIRN_REPORT_CLIENT, "signals"}),
                   {{"CAIRN_DIR", folder_ / "root"}}) {}

    void SetUp() override { ASSERT_EQ(program_.read_line(), "ready"); }

    // Ends the application by a signal that is passed on.
    void end() {
        kill(program_.pid(), SIGTERM);
        EXPECT_EQ(read_other_than(SIGCONT), std::to_string(SIGTERM));
        EXPECT_EQ(program_.wait(), 0);
    }

    // The program may be told more than once that it goes on, and late.
    std::string read_other_than(int signal) {
        std::string line = program_.read_line();
        while (line == std::to_string(signal)) {
            line = program_.read_line();
        }
        return line;
    }

    Folder folder_;
    Program program_;
};

TEST_F(SignalTest, EachIsPassedOnOnce) {
    for (const int signal :
         {SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM, SIGCONT}) {
        kill(program_.pid(), signal);
        EXPECT_EQ(program_.read_line(), std::to_string(signal));
    }
    end();
}

TEST_F(SignalTest, StoppingAndContinuingMovesTheWholeJob) {
    kill(program_.pid(), SIGTSTP);
    ASSERT_TRUE(program_.wait_until_stopped());
    kill(program_.pid(), SIGCONT);
    EXPECT_EQ(program_.read_line(), std::to_string(SIGCONT));
    kill(program_.pid(), SIGUSR1);
    EXPECT_EQ(read_other_than(SIGCONT), std::to_string(SIGUSR1));
    end();
}

TEST_F(SignalTest, StoppingTheGroupAsATerminalDoesStopsTheWholeJobToo) {
    kill(-program_.pid(), SIGTSTP);
    ASSERT_TRUE(program_.wait_until_stopped());
    kill(-program_.pid(), SIGCONT);
    EXPECT_EQ(program_.read_line(), std::to_string(SIGCONT));
    kill(-program_.pid(), SIGKILL);
    EXPECT_EQ(program_.wait(), 1000 + SIGKILL);
}

}  // namespace
}  // namespace cairn::cli_test
