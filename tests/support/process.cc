// SPDX-License-Identifier: MIT
#include "support/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cairn_test {

Child::Child(const std::function<int()> &body) {
    std::fflush(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
        std::perror("fork");
        std::abort();
    }
    if (pid_ > 0) return;
    // Whatever happens to the test program, its children do not stay behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    const int code = body();
    std::fflush(nullptr);
    _exit(code);
}

Child::~Child() {
    if (running()) kill();
}

Child::Child(Child &&other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

Child &Child::operator=(Child &&other) noexcept {
    if (this != &other) {
        if (running()) kill();
        pid_ = std::exchange(other.pid_, 0);
    }
    return *this;
}

void Child::signal(int number) const {
    if (running()) ::kill(pid_, number);
}

bool Child::ended() const {
    if (!running()) return true;
    siginfo_t info = {};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == pid_;
}

void Child::stop() const {
    signal(SIGSTOP);
    siginfo_t info = {};
    if (running()) waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOWAIT);
}

void Child::resume() const {
    signal(SIGCONT);
}

void Child::kill() {
    signal(SIGKILL);
    wait();
}

int Child::wait() {
    int status = 0;
    if (!running()) return status;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
}

std::string describe_status(int wait_status) {
    if (WIFEXITED(wait_status)) {
        const int code = WEXITSTATUS(wait_status);
        return code == 0 ? "" : "exit code " + std::to_string(code);
    }
    const int number = WTERMSIG(wait_status);
    if (number == SIGALRM) return "hung, ended by the watchdog";
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

std::string run_in_child(unsigned seconds, const std::function<int()> &body) {
    Child child([&] {
        alarm(seconds);
        return body();
    });
    return describe_status(child.wait());
}

const char *why_no_fork_beside_threads() {
#if defined(__SANITIZE_ADDRESS__)
    return "AddressSanitizer's allocator does not survive a fork beside other threads";
#else
    return nullptr;
#endif
}

}  // namespace cairn_test
