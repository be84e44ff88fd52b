// SPDX-License-Identifier: MIT
#include "os/configuration.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

class ConfigurationTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ::setenv("XDG_CONFIG_HOME", scratch_.path().c_str(), 1);
        ::unsetenv("CAIRN_DEVELOPER_MODE");
    }
    void TearDown() override {
        ::unsetenv("XDG_CONFIG_HOME");
        ::unsetenv("CAIRN_DEVELOPER_MODE");
    }

    static void keep(void *user, int, const char *line) {
        static_cast<ConfigurationTest *>(user)->lines_.emplace_back(line);
    }
    bool is_on() {
        lines_.clear();
        return is_developer_mode(Log(keep, this));
    }
    Configuration in(std::string_view text) {
        lines_.clear();
        return Configuration(text, "config", Log(keep, this));
    }
    void write(const std::string &text) {
        fs::create_directories(scratch_ / "cairn");
        std::ofstream(path_) << text;
        ::chmod(path_.c_str(), 0600);
    }

    testing::Scratch scratch_;
    std::string path_ = scratch_ / "cairn/config";
    std::vector<std::string> lines_;
};

TEST_F(ConfigurationTest, ItIsOffByDefault) {
    EXPECT_FALSE(is_on());
    EXPECT_TRUE(lines_.empty());
}

TEST_F(ConfigurationTest, TheFileSwitchesItOn) {
    write("# for my own machine\n\n  developer_mode = 1  # until Friday\r\n");
    EXPECT_TRUE(is_on());
    EXPECT_TRUE(lines_.empty());
}

TEST_F(ConfigurationTest, TheFileMayBeALink) {
    std::ofstream(scratch_ / "real") << "developer_mode=yes";
    ::chmod((scratch_ / "real").c_str(), 0600);
    fs::create_directories(scratch_ / "cairn");
    fs::create_symlink(scratch_ / "real", path_);
    EXPECT_TRUE(is_on());
}

TEST_F(ConfigurationTest, TheEnvironmentGoesBeforeTheFile) {
    write("developer_mode = 1");
    ::setenv("CAIRN_DEVELOPER_MODE", "0", 1);
    EXPECT_FALSE(is_on());
    write("developer_mode = 0");
    ::setenv("CAIRN_DEVELOPER_MODE", "1", 1);
    EXPECT_TRUE(is_on());
    ::setenv("CAIRN_DEVELOPER_MODE", "", 1);
    EXPECT_FALSE(is_on());
    ::setenv("CAIRN_DEVELOPER_MODE", "perhaps", 1);
    EXPECT_FALSE(is_on());
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find("neither 1 nor 0"), std::string::npos);
}

TEST_F(ConfigurationTest, WithoutXdgTheHomeIsAsked) {
    ::unsetenv("XDG_CONFIG_HOME");
    const char *home = std::getenv("HOME");
    const std::string before = home == nullptr ? "" : home;
    ::setenv("HOME", scratch_.path().c_str(), 1);
    EXPECT_EQ(configuration_path(), scratch_ / ".config/cairn/config");
    ::setenv("XDG_CONFIG_HOME", "relative", 1);
    EXPECT_EQ(configuration_path(), scratch_ / ".config/cairn/config");
    ::setenv("HOME", before.c_str(), 1);
}

TEST_F(ConfigurationTest, AFileThatOthersMayWriteIsNotFollowed) {
    write("developer_mode = 1");
    ::chmod(path_.c_str(), 0620);
    EXPECT_FALSE(is_on());
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find("not writable by others"), std::string::npos);
}

TEST_F(ConfigurationTest, WhatIsNoFileOrTooLargeIsNotFollowed) {
    fs::create_directories(path_);
    EXPECT_FALSE(is_on());
    EXPECT_EQ(lines_.size(), 1u);
    fs::remove_all(path_);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_FALSE(is_on()) << "and nobody waits for a writer";
    fs::remove_all(path_);
    write("developer_mode = 1\n" + std::string(70'000, '#'));
    EXPECT_FALSE(is_on());
    EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(ConfigurationTest, LinesThatSayNothingKnownAreToldAndPassedOver) {
    EXPECT_FALSE(in("color = blue\ndeveloper_mode\n= 1\ndeveloper_mode = 2\n").developer_mode());
    EXPECT_EQ(lines_.size(), 4u);
    EXPECT_NE(lines_[1].find("config:2: `developer_mode`"), std::string::npos);
    EXPECT_TRUE(in("developer_mode=off\nrubbish\ndeveloper_mode=on").developer_mode())
        << "the last one counts";
    EXPECT_FALSE(in(std::string("\0\x1b[31m=\xff\n", 8)).developer_mode());
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_EQ(lines_[0].find('\x1b'), std::string::npos) << "terminals are safe from it";
    EXPECT_FALSE(in(std::string(60'000, '\n')).developer_mode());
    EXPECT_TRUE(lines_.empty());
}

TEST_F(ConfigurationTest, AnApplicationHasItsLimitOrThatOfAll) {
    const Configuration both =
        in("limit = 4G\n[application a game.exe]\n limit = 512 MiB # small\n");
    EXPECT_TRUE(lines_.empty());
    EXPECT_EQ(both.limit_bytes("chromium"), 4ull << 30);
    EXPECT_EQ(both.limit_bytes("a game.exe"), 512ull << 20);
    EXPECT_EQ(in("[application one]\nlimit=1G\n").limit_bytes("two"), std::nullopt);
    EXPECT_EQ(Configuration().limit_bytes("one"), std::nullopt);
}

TEST_F(ConfigurationTest, ALineCountsInItsSectionOnly) {
    EXPECT_FALSE(in("[application one]\ndeveloper_mode = 1\n").developer_mode());
    EXPECT_EQ(lines_.size(), 1u);
    EXPECT_EQ(in("[applications one]\nlimit = 1G\n").limit_bytes("one"), std::nullopt);
    EXPECT_EQ(lines_.size(), 2u) << "the section, and what stands in it";
    EXPECT_EQ(in("[application one\nlimit = 1G\n").limit_bytes(""), std::nullopt);
    EXPECT_EQ(lines_.size(), 2u);
}

TEST_F(ConfigurationTest, ApplicationsAreSwitchedOffOneByOneOrAllButSome) {
    const Configuration deny =
        in("[application game]\nenabled = 0\n[application one]\nenabled = 0\nenabled = 1\n");
    EXPECT_TRUE(lines_.empty());
    EXPECT_EQ(deny.enabled(), std::nullopt);
    EXPECT_EQ(deny.enabled("game"), false);
    EXPECT_EQ(deny.enabled("one"), true) << "the last one counts";
    EXPECT_EQ(deny.enabled("other"), std::nullopt);
    EXPECT_EQ(deny.disabled_applications(), std::vector<std::string>{"game"});
    EXPECT_EQ(deny.applications(), (std::vector<std::string>{"game", "one"}));
    const Configuration allow = in("enabled = off\n[application game]\nenabled = on\n");
    EXPECT_EQ(allow.enabled(), false);
    EXPECT_EQ(allow.enabled("game"), true);
    EXPECT_TRUE(allow.disabled_applications().empty());
}

TEST_F(ConfigurationTest, AnApplicationsOwnLineGoesBeforeThatOfAll) {
    const Configuration both =
        in("compress = 1\nlog = 0\n[application game]\ncompress = 0\ndriver_cache = 1\n"
           "[application other]\nlog = 1\n");
    EXPECT_TRUE(lines_.empty());
    EXPECT_EQ(both.compress("game"), false);
    EXPECT_EQ(both.compress("other"), true);
    EXPECT_EQ(both.driver_cache("game"), true);
    EXPECT_EQ(both.driver_cache("other"), std::nullopt);
    EXPECT_EQ(both.log("game"), false);
    EXPECT_EQ(both.log("other"), true);
    EXPECT_EQ(Configuration().compress("game"), std::nullopt);
    EXPECT_EQ(Configuration().log("game"), std::nullopt);
}

TEST_F(ConfigurationTest, WhatIsSharedIsSaidOfAllOrOfAnApplication) {
    const Configuration some = in("[application game]\nshare = 1\n");
    EXPECT_TRUE(lines_.empty());
    EXPECT_EQ(some.share("game"), true);
    EXPECT_EQ(some.share("other"), std::nullopt);
    const Configuration most = in("share = 1\n[application game]\nshare = 0\n");
    EXPECT_TRUE(lines_.empty());
    EXPECT_EQ(most.share("game"), false);
    EXPECT_EQ(most.share("other"), true);
    EXPECT_EQ(Configuration().share("game"), std::nullopt);
    in("[d3d12 6f1c0e9a-4b6c-4f0e-9d50-2f8f3c1de0a7]\nshare = 1\n");
    EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(ConfigurationTest, HowLongAMissMayWaitIsANumberUpToASecond) {
    const Configuration some = in("ask_ms = 20\n[application game]\nask_ms = 1000\n");
    EXPECT_TRUE(lines_.empty());
    EXPECT_EQ(some.ask_ms("game"), 1000u);
    EXPECT_EQ(some.ask_ms("other"), 20u);
    EXPECT_EQ(Configuration().ask_ms("game"), std::nullopt);
    for (const char *bad : {"1001", "-1", "20ms", "", "1.5", "yes"}) {
        EXPECT_EQ(in(std::string("ask_ms = ") + bad).ask_ms("game"), std::nullopt) << bad;
        ASSERT_EQ(lines_.size(), 1u) << bad;
        EXPECT_NE(lines_[0].find("the value is a number from 0 to 1000"), std::string::npos) << bad;
    }
}

TEST_F(ConfigurationTest, EachMistakeIsNamedWithItsLineAndReason) {
    in("enabled = 2\ncolour = 1\n[aplication game]\nenabled = 1\n[application game]\n"
       "shared = 1\nlimit = lots\nenabled\n");
    const char *expected[] = {
        "config:1: `enabled = 2`: the value is 1 or 0",
        "config:2: `colour = 1`: there is no setting of this name",
        "config:3: `[aplication game]`: there is no such section",
        "config:4: `enabled = 1`: it stands below a section that is not known",
        "config:6: `shared = 1`: it does not belong into this section",
        "config:7: `limit = lots`: the value is a size, such as 4G",
        "config:8: `enabled`: a line is NAME = VALUE or [SECTION]"};
    ASSERT_EQ(lines_.size(), std::size(expected));
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        EXPECT_EQ(lines_[i].find(expected[i]), 0u) << lines_[i];
    }
}

TEST_F(ConfigurationTest, SessionsOfAnIdentifierAreShared) {
    const std::string guid = "6f1c0e9a-4b6c-4f0e-9d50-2f8f3c1de0a7";
    EXPECT_TRUE(in("[d3d12 " + guid + "]\nshared = 1\n").is_d3d12_shared(guid));
    EXPECT_TRUE(
        in("[d3d12 {6F1C0E9A-4B6C-4F0E-9D50-2F8F3C1DE0A7}]\nshared = yes\n").is_d3d12_shared(guid));
    EXPECT_FALSE(in("shared = 1\n").is_d3d12_shared(guid));
    EXPECT_EQ(lines_.size(), 1u);
}

TEST(SizeFromTextTest, PeopleWriteSizesWithAndWithoutUnits) {
    EXPECT_EQ(size_from_text("0"), 0u);
    EXPECT_EQ(size_from_text("1048576"), 1u << 20);
    EXPECT_EQ(size_from_text("64k"), 64u << 10);
    EXPECT_EQ(size_from_text("64M"), 64u << 20);
    EXPECT_EQ(size_from_text("1.5 GiB"), 3ull << 29);
    EXPECT_EQ(size_from_text("2TB"), 2ull << 40);
    for (const char *wrong :
         {"", "M", "-1", "1X", "1e3", "1 G x", "nan", "inf", "17000000T", "0x10"}) {
        EXPECT_EQ(size_from_text(wrong), std::nullopt) << wrong;
    }
}

}  // namespace
}  // namespace cairn
