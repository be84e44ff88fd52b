// SPDX-License-Identifier: MIT
// `cairn control`, and what `cairn run`, `ls` and `clear` make of the kinds.
#include <cairn/cairn_control.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class ControlCommandTest : public testing::Test {
  protected:
    Finished run(const std::vector<std::string> &arguments, Environment more = {}) const {
        Environment environment = {{"CAIRN_DIR", root_},
                                   {"CAIRN_DEVELOPER_MODE", "1"},
                                   {"HOME", folder_ / "home"},
                                   {"XDG_CACHE_HOME", folder_ / "home/cache"},
                                   {"XDG_CONFIG_HOME", ""},
                                   {"MESA_SHADER_CACHE_DIR", ""},
                                   {"__GL_SHADER_DISK_CACHE_PATH", ""}};
        for (const auto &[name, value] : more) {
            environment[name] = value;
        }
        return cairn(arguments, environment);
    }
    Finished control(std::vector<std::string> arguments, const Environment &more = {}) const {
        arguments.insert(arguments.begin(), "control");
        return run(arguments, more);
    }
    std::string states() const {
        const std::string text = control({}).standard_output;
        std::string states;
        for (size_t at = text.find("abled"); at != std::string::npos;
             at = text.find("abled", at + 1)) {
            states += text[at - 1] == 'n' ? '1' : '0';  // en-, dis-
        }
        return states;
    }
    void fill(const std::string &identifier, const char *about = nullptr) const {
        cairn_options options = {};
        options.size = sizeof(options);
        options.root = root_.c_str();
        options.identifier = identifier.c_str();
        options.about = about;
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
        cairn_close(cache);
    }

    Folder folder_;
    std::string root_ = folder_ / "root";
};

TEST_F(ControlCommandTest, WithoutAnActionItShowsAndMakesNothing) {
    const Finished shown = control({});
    EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
    EXPECT_THAT(shown.standard_output, HasSubstr("cache-for-driver      enabled"));
    EXPECT_THAT(shown.standard_output, Not(HasSubstr("Developer mode")));
    EXPECT_FALSE(fs::exists(root_));
    EXPECT_EQ(states(), "1111");
    EXPECT_THAT(control({}, {{"CAIRN_DEVELOPER_MODE", ""}}).standard_output,
                HasSubstr("Developer mode is off"));
}

TEST_F(ControlCommandTest, WhatIsDisabledStaysSoUntilItIsEnabled) {
    Finished done =
        control({"--kind", "conversions", "--kind", "application-managed", "--disable"});
    EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    EXPECT_EQ(done.standard_output, "conversions: disabled\napplication-managed: disabled\n");
    EXPECT_EQ(states(), "1010");
    EXPECT_THAT(control({"--kind", "conversions"}).standard_output,
                MatchesRegex("conversions +disabled[^\n]*\n"));
    done = control({"--kind", "all", "--enable", "--clear"});
    EXPECT_THAT(done.standard_output, HasSubstr("cache-for-driver: enabled already, cleared\n"));
    EXPECT_THAT(done.standard_output, HasSubstr("conversions: enabled, cleared\n"));
    EXPECT_EQ(states(), "1111");
}

TEST_F(ControlCommandTest, DisablingDriversSaysWhomItReaches) {
    EXPECT_THAT(control({"--kind", "driver-managed", "--disable"}).standard_output,
                HasSubstr("those that run already, and others, keep it"));
}

TEST_F(ControlCommandTest, WithoutDeveloperModeItIsRefusedAndSaysHowToSwitchItOn) {
    const Finished refused =
        control({"--kind", "all", "--disable"}, {{"CAIRN_DEVELOPER_MODE", ""}});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("CAIRN_DEVELOPER_MODE=1"));
    EXPECT_THAT(refused.standard_error, HasSubstr(folder_ / "home/.config/cairn/config"));
    EXPECT_EQ(states(), "1111");
}

TEST_F(ControlCommandTest, TheConfigurationFileSwitchesDeveloperModeOn) {
    const std::string file =
        folder_.write("home/.config/cairn/config", "# me\ndeveloper_mode = 1\n");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(control({"--kind", "all", "--disable"}, {{"CAIRN_DEVELOPER_MODE", ""}}).exit_code, 0);
    EXPECT_EQ(states(), "0000");
    EXPECT_EQ(control({"--kind", "all", "--enable"}, {{"CAIRN_DEVELOPER_MODE", "0"}}).exit_code, 1);
}

TEST_F(ControlCommandTest, WrongUsageIsTwo) {
    const std::vector<std::vector<std::string>> wrong = {{"--disable"},
                                                         {"--clear"},
                                                         {"--kind", "all", "--enable", "--disable"},
                                                         {"--kind", "everything", "--clear"},
                                                         {"--kind"},
                                                         {"--kind", "all", "--toggle"},
                                                         {"conversions"}};
    for (const auto &arguments : wrong) {
        const Finished finished = control(arguments);
        EXPECT_EQ(finished.exit_code, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(finished.standard_error, testing::StartsWith("cairn: "));
    }
    EXPECT_THAT(control({"--kind", "everything", "--clear"}).standard_error,
                HasSubstr("application-managed"));
    EXPECT_FALSE(fs::exists(root_));
}

TEST_F(ControlCommandTest, ClearingAKindEmptiesItsCachesOnly) {
    for (const char *name : {"gl-0", "conversions", "d3d12-0", "mine"}) {
        fill(name);
    }
    EXPECT_EQ(control({"--kind", "application-managed", "--clear"}).exit_code, 0);
    const std::string listed = run({"ls"}).standard_output;
    EXPECT_THAT(listed, MatchesRegex("(.|\n)*conversions +- +1 (.|\n)*d3d12-0 +- +0 (.|\n)*"
                                     "gl-0 +0 +1 (.|\n)*mine +- +1 (.|\n)*"));
}

TEST_F(ControlCommandTest, DriversFilesAreClearedAndOthersAreNot) {
    const std::string own = folder_.write(
        "home/cache/mesa_shader_cache/ab/0123456789abcdef0123456789abcdef012345", "entry");
    const std::string other = folder_.write("home/cache/mesa_shader_cache/ab/letter.txt", "mine");
    EXPECT_EQ(control({"--kind", "driver-managed", "--clear"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(own));
    EXPECT_TRUE(fs::exists(other));
}

TEST_F(ControlCommandTest, ADriversDirectoryThatIsALinkIsLeftAndSaid) {
    folder_.write("elsewhere/index", "entry");
    fs::create_directories(folder_ / "home/cache");
    fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "home/cache/mesa_shader_cache");
    const Finished finished = control({"--kind", "driver-managed", "--clear"});
    EXPECT_EQ(finished.exit_code, 0) << "a hint";
    EXPECT_THAT(finished.standard_error, HasSubstr("home/cache/mesa_shader_cache"));
    EXPECT_TRUE(fs::exists(folder_ / "elsewhere/index"));
}

TEST_F(ControlCommandTest, ARefusedRootIsAFailure) {
    fs::create_directory(folder_ / "elsewhere");
    fs::create_directory_symlink(folder_ / "elsewhere", root_);
    const Finished finished = control({"--kind", "all", "--disable"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_error, HasSubstr(root_));
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(ControlCommandTest, RunStartsApplicationsWithoutDriversCachesWhileTheyAreDisabled) {
    const std::vector<std::string> show = {
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "echo \"$__GL_SHADER_DISK_CACHE,$MESA_SHADER_CACHE_DISABLE,$MESA_SHADER_CACHE_DIR\""};
    const Environment plain = {{"__GL_SHADER_DISK_CACHE", ""}, {"MESA_SHADER_CACHE_DISABLE", ""}};
    EXPECT_EQ(run(show, plain).standard_output, ",,\n");
    ASSERT_EQ(control({"--kind", "driver-managed", "--disable"}).exit_code, 0);
    // Where Cairn keeps programs, Mesa must still give binaries; else it is simply switched off.
    Environment off = plain;
    off["CAIRN_DISABLE"] = "1";
    EXPECT_EQ(run(show, off).standard_output, "0,true,\n");
    const std::string folder = root_ + "/.no-driver-cache";
    const std::string output = run(show, plain).standard_output;
    EXPECT_THAT(output, testing::AnyOf("0,," + folder + "\n", "0,true,\n"));
    if (output != "0,true,\n") {
        EXPECT_TRUE(fs::is_directory(folder + "/mesa_shader_cache/index"));
    }
    EXPECT_EQ(run({"ls"}).standard_output, "") << "it is no cache";
    ASSERT_EQ(control({"--kind", "driver-managed", "--enable"}).exit_code, 0);
    EXPECT_EQ(run(show, plain).standard_output, ",,\n");
}

TEST_F(ControlCommandTest, RunSaysThatCachingIsSwitchedOff) {
    ASSERT_EQ(control({"--kind", "cache-for-driver", "--disable"}).exit_code, 0);
    const Finished finished = run({"run", "true"});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.standard_error, HasSubstr("ran uncached: "));
}

TEST_F(ControlCommandTest, D3d12CachesAreListedAndClearedByName) {
    const std::string name = "d3d12-01234567-89ab-cdef-0123-456789abcdef";
    fill(name, "D3D12 sessions of {01234567-89ab-cdef-0123-456789abcdef}\nmore");
    EXPECT_THAT(run({"ls"}).standard_output,
                MatchesRegex("(.|\n)*" + name +
                             "  - +1  +[0-9.]+ KiB  [-0-9: ]+  D3D12 sessions of [^\n]*\n"));
    EXPECT_THAT(run({"clear", name}).standard_output, HasSubstr("removed 1 entry"));
    EXPECT_TRUE(fs::exists(root_ + "/CACHEDIR.TAG"));
}

// A working directory's caches are no business of the tools, even where it has the same names.
TEST_F(ControlCommandTest, CachesElsewhereAreNeverTouched) {
    const std::string outside = folder_ / "work";
    const std::string inside = root_;
    root_ = outside;
    fill("d3d12-0");
    root_ = inside;
    fill("d3d12-0");
    EXPECT_EQ(control({"--kind", "all", "--clear"}).exit_code, 0);
    EXPECT_EQ(run({"clear", "--all"}).exit_code, 0);
    EXPECT_THAT(run({"ls"}).standard_output, testing::ContainsRegex("d3d12-0 +- +0 "));
    EXPECT_THAT(run({"ls", "--dir", outside}).standard_output,
                testing::ContainsRegex("d3d12-0 +- +1 "));
}

}  // namespace
}  // namespace cairn::cli_test
