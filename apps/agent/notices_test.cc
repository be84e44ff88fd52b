// SPDX-License-Identifier: MIT
#include "notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "os/environment.h"
#include "os/testing/scratch.h"

namespace cairn::agent {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

constexpr std::uint64_t kPatienceMs = 60'000;

class NoticesTest : public ::testing::Test {
  protected:
    NoticesTest() { ::setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1); }
    ~NoticesTest() override { ::unsetenv("XDG_RUNTIME_DIR"); }

    void send(const std::string &text) const {
        EXPECT_TRUE(send_datagram(path_, as_bytes(text)).ok());
    }
    void send_notice(const std::string &identifier) const {
        EXPECT_TRUE(send_datagram(path_, *encode_agent_notice("/root", identifier)).ok());
    }
    static std::vector<std::string> identifiers(const std::vector<AgentNotice> &notices) {
        std::vector<std::string> found;
        for (const AgentNotice &notice : notices) found.push_back(notice.identifier);
        return found;
    }
    // Why an agent cannot be started; "": it can.
    std::string problem() const {
        try {
            const Notices second(path_);
        } catch (const std::runtime_error &error) {
            return error.what();
        }
        return "";
    }

    testing::Scratch scratch_;
    const std::string path_ = scratch_ / "cairn/agent.sock";
};

TEST_F(NoticesTest, TheSocketIsItsUsersAlone) {
    const Notices notices(path_);
    struct stat status = {};
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat((scratch_ / "cairn").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(NoticesTest, WhatApplicationsTellArrives) {
    Notices notices(path_);
    EXPECT_TRUE(notices.wait(0).empty());
    tell_agent("/some/root", "game");
    tell_agent("/some/root", "other");
    const auto told = notices.wait(kPatienceMs);
    EXPECT_EQ(identifiers(told), (std::vector<std::string>{"game", "other"}));
    EXPECT_EQ(told[0].root, "/some/root");
    EXPECT_TRUE(notices.wait(0).empty());
    EXPECT_EQ(notices.counts().taken, 2u);
}

TEST_F(NoticesTest, WhatIsNoNoticeIsCountedAndDropped) {
    Notices notices(path_);
    send("");
    send("rubbish");
    send(std::string(kAgentNoticeSizeMax + 1, 'x'));
    send_notice("game");
    EXPECT_EQ(identifiers(notices.wait(kPatienceMs)), std::vector<std::string>{"game"});
    EXPECT_EQ(notices.counts().malformed, 3u);
}

TEST_F(NoticesTest, AnotherUsersMessagesDoNotCount) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
    Notices notices(path_);
    // Others cannot reach the socket, so this one connects before it becomes another user.
    const pid_t child = ::fork();
    if (child == 0) {
        const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        path_.copy(address.sun_path, sizeof address.sun_path - 1);
        const auto message = *encode_agent_notice("/root", "game");
        const bool is_sent =
            ::connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0 &&
            ::setuid(65534) == 0 && ::send(fd, message.data(), message.size(), 0) > 0;
        ::_exit(is_sent ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    EXPECT_TRUE(notices.wait(kPatienceMs).empty());
    EXPECT_EQ(notices.counts().foreign, 1u);
}

TEST_F(NoticesTest, DescriptorsThatAreSentAlongAreNotKept) {
    Notices notices(path_);
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    auto message = *encode_agent_notice("/root", "game");
    iovec piece = {message.data(), message.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
    msghdr header = {};
    header.msg_name = &address;
    header.msg_namelen = sizeof address;
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr *part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
    ASSERT_GT(::sendmsg(fd, &header, 0), 0);
    const auto count = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    const auto before = count();
    EXPECT_EQ(identifiers(notices.wait(kPatienceMs)), std::vector<std::string>{"game"});
    EXPECT_EQ(count(), before);
    ::close(fd);
}

TEST_F(NoticesTest, AFloodIsReadAsSlowlyAsItMay) {
    constexpr double kPerSecond = 0.001;  // after a burst of none to speak of
    Notices notices(path_, kPerSecond);
    send_notice("first");
    send_notice("second");
    EXPECT_EQ(identifiers(notices.wait(kPatienceMs)), std::vector<std::string>{"first"});
    EXPECT_TRUE(notices.wait(0).empty());
    EXPECT_EQ(notices.counts().taken, 1u);
}

TEST_F(NoticesTest, WaitsNoLongerThanForAnotherDescriptor) {
    Notices notices(path_);
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    ASSERT_EQ(::write(pipe[1], "x", 1), 1);
    const std::uint64_t begin_ns = monotonic_ns();
    EXPECT_TRUE(notices.wait(kPatienceMs, std::span(pipe, 1)).empty());
    EXPECT_LT(monotonic_ns() - begin_ns, kPatienceMs * 1'000'000);
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST_F(NoticesTest, AnAgentThatLivesKeepsOthersAway) {
    std::optional<Notices> first(path_);
    EXPECT_THAT(problem(), HasSubstr("another agent serves it"));
    send_notice("game");
    EXPECT_EQ(identifiers(first->wait(kPatienceMs)), std::vector<std::string>{"game"});
    first.reset();
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_EQ(problem(), "");
}

TEST_F(NoticesTest, AnAgentThatWasKilledDoesNot) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const Notices notices(path_);
        (void)!::write(pipe[1], "x", 1);
        for (;;) ::pause();
    }
    char ready = 0;
    ASSERT_EQ(::read(pipe[0], &ready, 1), 1);
    EXPECT_THAT(problem(), HasSubstr("another agent"));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ASSERT_TRUE(fs::exists(path_));
    Notices notices(path_);
    send_notice("game");
    EXPECT_EQ(identifiers(notices.wait(kPatienceMs)), std::vector<std::string>{"game"});
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST_F(NoticesTest, AFolderThatOthersMayWriteIsRefused) {
    fs::create_directory(scratch_ / "cairn");
    ASSERT_EQ(::chmod((scratch_ / "cairn").c_str(), 0777), 0);
    EXPECT_THAT(problem(), HasSubstr("others may write to it"));
}

// As systemd does: it binds the socket before the agent starts, and may have messages already.
class InheritedTest : public NoticesTest {
  protected:
    // The exit code of a process that takes over what has become its descriptor 3.
    template <typename Use>
    int taken_over(int fd, const char *count, Use use) const {
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(fd, 3);
            ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
            ::setenv("LISTEN_FDS", count, 1);
            int code = 1;
            try {
                code = use();
            } catch (const std::runtime_error &) {
                code = 2;
            }
            ::_exit(code);
        }
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

TEST_F(InheritedTest, TheSocketOfSystemdIsTakenOverWithWhatCameBefore) {
    fs::create_directory(scratch_ / "cairn");
    ::chmod((scratch_ / "cairn").c_str(), 0700);
    const auto made = DatagramSocket::bind(path_);
    ASSERT_TRUE(made.ok());
    send_notice("game");
    const int code = taken_over(made->fd(), "1", [&] {
        auto socket = inherited_socket();
        if (!socket || std::getenv("LISTEN_FDS") != nullptr) return 3;
        Notices notices(std::move(*socket));
        if (problem().find("another agent") == std::string::npos) return 4;
        return identifiers(notices.wait(kPatienceMs)) == std::vector<std::string>{"game"} ? 0 : 5;
    });
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(fs::exists(path_)) << "it is systemd's";
}

TEST_F(InheritedTest, AnotherKindOfSocketIsRefused) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto take = [] { return inherited_socket() ? 3 : 4; };
    EXPECT_EQ(taken_over(fd, "1", take), 2);
    EXPECT_EQ(taken_over(fd, "2", take), 2);
    EXPECT_EQ(taken_over(fd, "0", take), 4);
    ::close(fd);
}

}  // namespace
}  // namespace cairn::agent
