// SPDX-License-Identifier: MIT
#include "os/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace cairn {
namespace {

// Puts the variables back that a test changes.
class DefaultRoot : public ::testing::Test {
  protected:
    static constexpr std::array<const char *, 3> kVariables = {"CAIRN_DIR", "XDG_CACHE_HOME",
                                                               "HOME"};
    DefaultRoot() {
        for (const char *name : kVariables) {
            const char *value = std::getenv(name);
            if (value != nullptr) before_[name] = value;
            ::unsetenv(name);
        }
    }
    ~DefaultRoot() override {
        for (const char *name : kVariables) {
            ::unsetenv(name);
            if (before_.contains(name)) ::setenv(name, before_[name].c_str(), 1);
        }
    }
    static void set(const char *name, const char *value) { ::setenv(name, value, 1); }

  private:
    std::map<std::string, std::string> before_;
};

TEST_F(DefaultRoot, OurOwnVariableComesFirst) {
    set("CAIRN_DIR", "/somewhere/else");
    set("XDG_CACHE_HOME", "/xdg");
    set("HOME", "/home/user");
    EXPECT_EQ(default_root(), "/somewhere/else");
}

TEST_F(DefaultRoot, ThenTheUsersCacheDirectory) {
    set("XDG_CACHE_HOME", "/xdg");
    set("HOME", "/home/user");
    EXPECT_EQ(default_root(), "/xdg/cairn");
}

TEST_F(DefaultRoot, ThenThatBelowHome) {
    set("HOME", "/home/user");
    EXPECT_EQ(default_root(), "/home/user/.cache/cairn");
}

TEST_F(DefaultRoot, RelativeAndEmptyValuesAreIgnored) {
    set("CAIRN_DIR", "relative");
    set("XDG_CACHE_HOME", "");
    set("HOME", "/home/user");
    EXPECT_EQ(default_root(), "/home/user/.cache/cairn");
}

TEST_F(DefaultRoot, WithoutHomeTheUserDatabaseTells) {
    const auto root = default_root();
    if (!root) GTEST_SKIP() << "this user has no home directory";
    EXPECT_EQ(root->front(), '/');
    EXPECT_TRUE(root->ends_with("/.cache/cairn"));
}

TEST(Clocks, TheMonotonicOneNeverGoesBack) {
    std::uint64_t last = monotonic_ns();
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t now = monotonic_ns();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(Clocks, TheWallClockCountsFrom1970) {
    const auto seconds = static_cast<std::uint64_t>(std::time(nullptr));
    const std::uint64_t by_ours = wall_clock_ns() / 1'000'000'000;
    EXPECT_GE(by_ours, seconds);
    EXPECT_LE(by_ours, static_cast<std::uint64_t>(std::time(nullptr)));
}

TEST(Chance, BytesDifferFromCallToCall) {
    std::set<std::vector<std::byte>> seen;
    for (int i = 0; i < 50; ++i) {
        std::vector<std::byte> bytes(16);
        random_bytes(bytes);
        seen.insert(bytes);
    }
    EXPECT_EQ(seen.size(), 50u);
    random_bytes({});
}

TEST(Users, TheEffectiveOneCounts) {
    EXPECT_EQ(effective_user(), ::geteuid());
}

}  // namespace
}  // namespace cairn
