// SPDX-License-Identifier: MIT
// The program's help texts and its answers to wrong usage.
#include <cairn/cairn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace cairn::cli_test {
namespace {

using testing::HasSubstr;

TEST(Help, EverySubcommandExplainsItselfWithExamplesAndExitCodes) {
    for (const char *name :
         {"run", "enable", "disable", "stats", "status", "doctor", "metrics", "ls", "clear", "rm",
          "compress", "control", "pack", "key", "path", "version", "help"}) {
        const Finished finished = cairn({name, "--help"});
        EXPECT_EQ(finished.exit_code, 0) << name;
        EXPECT_EQ(finished.standard_error, "") << name;
        EXPECT_THAT(finished.standard_output, HasSubstr(std::string("Usage: cairn ") + name));
        EXPECT_THAT(finished.standard_output, HasSubstr("Example"));
        EXPECT_THAT(finished.standard_output, HasSubstr("Exit codes:"));
    }
}

TEST(Help, TheProgramNamesItsSubcommands) {
    const Finished finished = cairn({"--help"});
    EXPECT_EQ(finished.exit_code, 0);
    for (const char *name : {"run", "enable", "disable", "stats", "status", "doctor", "metrics",
                             "ls", "clear", "rm", "compress", "control", "dashboard", "pack", "key",
                             "path", "version", "help", "CAIRN_DIR"}) {
        EXPECT_THAT(finished.standard_output, HasSubstr(name));
    }
}

TEST(Help, VersionIsThatOfTheLibrary) {
    const std::string expected = std::string("cairn ") + cairn_version_string() + "\n";
    EXPECT_EQ(cairn({"version"}).standard_output, expected);
    EXPECT_EQ(cairn({"--version"}).standard_output, expected);
    EXPECT_EQ(cairn({"-V"}).standard_output, expected);
}

TEST(Help, HelpIsACommandToo) {
    EXPECT_EQ(cairn({"help"}).standard_output, cairn({"--help"}).standard_output);
    for (const char *name :
         {"run", "enable", "disable", "stats", "status", "doctor", "metrics", "ls", "clear", "rm",
          "compress", "control", "pack", "key", "path", "version", "help"}) {
        const Finished finished = cairn({"help", name});
        EXPECT_EQ(finished.exit_code, 0) << name;
        EXPECT_EQ(finished.standard_output, cairn({name, "--help"}).standard_output) << name;
    }
    for (const char *action : {"create", "trust", "revoke", "ls", "export"}) {
        const Finished finished = cairn({"key", action, "--help"});
        EXPECT_EQ(finished.exit_code, 0) << action;
        EXPECT_EQ(cairn({"help", "key", action}).standard_output, finished.standard_output);
        EXPECT_THAT(finished.standard_output, HasSubstr(std::string("Usage: cairn key ") + action));
        EXPECT_THAT(finished.standard_output, HasSubstr("Example"));
        EXPECT_THAT(finished.standard_output, HasSubstr("Exit codes:"));
    }
    EXPECT_EQ(cairn({"help", "bogus"}).exit_code, 2);
    EXPECT_EQ(cairn({"help", "ls", "clear"}).exit_code, 2);
    EXPECT_EQ(cairn({"help", "key", "ls", "more"}).exit_code, 2);
}

TEST(Help, ASlipIsAnsweredWithWhatMayHaveBeenMeant) {
    const std::vector<std::pair<std::vector<std::string>, const char *>> slips = {
        {{"stat"}, "`stats`"},
        {{"help", "comprss"}, "`compress`"},
        {{"--versoin"}, "`--version`"},
        {{"stats", "--jsno"}, "`--json`"},
        {{"clear", "--sinse=2026-01-01", "x"}, "`--since`"},
        {{"run", "--jsn", "true"}, "`--json`"},
        {{"key", "crate"}, "`create`"},
        {{"key", "ls", "--jsno"}, "`--json`"},
    };
    for (const auto &[arguments, meant] : slips) {
        const Finished finished = cairn(arguments);
        EXPECT_EQ(finished.exit_code, arguments[0] == "run" ? 125 : 2) << meant;
        EXPECT_THAT(finished.standard_error, HasSubstr(std::string("did you mean ") + meant));
    }
    EXPECT_THAT(cairn({"banana"}).standard_error, testing::Not(HasSubstr("did you mean")));
    EXPECT_THAT(cairn({"--dir", "/x", "ls"}).standard_error, HasSubstr("`--dir` goes behind"));
}

TEST(Help, WrongUsageIsTwoAndSaysWhereToRead) {
    const std::vector<std::vector<std::string>> wrong = {{},
                                                         {"bogus"},
                                                         {"--bogus"},
                                                         {"stats", "--bogus"},
                                                         {"key"},
                                                         {"key", "revoke"},
                                                         {"key", "ls", "a"},
                                                         {"ls", "a", "b"},
                                                         {"path", "x"},
                                                         {"clear", "a", "--all"}};
    for (const auto &arguments : wrong) {
        const Finished finished = cairn(arguments);
        EXPECT_EQ(finished.exit_code, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(finished.standard_error, HasSubstr("--help"));
        EXPECT_EQ(finished.standard_output, "");
    }
}

TEST(Help, ClearWithoutACacheSaysWhatToName) {
    const Finished finished = cairn({"clear"});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.standard_error, HasSubstr("--all"));
}

TEST(Help, AFullDiskBehindStandardOutputIsAFailure) {
    const Finished finished = [] {
        Program shell({"sh", "-c", "exec \"$0\" version > /dev/full", CAIRN_PROGRAM}, {});
        const int exit_code = shell.wait();
        return Finished{exit_code, "", shell.standard_error()};
    }();
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_EQ(finished.standard_error,
              "cairn: cannot write to standard output: No space left on device\n");
}

TEST(Help, APipeThatNobodyReadsIsAFailure) {
    const Folder folder;
    for (const char *command : {"version", "--help", "path"}) {
        Program shell({"sh", "-c",
                       "mkfifo \"$1\"; exec 3<>\"$1\" 4>\"$1\" 3<&-; rm \"$1\"; \"$0\" " +
                           std::string(command) + " >&4",
                       CAIRN_PROGRAM, folder / "fifo"},
                      {});
        EXPECT_EQ(shell.wait(), 1) << command;
        EXPECT_EQ(shell.standard_error(), "cairn: cannot write to standard output: Broken pipe\n");
    }
}

}  // namespace
}  // namespace cairn::cli_test
