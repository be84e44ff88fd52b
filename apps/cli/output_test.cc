// SPDX-License-Identifier: MIT
#include "output.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>

namespace cairn::cli {
namespace {

struct Terminal {
    std::string shown;
    int exit_code;
};

// Runs `body` at a terminal of 40 columns; it ends when the terminal has shown `awaited`.
Terminal at_terminal(const std::function<int(int stop)> &body, const std::string &awaited) {
    std::array<int, 2> stop = {};
    EXPECT_EQ(pipe(stop.data()), 0);
    const winsize size = {24, 40, 0, 0};
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
        setenv("TERM", "xterm", 1);
        close(stop[1]);
        _exit(body(stop[0]));
    }
    close(stop[0]);
    Terminal result = {};
    std::array<char, 4096> part = {};
    for (ssize_t count = 0; count >= 0;) {
        result.shown.append(part.data(), static_cast<size_t>(count));
        if (stop[1] >= 0 && result.shown.find(awaited) != std::string::npos) {
            close(stop[1]);
            stop[1] = -1;
        }
        count = read(terminal, part.data(), part.size());  // EIO at the end
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    result.exit_code = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    close(terminal);
    return result;
}

void wait_for(int stop) {
    char byte = 0;
    [[maybe_unused]] const ssize_t end = read(stop, &byte, 1);
}

TEST(Progress, ALineThatFitsIsShownAndGoes) {
    const Terminal result = at_terminal(
        [](int stop) {
            Progress progress("Work\x1b[31m", 4);
            progress.add(1);
            wait_for(stop);
            return 0;
        },
        " s, 25 %");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.shown.starts_with("\r\x1b[KWork?[31m: ")) << result.shown;
    EXPECT_TRUE(result.shown.ends_with("%\r\x1b[K")) << result.shown;
    const std::string name(100, 'n');
    const Terminal narrow = at_terminal(
        [&](int stop) {
            const Progress progress(name);
            wait_for(stop);
            return 0;
        },
        name.substr(0, 39));
    EXPECT_EQ(narrow.shown.find(name.substr(0, 40)), std::string::npos);
}

// The main thread holds signals back while an unfinished file has a name; no other may take them.
TEST(Progress, ItsThreadTakesNoSignals) {
    const Terminal result = at_terminal(
        [](int stop) {
            const Progress progress("Work");
            wait_for(stop);
            sigset_t held;
            sigemptyset(&held);
            sigaddset(&held, SIGTERM);
            sigprocmask(SIG_BLOCK, &held, nullptr);
            kill(getpid(), SIGTERM);
            sigset_t waiting;
            sigpending(&waiting);
            return sigismember(&waiting, SIGTERM) == 1 ? 0 : 1;
        },
        "Work: ");
    EXPECT_EQ(result.exit_code, 0);
}

TEST(Confirmation, WithoutATerminalNobodyIsAsked) {
    const Terminal result = at_terminal(
        [](int) {
            close(STDIN_FILENO);
            return is_confirmed("Really?") ? 0 : 1;
        },
        "");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.shown, "");
}

}  // namespace
}  // namespace cairn::cli
