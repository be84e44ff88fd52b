// SPDX-License-Identifier: MIT
// What opening a cache costs where an agent lives, is dead, hangs or is not there: the system calls
// are counted.
#include <cairn/cairn.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "cache/agent_notice.h"
#include "os/datagram.h"
#include "os/environment.h"
#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"

namespace {

// The calls about datagrams, in their order, of the only thread that makes some.
struct Watch {
    std::vector<std::string> calls;
    int fd = -1;
    int type = 0;
    int flags = 0;
    int error = 0;  // that sending had; 0: none
    std::uint64_t begin_ns = 0, end_ns = 0;
};
bool is_watching = false;
Watch watch;

}  // namespace

// In place of the C library's.
extern "C" int socket(int domain, int type, int protocol) noexcept {
    const std::uint64_t begin_ns = cairn::monotonic_ns();
    const int fd = static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
    if (is_watching && domain == AF_UNIX) {
        watch.calls.emplace_back("socket");
        watch.fd = fd;
        watch.type = type;
        watch.begin_ns = begin_ns;
    }
    return fd;
}

extern "C" ssize_t sendmsg(int fd, const msghdr *message, int flags) {
    const ssize_t sent = ::syscall(SYS_sendmsg, fd, message, flags);
    if (is_watching) {
        watch.calls.emplace_back("sendmsg");
        watch.flags = flags;
        watch.error = sent < 0 ? errno : 0;
    }
    return sent;
}

extern "C" int close(int fd) {
    const int result = static_cast<int>(::syscall(SYS_close, fd));
    if (is_watching && fd == watch.fd) {
        watch.calls.emplace_back("close");
        watch.fd = -1;
        watch.end_ns = cairn::monotonic_ns();
    }
    return result;
}

namespace cairn {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kOnce = {"socket", "sendmsg", "close"};
const std::vector<std::string> kNever;

class AgentTest : public ::testing::Test {
  protected:
    AgentTest() {
        fs::create_directories(scratch_ / "run/cairn");
        ::setenv("XDG_RUNTIME_DIR", (scratch_ / "run").c_str(), 1);
        ::setenv("XDG_CONFIG_HOME", scratch_.path().c_str(), 1);
    }
    ~AgentTest() override {
        for (const char *name : {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "CAIRN_WARM"}) {
            ::unsetenv(name);
        }
    }

    void start_agent() { agent_.emplace(std::move(DatagramSocket::bind(socket_).value())); }
    void kill_agent() { agent_.reset(); }
    // It reads nothing, and its queue is full.
    void hang_agent() const {
        while (send_datagram(socket_, as_bytes("x")).ok()) {
        }
    }
    // The name of the cache that the agent has heard of; "": of none.
    std::string heard() const {
        std::vector<std::byte> buffer(kAgentNoticeSizeMax);
        const auto received = agent_->receive(buffer);
        if (!received.ok()) return "";
        const auto notice = decode_agent_notice(Bytes(buffer).first(received->size_bytes));
        return notice && notice->root == root_ ? notice->identifier : "(damaged)";
    }
    void configure(const std::string &text) const {
        fs::create_directories(scratch_ / "cairn");
        std::ofstream(scratch_ / "cairn/config") << text;
        ::chmod((scratch_ / "cairn/config").c_str(), 0600);
    }

    // What opening does that is about the agent.
    template <typename Open>
    std::vector<std::string> calls_of(Open open) {
        watch = {};
        cairn_cache *cache = nullptr;
        is_watching = true;
        const int result = open(&cache);
        is_watching = false;
        EXPECT_EQ(result, CAIRN_OK);
        cairn_close(cache);
        return watch.calls;
    }
    std::vector<std::string> open(const std::string &identifier, uint32_t flags = 0,
                                  uint32_t mode = CAIRN_MODE_DISK) {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = identifier.c_str();
        options.flags = flags;
        options.mode = mode;
        return calls_of([&](cairn_cache **cache) { return cairn_open(&options, cache); });
    }
    std::vector<std::string> open_program(const std::string &application, uint32_t flags = 0) {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.application = application.c_str();
        options.identity = "GL: driver 1";
        options.flags = flags;
        return calls_of(
            [&](cairn_cache **cache) { return cairn_program_cache_open(&options, cache); });
    }

    // Of files and sockets, that ten misses of a new program cache make: the fewest of many times, as
    // threads of the cache make calls, too, and a miss after a tick of the clock. Ends when they are
    // no more than `expected`.
    std::uint64_t calls_of_misses(const std::string &application, std::uint64_t expected) {
        std::uint64_t fewest = UINT64_MAX;
        for (int i = 0; i < 100 && fewest > expected; ++i) {
            const std::string name = application + std::to_string(i);
            cairn_program_cache_options options = {};
            options.size = sizeof options;
            options.root = root_.c_str();
            options.application = name.c_str();
            options.identity = "GL: driver 1";
            options.flags = CAIRN_PROGRAM_CACHE_NO_LOADING;
            testing::FailingCalls calls;
            testing::Fault never;
            never.first = UINT64_MAX;
            cairn_cache *cache = nullptr;
            EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
            watch = {};
            is_watching = true;
            calls.arm(never);
            for (int j = 0; j < 10; ++j) {
                const std::string key = "key " + std::to_string(j);
                cairn_blob *blob = nullptr;
                EXPECT_EQ(cairn_get(cache, key.data(), key.size(), &blob), CAIRN_MISS);
            }
            fewest = std::min(fewest, calls.calls());
            is_watching = false;
            calls.disarm();
            cairn_close(cache);
        }
        return fewest;
    }

    testing::Scratch scratch_;
    const std::string root_ = scratch_ / "root";
    const std::string socket_ = scratch_ / "run/cairn/agent.sock";
    std::optional<DatagramSocket> agent_;
};

TEST_F(AgentTest, OneThatLivesHearsOfEachCache) {
    start_agent();
    EXPECT_EQ(open("plain"), kOnce);
    EXPECT_EQ(watch.type, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
    EXPECT_EQ(watch.flags, MSG_DONTWAIT | MSG_NOSIGNAL);
    EXPECT_EQ(watch.error, 0);
    EXPECT_EQ(heard(), "plain");
    EXPECT_EQ(open_program("engine"), kOnce);
    EXPECT_TRUE(heard().starts_with("engine-"));
    EXPECT_EQ(heard(), "");
}

TEST_F(AgentTest, OneThatIsDeadCostsAsMuch) {
    start_agent();
    kill_agent();
    ASSERT_TRUE(fs::exists(socket_));
    EXPECT_EQ(open("plain"), kOnce);
    EXPECT_EQ(watch.error, ECONNREFUSED);
    EXPECT_EQ(open_program("engine"), kOnce);
}

TEST_F(AgentTest, OneThatIsNotThereCostsAsMuch) {
    EXPECT_EQ(open("plain"), kOnce);
    EXPECT_EQ(watch.error, ENOENT);
    EXPECT_EQ(open_program("engine"), kOnce);
}

// The quickest of many: whatever else the machine does delays some of them.
TEST_F(AgentTest, OneThatHangsIsNotWaitedFor) {
    start_agent();
    hang_agent();
    std::uint64_t quickest_ns = UINT64_MAX;
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(open("plain" + std::to_string(i)), kOnce);
        EXPECT_EQ(watch.error, EAGAIN);
        quickest_ns = std::min(quickest_ns, watch.end_ns - watch.begin_ns);
    }
    RecordProperty("quickest_ns", std::to_string(quickest_ns));
    EXPECT_LT(quickest_ns, 1'000'000u);
    EXPECT_EQ(open_program("engine"), kOnce);
}

TEST_F(AgentTest, WithoutAPlaceForItNothingIsCalled) {
    ::unsetenv("XDG_RUNTIME_DIR");
    EXPECT_EQ(open("plain"), kNever);
    ::setenv("XDG_RUNTIME_DIR", "relative", 1);
    EXPECT_EQ(open("other"), kNever);
    EXPECT_EQ(open_program("engine"), kNever);
}

TEST_F(AgentTest, APlaceThatNoSocketCanHaveIsNoFailure) {
    ::setenv("XDG_RUNTIME_DIR", (scratch_ / std::string(200, 'x')).c_str(), 1);
    EXPECT_EQ(open("plain"), kNever);
}

TEST_F(AgentTest, HearsOfACacheOnceFromAProcess) {
    start_agent();
    EXPECT_EQ(open("plain"), kOnce);
    EXPECT_EQ(open("plain"), kNever);
    EXPECT_EQ(open_program("engine"), kOnce);
    EXPECT_EQ(open_program("engine"), kNever);
    EXPECT_EQ(open("other"), kOnce);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(open("plain") == kOnce && open("plain") == kNever ? 0 : 1);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a child is a process of its own";
}

TEST_F(AgentTest, IsToldOfStartsOnly) {
    start_agent();
    EXPECT_EQ(open("without-layers", CAIRN_OPEN_NO_LAYERS), kNever);
    EXPECT_EQ(open("in-memory", 0, CAIRN_MODE_MEMORY), kNever);
    EXPECT_EQ(open("without-layers", CAIRN_OPEN_READ_ONLY), kNever);
    EXPECT_EQ(open_program("engine", CAIRN_OPEN_NO_LAYERS), kNever);
    EXPECT_EQ(open_program("engine", CAIRN_PROGRAM_CACHE_NO_RECORD), kNever);
    EXPECT_EQ(open_program("engine", CAIRN_OPEN_READ_ONLY), kNever);
    EXPECT_EQ(heard(), "");
    EXPECT_EQ(open_program("engine"), kOnce) << "what was not told of before";
}

TEST_F(AgentTest, WhatIsNotRecordedIsNotTold) {
    start_agent();
    configure("record = 0\n[application engine]\nrecord = 1\n");
    EXPECT_EQ(open_program("other"), kNever);
    EXPECT_EQ(open_program("engine"), kOnce);
}

// Nothing is shared, and the agent is not asked for single entries, unless the user says otherwise: then a miss makes
// no call more than it does where nothing was ever configured.
TEST_F(AgentTest, AMissMakesNoCallMoreUnlessTheUserSaysSo) {
    const std::uint64_t before = calls_of_misses("before", 0);
    EXPECT_TRUE(watch.calls.empty());
    configure("share = 1\n");
    // Once in a second: whether there are packs now, in each folder that may have some.
    constexpr std::uint64_t kFolders = 4;
    EXPECT_EQ(calls_of_misses("shared", before + kFolders), before + kFolders);
    EXPECT_TRUE(watch.calls.empty());
    configure("ask_ms = 100\n");
    EXPECT_EQ(calls_of_misses("not-shared", before), before);
    EXPECT_TRUE(watch.calls.empty());
    configure("share = 1\nrecord = 0\nask_ms = 100\n");
    EXPECT_EQ(calls_of_misses("not-recorded", before), before);
    EXPECT_TRUE(watch.calls.empty());
    configure("share = 1\nask_ms = 100\n");
    constexpr std::uint64_t kWantedFile = 1;
    const std::uint64_t asking = before + kFolders + kWantedFile;
    EXPECT_EQ(calls_of_misses("asking", asking), asking);
    EXPECT_TRUE(watch.calls.empty()) << "there is none";
}

TEST_F(AgentTest, OurOwnProgramsTellNothing) {
    start_agent();
    ::setenv("CAIRN_WARM", "engine", 1);
    EXPECT_EQ(open_program("engine"), kNever);
    ::unsetenv("CAIRN_WARM");
    const pid_t child = ::fork();
    if (child == 0) {
        tell_agent_nothing();
        ::_exit(open("plain") == kNever && open_program("engine") == kNever ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(heard(), "");
}

}  // namespace
}  // namespace cairn
