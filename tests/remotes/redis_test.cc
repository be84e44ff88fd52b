// SPDX-License-Identifier: MIT
// What is only so in Redis: passwords, memory that is full, and clusters of which a part is down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "backends.h"
#include "remotes/redis_nodes.h"
#include "support/eventually.h"
#include "trouble.h"

namespace cairn_test {
namespace {

using cairn::remotes::Limits;
using cairn::remotes::open_remote;
using cairn::remotes::redis_slot;
using cairn::remotes::Trouble;
using testing::ElementsAre;

// Where nothing hangs for ever, no machine is so slow.
constexpr std::chrono::seconds kBound{20};
constexpr std::uint64_t kMany = 1 << 20;

class RedisRemoteTest : public testing::Test {
  protected:
    void SetUp() override {
        const std::string why = Backend::why_missing("redis");
        if (!why.empty()) GTEST_SKIP() << why;
        prepare_environment();
    }
    void TearDown() override { prepare_environment(); }
    static Outcome putting(const std::string &url) {
        return outcome_of([&] { put_text(*open_remote(url, {}), "a/b", "content"); });
    }
};

TEST_F(RedisRemoteTest, APasswordIsLookedForInTheEnvironment) {
    const RedisServer server({"--requirepass", "hunter2"});
    const Outcome without = putting(server.url());
    EXPECT_EQ(without.trouble, Trouble::denied);
    EXPECT_TRUE(without.has("REDISCLI_AUTH")) << without.message;
    setenv("REDISCLI_AUTH", "hunter3", 1);
    const Outcome wrong = putting(server.url());
    EXPECT_EQ(wrong.trouble, Trouble::denied);
    EXPECT_FALSE(wrong.has("hunter")) << wrong.message;
    setenv("REDISCLI_AUTH", "hunter2", 1);
    EXPECT_EQ(putting(server.url()).trouble, std::nullopt);
    EXPECT_EQ(open_remote(server.url(), {})->get("a/b", 10), "content");
}

TEST_F(RedisRemoteTest, AUserAndAPasswordAreLookedForInAFile) {
    const RedisServer server({"--user", "ci", "on", ">hunter2", "~cairn:*", "+@all", "--user",
                              "reader", "on", ">hunter4", "~*", "+@read"});
    const TempDirectory folder;
    const auto url_with = [&](const std::string &line) {
        std::ofstream(folder / "credentials") << line;
        chmod((folder / "credentials").c_str(), 0600);
        return server.url() + "?credentials=" + (folder / "credentials");
    };
    const Outcome right = putting(url_with("ci:hunter2\n"));
    EXPECT_EQ(right.trouble, std::nullopt) << right.message;
    EXPECT_EQ(putting(url_with("ci:hunter3\n")).trouble, Trouble::denied);
    const Outcome reader = putting(url_with("reader:hunter4\n"));
    EXPECT_EQ(reader.trouble, Trouble::denied);
    EXPECT_FALSE(reader.has("hunter")) << reader.message;
    EXPECT_EQ(putting(url_with("ci:hunter2\n") + "&prefix=other:").trouble, Trouble::denied);
}

TEST_F(RedisRemoteTest, APasswordThatIsNotAskedForIsDenied) {
    const RedisServer server;
    setenv("REDISCLI_AUTH", "hunter2", 1);
    const Outcome outcome = putting(server.url());
    EXPECT_EQ(outcome.trouble, Trouble::denied);
    EXPECT_FALSE(outcome.has("hunter2"));
}

TEST_F(RedisRemoteTest, MemoryThatIsFullIsToldAndNothingIsListed) {
    const RedisServer server({"--maxmemory", "3mb", "--maxmemory-policy", "noeviction"});
    const auto remote = open_remote(server.url(), {});
    put_text(*remote, "a/first", "x");
    Outcome outcome;
    int count = 0;
    for (; count < 20 && !outcome.trouble; ++count) {
        outcome = outcome_of(
            [&] { put_text(*remote, "a/" + std::to_string(count), std::string(500'000, 'x')); });
    }
    EXPECT_EQ(outcome.trouble, Trouble::full) << outcome.message;
    for (const std::string &name : names_in(*remote, "a"))
        EXPECT_TRUE(remote->get("a/" + name, kMany)) << name;
    // What is full can still be read, and emptied.
    EXPECT_EQ(remote->get("a/first", 10), "x");
    remote->remove("a/0");
}

TEST_F(RedisRemoteTest, DatabasesAndPrefixesAreApart) {
    const RedisServer server;
    put_text(*open_remote(server.url() + "/3?prefix=x:", {}), "a", "1");
    EXPECT_EQ(open_remote(server.url() + "/3?prefix=y:", {})->get("a", 10), std::nullopt);
    EXPECT_EQ(open_remote(server.url() + "?prefix=x:", {})->get("a", 10), std::nullopt);
    EXPECT_EQ(open_remote(server.url() + "/3?prefix=x:", {})->get("a", 10), "1");
    EXPECT_EQ(server.command({"-n", "3", "GET", "x:a"}), "1\n");
    EXPECT_EQ(putting(server.url() + "/99").trouble, Trouble::usage);
}

TEST_F(RedisRemoteTest, WhatOthersWroteDoesNoHarm) {
    const RedisServer server;
    const auto remote = open_remote(server.url(), {});
    put_text(*remote, "a/good", "x");
    server.command(
        {"HSET", "cairn:a/", "../x", "1", "/etc", "1", "new\nline", "1", ".x", "1", "odd", "time"});
    const auto listed = remote->list("a");
    ASSERT_EQ(listed.size(), 2U);
    for (const auto &each : listed)
        EXPECT_EQ(each.age_s.has_value(), each.name == "good") << each.name;
    server.command({"SADD", "cairn:b", "x"});
    server.command({"SET", "cairn:c/", "x"});
    EXPECT_EQ(outcome_of([&] { (void)remote->get("b", 10); }).trouble, Trouble::unreachable);
    EXPECT_EQ(outcome_of([&] { (void)remote->list("c"); }).trouble, Trouble::unreachable);
    EXPECT_EQ(remote->get("a/good", 10), "x");
}

TEST_F(RedisRemoteTest, AConnectionThatTheServerClosedIsMadeAnew) {
    const RedisServer server;
    const auto remote = open_remote(server.url(), {});
    put_text(*remote, "a", "x");
    server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_EQ(remote->get("a", 10), "x");
}

class RedisClusterTest : public RedisRemoteTest {
  protected:
    static constexpr int kObjects = 60;

    static std::string name_of(int i) {
        return "d" + std::to_string(i % 7) + "/object-" + std::to_string(i);
    }
    static std::string content_of(int i) {
        return pattern_of_bytes(static_cast<std::size_t>(100 + 300 * i));
    }
    static Limits short_limits() {
        Limits limits;
        limits.connect_ms = 500;
        limits.call_ms = 2'000;
        limits.stall_ms = 1'000;
        return limits;
    }
};

TEST_F(RedisClusterTest, LivingNodesServeWhatTheyHave) {
    RedisCluster cluster;
    const auto before = open_remote(cluster.url(), short_limits());
    for (int i = 0; i < kObjects; ++i) put_text(*before, name_of(i), content_of(i));
    cluster.node(1).kill();
    const auto after = open_remote(cluster.url(), short_limits());
    int served = 0;
    for (const auto &remote : {std::cref(before), std::cref(after)}) {
        for (int i = 0; i < kObjects; ++i) {
            const std::uint16_t slot = redis_slot("cairn:" + name_of(i));
            const bool is_alive = slot <= 5'460 || slot >= 10'923;
            const auto begin = std::chrono::steady_clock::now();
            std::optional<std::string> got;
            const Outcome outcome = outcome_of([&] { got = remote.get()->get(name_of(i), kMany); });
            EXPECT_LT(std::chrono::steady_clock::now() - begin, kBound);
            if (is_alive) {
                EXPECT_TRUE(got == content_of(i)) << i << outcome.message;
                ++served;
            } else {
                EXPECT_EQ(outcome.trouble, Trouble::unreachable) << i;
            }
        }
    }
    EXPECT_GT(served, 0);
    EXPECT_LT(served, 2 * kObjects);
}

TEST_F(RedisClusterTest, AnotherNodeIsAskedWhereTheFirstIsDown) {
    RedisCluster cluster;
    std::string url = cluster.url() + "?nodes=";
    for (std::size_t i = 1; i < cluster.size(); ++i) {
        url +=
            (i > 1 ? "," : "") + std::string("127.0.0.1:") + std::to_string(cluster.node(i).port());
    }
    const auto remote = open_remote(url, short_limits());
    for (int i = 0; i < kObjects; ++i) put_text(*remote, name_of(i), content_of(i));
    cluster.node(0).kill();
    const auto after = open_remote(url, short_limits());
    for (int i = 0; i < kObjects; ++i) {
        const bool is_alive = redis_slot("cairn:" + name_of(i)) > 5'460;
        const Outcome outcome = outcome_of([&] {
            const auto got = after->get(name_of(i), kMany);
            EXPECT_TRUE(is_alive && got == content_of(i)) << i;
        });
        EXPECT_EQ(outcome.trouble.has_value(), !is_alive) << i << outcome.message;
    }
}

TEST_F(RedisClusterTest, ASlotThatMovesIsFollowed) {
    RedisCluster cluster;
    const auto remote = open_remote(cluster.url(), {});
    put_text(*remote, "a/b", "x");
    const std::uint16_t slot = redis_slot("cairn:a/b");
    const std::size_t from = slot <= 5'460 ? 0 : slot <= 10'922 ? 1 : 2;
    const std::size_t to = (from + 1) % 3;
    const auto id_of = [&](std::size_t node) {
        std::string id = cluster.node(node).command({"CLUSTER", "MYID"});
        id.pop_back();
        return id;
    };
    const std::string number = std::to_string(slot);
    cluster.node(to).command({"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(from)});
    cluster.node(from).command({"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(to)});
    cluster.node(from).command({"MIGRATE", "127.0.0.1", std::to_string(cluster.node(to).port()),
                                "cairn:a/b", "0", "5000"});
    // Halfway the old server sends on by ASK, and for this time only.
    EXPECT_EQ(remote->get("a/b", 10), "x");
    EXPECT_EQ(open_remote(cluster.url(), {})->get("a/b", 10), "x");
    put_text(*remote, "a/b", "x");
    for (const std::size_t node : {to, from}) {
        cluster.node(node).command({"CLUSTER", "SETSLOT", number, "NODE", id_of(to)});
    }
    // The servers take a moment to agree.
    const auto works = [&] { return !outcome_of([&] { (void)remote->get("a/b", 10); }).trouble; };
    ASSERT_TRUE(eventually(works));
    EXPECT_EQ(remote->get("a/b", 10), "x");
    EXPECT_THAT(names_in(*remote, "a"), ElementsAre("b"));
}

}  // namespace
}  // namespace cairn_test
