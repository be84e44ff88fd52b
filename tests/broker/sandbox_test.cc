// A process in a sandbox that kills it for opening or connecting to anything looks up and stores.
// SPDX-License-Identifier: MIT
#include "broker/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "broker/broker.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

// An empty file tree that cannot be written to, where the system permits it.
bool enter_empty_tree(const std::string &directory) {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    if (::mount("none", directory.c_str(), "tmpfs", MS_RDONLY, nullptr) != 0) return false;
    return ::chdir(directory.c_str()) == 0 && ::chroot(".") == 0 && ::chdir("/") == 0;
}

class SandboxTest : public testing::Test {
  protected:
    SandboxTest() : broker_(directory_.path()) {
        BrokerCache outside(broker_);
        EXPECT_EQ(outside.put("program", "binary"), CAIRN_OK);
        EXPECT_EQ(outside.flush(), CAIRN_OK);
    }
    // Does what a launcher does for a process that it is going to start.
    int connection() const {
        cairn_broker_options options = {};
        options.size = sizeof options;
        options.socket_path = broker_.socket().c_str();
        options.identifier = "app";
        options.version = 1;
        options.timeout_ms = kPatienceMs;
        int fd = -1;
        EXPECT_EQ(cairn_broker_connect(&options, &fd), CAIRN_OK);
        return fd;
    }

    TempDirectory directory_;
    Broker broker_;
};

// Otherwise the other tests would say nothing.
TEST_F(SandboxTest, KillsWhoOpensOrConnects) {
    const auto killed = [](auto call) {
        Child child([&] {
            if (!forbid_system_calls()) return 1;
            call();
            return 0;
        });
        const int status = child.wait();
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
    };
    EXPECT_TRUE(killed([] { (void)::open("/dev/null", O_RDONLY); }));
    EXPECT_TRUE(killed([] { (void)::socket(AF_UNIX, SOCK_SEQPACKET, 0); }));
    EXPECT_TRUE(killed([] { (void)::connect(0, nullptr, 0); }));
    EXPECT_TRUE(killed([this] { (void)Cache({.root = broker_.root(), .identifier = "app"}); }));
}

TEST_F(SandboxTest, HitsAndStoresThroughTheBroker) {
    const int fd = connection();
    const std::string empty = directory_ / "empty";
    const std::string large(3u << 20, 'x');
    const std::string problem = run_in_child(120, [&] {
        const bool hidden = ::mkdir(empty.c_str(), 0700) == 0 && enter_empty_tree(empty);
        if (!hidden) std::fputs("no mount namespace here: with the filter alone\n", stderr);
        if (!forbid_system_calls()) return 1;
        BrokerCache cache = BrokerCache::over(fd);
        if (cache.result() != CAIRN_OK) return 2;
        if (cache.get("program") != "binary") return 3;
        if (cache.get("missing") != std::nullopt) return 4;
        // Everything that look-ups do now and then.
        for (unsigned i = 0; i < 500; ++i) {
            if (cache.get("missing " + std::to_string(i))) return 5;
            if (cache.get("program") != "binary") return 6;
            cairn_blob *blob = nullptr;
            if (cairn_get(cache.handle(), "program", 7, &blob) != CAIRN_OK) return 7;
            cairn_blob_free(blob);
        }
        for (unsigned i = 0; i < 100; ++i) {
            if (cache.put("mine " + std::to_string(i), "value") != CAIRN_OK) return 8;
        }
        if (cache.put("large", large) != CAIRN_OK) return 9;
        if (cache.flush() != CAIRN_OK) return 10;
        for (unsigned i = 0; i < 100; ++i) {
            if (cache.get_soon("mine " + std::to_string(i)) != "value") return 11;
        }
        if (cache.get_soon("large") != large) return 12;
        cairn_stats stats = {};
        stats.size = sizeof stats;
        if (cairn_stats_get(cache.handle(), &stats) != CAIRN_OK) return 13;
        if (stats.entries != 102 || stats.damaged != 0) return 14;
        if (cache.stats().stored != 101) return 15;
        return 0;
    });
    ::close(fd);
    EXPECT_EQ(problem, "");
    BrokerCache outside(broker_);
    EXPECT_EQ(outside.get_soon("mine 99"), "value");
}

// Reading, new segments, new levels of the index: none takes a path.
TEST_F(SandboxTest, FollowsACacheThatOthersFill) {
    const int fd = connection();
    int ready[2], filled[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(filled, O_CLOEXEC), 0);
    Child child([&] {
        if (!forbid_system_calls()) return 1;
        BrokerCache cache = BrokerCache::over(fd);
        if (cache.get("program") != "binary") return 2;
        char byte = 0;
        if (::write(ready[1], "x", 1) != 1 || ::read(filled[0], &byte, 1) != 1) return 3;
        for (unsigned i = 0; i < 6000; i += 7) {
            if (cache.get_soon("entry " + std::to_string(i)) != std::string(300, 'v')) return 4;
        }
        return 0;
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    Cache direct({.root = broker_.root(), .identifier = "app"});
    const std::string value(300, 'v');
    // More than the first level of an index holds.
    for (unsigned i = 0; i < 6000; ++i) {
        ASSERT_EQ(direct.put(as_bytes("entry " + std::to_string(i)), as_bytes(value)), CAIRN_OK);
    }
    ASSERT_EQ(::write(filled[1], "x", 1), 1);
    EXPECT_EQ(describe_status(child.wait()), "");
    for (const int end : {fd, ready[0], ready[1], filled[0], filled[1]}) ::close(end);
}

TEST_F(SandboxTest, ReadsOnWhenTheBrokerIsGone) {
    const int fd = connection();
    int ready[2], gone[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(gone, O_CLOEXEC), 0);
    Child child([&] {
        if (!forbid_system_calls()) return 1;
        BrokerCache cache = BrokerCache::over(fd);
        if (cache.get("program") != "binary") return 2;
        char byte = 0;
        if (::write(ready[1], "x", 1) != 1 || ::read(gone[0], &byte, 1) != 1) return 3;
        for (unsigned i = 0; i < 200; ++i) {
            if (cache.get("program") != "binary") return 4;
            if (cache.get("missing")) return 5;
        }
        if (cache.put("key", "value") != CAIRN_ERROR_IO) return 6;
        return cache.stats().dropped == 1 ? 0 : 7;
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    broker_.kill();
    ASSERT_EQ(::write(gone[1], "x", 1), 1);
    EXPECT_EQ(describe_status(child.wait()), "");
    for (const int end : {fd, ready[0], ready[1], gone[0], gone[1]}) ::close(end);
}

}  // namespace
}  // namespace cairn_test
