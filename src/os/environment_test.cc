// SPDX-License-Identifier: MIT
#include "os/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
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

TEST(DefaultSockets, AreBelowTheUsersRuntimeDirectory) {
    const char *found = std::getenv("XDG_RUNTIME_DIR");
    const auto before = found == nullptr ? std::nullopt : std::optional<std::string>(found);
    ::setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
    EXPECT_EQ(default_agent_socket(), "/run/user/1/cairn/agent.sock");
    EXPECT_EQ(default_broker_socket(), "/run/user/1/cairn/broker.sock");
    ::setenv("XDG_RUNTIME_DIR", "relative", 1);
    EXPECT_EQ(default_agent_socket(), std::nullopt);
    ::unsetenv("XDG_RUNTIME_DIR");
    EXPECT_EQ(default_agent_socket(), std::nullopt);
    if (before) ::setenv("XDG_RUNTIME_DIR", before->c_str(), 1);
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
    // Not std::time(), which may be some milliseconds late.
    const auto now = [] {
        return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch())
            .count();
    };
    const auto before = now();
    const auto by_ours = static_cast<std::int64_t>(wall_clock_ns());
    EXPECT_GE(by_ours, before);
    EXPECT_LE(by_ours, now());
    const auto coarse = static_cast<std::int64_t>(coarse_wall_clock_ns());
    EXPECT_LE(coarse, now());
    EXPECT_GE(coarse, before - 100'000'000);
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

class Temporary : public ::testing::Test {
  protected:
    Temporary() {
        ::setenv("CAIRN_TEST_KEPT", "kept", 1);
        ::setenv("CAIRN_TEST_REPLACED", "before", 1);
    }
    ~Temporary() override {
        for (const char *name : {"CAIRN_TEST_KEPT", "CAIRN_TEST_REPLACED", "CAIRN_TEST_OTHERS"}) {
            ::unsetenv(name);
        }
    }
    static std::string value_of(const char *name) {
        const char *const value = ::getenv(name);
        return value == nullptr ? "-" : value;
    }

    // Others keep pointers to its strings.
    // It lives for ever.
    static TemporaryVariables &make() {
        static auto *const all = new std::vector<TemporaryVariables *>;
        all->push_back(
            new TemporaryVariables({"CAIRN_TEST_REPLACED=meanwhile", "CAIRN_TEST_NEW=new"}));
        return *all->back();
    }

    TemporaryVariables &variables_ = make();
};

TEST_F(Temporary, VariablesAreThereAsLongAsSomebodyIsInside) {
    char **const before = environ;
    variables_.enter();
    EXPECT_EQ(value_of("CAIRN_TEST_KEPT"), "kept");
    EXPECT_EQ(value_of("CAIRN_TEST_REPLACED"), "meanwhile");
    char **const inside = environ;
    variables_.enter();
    variables_.leave();
    EXPECT_EQ(value_of("CAIRN_TEST_NEW"), "new");
    variables_.leave();
    EXPECT_EQ(environ, before);
    EXPECT_EQ(value_of("CAIRN_TEST_REPLACED"), "before");
    EXPECT_EQ(value_of("CAIRN_TEST_NEW"), "-");
    variables_.enter();
    EXPECT_EQ(environ, inside) << "each time takes more memory";
    variables_.leave();
}

TEST_F(Temporary, AnotherThreadMayReadTheEnvironmentMeanwhile) {
    std::atomic<bool> is_done = false;
    std::atomic<std::uint64_t> others = 0;
    std::thread reader([&] {
        while (!is_done) others += value_of("CAIRN_TEST_KEPT") == "kept" ? 0u : 1u;
    });
    for (int i = 0; i < 5000; ++i) {
        variables_.enter();
        variables_.leave();
    }
    is_done = true;
    reader.join();
    EXPECT_EQ(others, 0u);
}

TEST_F(Temporary, WhatOthersSetOrRemoveMeanwhileHolds) {
    variables_.enter();
    ::setenv("CAIRN_TEST_OTHERS", "added", 1);
    variables_.leave();
    EXPECT_EQ(value_of("CAIRN_TEST_OTHERS"), "added");
    EXPECT_EQ(value_of("CAIRN_TEST_NEW"), "-");
    variables_.enter();
    ::setenv("CAIRN_TEST_OTHERS", "replaced", 1);
    variables_.leave();
    EXPECT_EQ(value_of("CAIRN_TEST_OTHERS"), "replaced");
    EXPECT_EQ(value_of("CAIRN_TEST_NEW"), "-");
    variables_.enter();
    ::unsetenv("CAIRN_TEST_OTHERS");
    ::setenv("CAIRN_TEST_NEW", "of others", 1);
    variables_.leave();
    EXPECT_EQ(value_of("CAIRN_TEST_OTHERS"), "-");
    EXPECT_EQ(value_of("CAIRN_TEST_NEW"), "of others");
    EXPECT_EQ(value_of("CAIRN_TEST_KEPT"), "kept");
    ::unsetenv("CAIRN_TEST_NEW");
}

}  // namespace
}  // namespace cairn
