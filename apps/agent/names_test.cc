// SPDX-License-Identifier: MIT
#include "names.h"

#include <cairn/cairn.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/testing/scratch.h"

namespace cairn::agent {
namespace {

namespace fs = std::filesystem;

class NamesTest : public ::testing::Test {
  protected:
    NamesTest() {
        ::setenv("XDG_CONFIG_HOME", scratch_.path().c_str(), 1);
        cairn_options plain = {};
        plain.size = sizeof plain;
        plain.root = root_.c_str();
        plain.identifier = "plain";
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&plain, &cache), CAIRN_OK);
        cairn_close(cache);
        cairn_program_cache_options programs = {};
        programs.size = sizeof programs;
        programs.root = root_.c_str();
        programs.application = "gl-game";
        programs.identity = "driver 1";
        EXPECT_EQ(cairn_program_cache_open(&programs, &cache), CAIRN_OK);
        program_ = cairn_program_cache_identifier(cache);
        cairn_close(cache);
    }
    ~NamesTest() override { ::unsetenv("XDG_CONFIG_HOME"); }

    std::optional<std::string> name(const std::string &root, const std::string &identifier) const {
        return name_of({root, identifier}, root_);
    }
    void configure(const std::string &text) const {
        fs::create_directories(scratch_ / "cairn");
        std::ofstream(scratch_ / "cairn/config") << text;
        ::chmod((scratch_ / "cairn/config").c_str(), 0600);
    }

    testing::Scratch scratch_;
    const std::string root_ = scratch_ / "root";
    std::string program_;
};

TEST_F(NamesTest, AProgramCacheHasTheNameOfItsApplicationAndOthersTheirOwn) {
    EXPECT_EQ(name(root_, program_), "gl-game");
    EXPECT_EQ(name(root_, "plain"), "plain");
}

TEST_F(NamesTest, ANoticeOfAnotherPlaceIsOfNothing) {
    EXPECT_EQ(name(root_, "none"), std::nullopt);
    EXPECT_EQ(name("/proc/self", "fd"), std::nullopt);
    EXPECT_EQ(name(root_ + "/plain/..", "plain"), std::nullopt);
    fs::create_symlink(scratch_ / "elsewhere", root_ + "/link");
    EXPECT_EQ(name(root_, "link"), std::nullopt);
    ::chmod(root_.c_str(), 0777);
    EXPECT_EQ(name(root_, "plain"), std::nullopt) << "others may write there";
}

TEST_F(NamesTest, NothingIsSharedUnlessTheUserSaysSo) {
    EXPECT_FALSE(is_shared("gl-game"));
    configure("[application game]\nshare = 1\n[application plain]\nshare = 1\n");
    EXPECT_TRUE(is_shared("gl-game"));
    EXPECT_TRUE(is_shared("plain"));
    EXPECT_FALSE(is_shared("gl-other"));
    configure("share = 1\nrecord = 0\n");
    EXPECT_FALSE(is_shared("gl-game"));
}

}  // namespace
}  // namespace cairn::agent
