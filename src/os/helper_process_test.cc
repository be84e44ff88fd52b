// SPDX-License-Identifier: MIT
#include "os/helper_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr const char *kShell = "/bin/sh";
constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t patience() {
    return monotonic_ns() + 60 * kSecond;
}

std::string as_text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The output of a script that gets `input`.
std::string run(const std::string &script, std::string_view input = {}) {
    auto helper = HelperProcess::start(kShell, {"-c", script});
    EXPECT_TRUE(helper.ok());
    EXPECT_TRUE(helper->write(as_bytes(input), patience()).ok());
    EXPECT_TRUE(helper->end_input().ok());
    std::array<std::byte, 65536> said;
    const auto count = helper->read(said, patience());
    EXPECT_TRUE(count.ok());
    return as_text(Bytes(said).first(count.value()));
}

bool has_children() {
    return ::waitpid(-1, nullptr, WNOHANG | __WALL) >= 0 || errno != ECHILD;
}

TEST(HelperProcess, TakesInputAndGivesOutput) {
    EXPECT_EQ(run("tr a-z A-Z", "text"), "TEXT");
}

TEST(HelperProcess, HasNothingOfOurs) {
    const UniqueFd inherited(::open("/dev/null", O_RDONLY));  // not closed on exec
    ::setenv("CAIRN_TEST_SECRET", "1", 1);
    EXPECT_EQ(run("echo ${CAIRN_TEST_SECRET-none}; pwd; ls -l /proc/$$/fd | grep -c /"),
              "none\n/\n1\n")
        << "of files, standard error alone, which goes nowhere";
    ::unsetenv("CAIRN_TEST_SECRET");
}

TEST(HelperProcess, StartsWithNoSignalBlockedOrIgnored) {
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto ignored = ::signal(SIGCHLD, SIG_IGN);
    const std::string blocked = run("sed -n s/SigBlk:.//p /proc/self/status");
    const std::string left_out = run("sed -n s/SigIgn:.//p /proc/self/status");
    ::signal(SIGCHLD, ignored);
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, &before, &now);
    EXPECT_EQ(std::stoull(blocked, nullptr, 16), 0u);
    constexpr unsigned long long kOfTheLibrary = 3ull << 31;  // the C library's own two
    EXPECT_EQ(std::stoull(left_out, nullptr, 16) & ~kOfTheLibrary, 0u);
    EXPECT_EQ(sigismember(&now, SIGUSR1), 1) << "and ours are as before";
}

volatile sig_atomic_t g_children_signalled = 0;
int g_forks = 0;

TEST(HelperProcess, IsNotNoticedAsAChild) {
    const auto before = ::signal(SIGCHLD, [](int) { g_children_signalled = 1; });
    ::pthread_atfork([] { ++g_forks; }, nullptr, nullptr);
    {
        const auto helper = HelperProcess::start(kShell, {"-c", "read line"});
        ASSERT_TRUE(helper.ok());
        EXPECT_FALSE(has_children());
    }
    EXPECT_FALSE(has_children());
    ::signal(SIGCHLD, before);
    EXPECT_EQ(g_children_signalled, 0);
    EXPECT_EQ(g_forks, 0);
}

TEST(HelperProcess, LeavesNoZombieToWhoAdoptsOrphans) {
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    EXPECT_EQ(run("cat", "text"), "text");
    EXPECT_FALSE(has_children());
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(HelperProcess, IsEndedWithItsOwner) {
    auto helper = HelperProcess::start(kShell, {"-c", "echo $$; exec sleep 1000"});
    std::array<std::byte, 32> said;
    ASSERT_EQ(helper->read(MutableBytes(said).first(1), patience()).value(), 1u);
    std::size_t size = 1;
    while (static_cast<char>(said[size - 1]) != '\n') {
        size += helper->read(MutableBytes(said).subspan(size, 1), patience()).value();
    }
    const pid_t process = std::atoi(as_text(Bytes(said).first(size)).c_str());
    EXPECT_EQ(::kill(process, 0), 0);
    { const auto ended = std::move(helper); }
    // A zombie at most, until the system's first process has waited for it.
    std::array<char, 8> state = {};
    if (FILE *file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "re")) {
        EXPECT_EQ(std::fscanf(file, "%*d (%*[^)]) %1s", state.data()), 1);
        std::fclose(file);
        EXPECT_STREQ(state.data(), "Z");
    }
}

TEST(HelperProcess, IsNotWaitedForForEver) {
    const auto helper = HelperProcess::start(kShell, {"-c", "exec sleep 1000"});
    std::array<std::byte, 1> said;
    EXPECT_EQ(helper->read(said, monotonic_ns() + kSecond / 100).error(), Error::busy);
    const std::vector<std::byte> much(8u << 20);
    EXPECT_EQ(helper->write(much, monotonic_ns() + kSecond / 100).error(), Error::busy);
}

TEST(HelperProcess, ThatEndsEarlyRaisesNoSignal) {
    const auto helper = HelperProcess::start(kShell, {"-c", "exit 0"});
    const std::vector<std::byte> much(8u << 20);
    EXPECT_EQ(helper->write(much, patience()).error(), Error::io);
    std::array<std::byte, 1> said;
    EXPECT_EQ(helper->read(said, patience()).value(), 0u);
}

TEST(HelperProcess, ThatIsNotThereIsAnError) {
    EXPECT_EQ(HelperProcess::start("/nonexistent/program", {}).error(), Error::not_found);
    EXPECT_EQ(HelperProcess::start("/etc/passwd", {}).error(), Error::denied);
    EXPECT_FALSE(has_children());
}

TEST(PathOfThisCode, IsAbsolute) {
    EXPECT_EQ(path_of_this_code().substr(0, 1), "/");
}

}  // namespace
}  // namespace cairn
