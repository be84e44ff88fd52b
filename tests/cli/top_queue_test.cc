// SPDX-License-Identifier: MIT
// What a real application has compiled that is not on disk yet, as `cairn top` shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "program.h"
#include "support/eventually.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class TopQueueTest : public testing::Test {
  protected:
    TopQueueTest()
        : game_(cairn_command({"run", "-q", "--", CLI_LINKING_GAME, holding_file_}),
                {{"CAIRN_DIR", root_},
                 {"LIBGL_ALWAYS_SOFTWARE", "1"},
                 {"MESA_SHADER_CACHE_DIR", folder_ / "mesa"}}) {}
    ~TopQueueTest() override {
        if (pid_of_game() > 0) ::kill(pid_of_game(), SIGKILL);
    }

    std::string top() const {
        return cairn({"top", "--once", "--interval", "0.1"},
                     {{"CAIRN_DIR", root_}, {"LC_ALL", "C.UTF-8"}})
            .standard_output;
    }
    // The number in a column of the game's line, counted from 0; -1: there is none.
    int column(int number) const {
        const std::string text = top();
        std::size_t at = text.find("\ncli_linking_game ");
        for (int i = 0; i < number && at != text.npos; ++i) {
            at = text.find(' ', text.find_first_not_of(' ', at + 1));
        }
        return at == text.npos ? -1 : std::atoi(text.c_str() + at);
    }
    pid_t pid_of_game() const { return column(1); }
    bool has_queue() const { return top().find("not on disk yet") != std::string::npos; }
    void hold_writes() { folder_.write("hold", ""); }
    void let_writes_go() { fs::remove(holding_file_); }

    Folder folder_;
    const std::string root_ = folder_ / "root";
    const std::string holding_file_ = folder_ / "hold";
    Program game_;
};

TEST_F(TopQueueTest, WhatIsNotOnDiskYetIsShownUntilItIs) {
    ASSERT_EQ(game_.read_line(), "linking") << game_.standard_error();
    EXPECT_TRUE(cairn_test::eventually([&] { return pid_of_game() > 0 && !has_queue(); })) << top();
    hold_writes();
    EXPECT_TRUE(cairn_test::eventually([&] { return has_queue(); })) << top();
    std::string text;
    EXPECT_TRUE(cairn_test::eventually([&] {
        text = top();
        return text.find(" entries (") != text.npos;
    }));
    EXPECT_THAT(text, ContainsRegex("[0-9]+ entries \\([0-9.]+ KiB\\) not on disk yet; "));
    EXPECT_THAT(text, ContainsRegex("cli_linking_game .* - +[1-9][0-9]* "));
    let_writes_go();
    EXPECT_TRUE(cairn_test::eventually([&] { return pid_of_game() > 0 && !has_queue(); })) << top();
}

TEST_F(TopQueueTest, AKilledApplicationHasNone) {
    ASSERT_EQ(game_.read_line(), "linking") << game_.standard_error();
    hold_writes();
    EXPECT_TRUE(cairn_test::eventually([&] { return has_queue(); })) << top();
    ASSERT_GT(pid_of_game(), 0);
    ::kill(pid_of_game(), SIGKILL);
    EXPECT_EQ(game_.wait(), 128 + SIGKILL);
    EXPECT_THAT(top(), HasSubstr("No application"));
    EXPECT_THAT(top(), Not(HasSubstr("not on disk yet")));
}

}  // namespace
}  // namespace cairn::cli_test
