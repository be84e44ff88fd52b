// SPDX-License-Identifier: MIT
// An application that counts into the report of its run as a front end would, and then ends in some
// way.
//
//   report_client count HITS END    counts HITS hits, one process, one context and as many links,
//   and ends by END: return, _exit,
//                                   kill, abort
//   report_client fork HITS COUNT   COUNT children do the same at once and are killed
//   report_client apart HITS        the same in another user namespace, where the kernel compares
//   no rights; 77 when it cannot get there report_client resize            exit code 0 when the
//   report cannot be cut short, 1 when it can report_client signals           says "ready", then
//   the number of each signal that arrives, until SIGTERM
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/run_report.h"

namespace {

void add(uint64_t &counter, uint64_t number) {
    std::atomic_ref<uint64_t>(counter).fetch_add(number, std::memory_order_relaxed);
}

void count(uint64_t hits) {
    const char *path = getenv(cairn::kRunReportVariable);
    cairn::RunReport *report = path == nullptr ? nullptr : cairn::attach_run_report(path);
    if (report == nullptr) {
        std::fprintf(stderr, "report_client: no report\n");
        _exit(99);
    }
    add(report->processes, 1);
    add(report->contexts, 1);
    for (uint64_t i = 0; i < hits; ++i) {
        add(report->link_calls, 1);
        add(report->hits, 1);
        add(report->saved_ns, 1'000'000);
    }
}

int end(const std::string &how) {
    if (how == "_exit") {
        _exit(5);
    }
    if (how == "kill") {
        kill(getpid(), SIGKILL);
    }
    if (how == "abort") {
        std::abort();
    }
    return 0;
}

int count_in_children(uint64_t hits, int children) {
    for (int i = 0; i < children; ++i) {
        if (fork() == 0) {
            count(hits);
            kill(getpid(), SIGKILL);
        }
    }
    while (wait(nullptr) > 0) {
    }
    return 0;
}

int try_to_resize() {
    const char *path = getenv(cairn::kRunReportVariable);
    const int fd = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return 2;
    }
    return ftruncate(fd, 0) == 0 || ftruncate(fd, 1 << 20) == 0 ? 1 : 0;
}

int print_signals() {
    sigset_t all = {};
    sigfillset(&all);
    // Stopping has its usual effect.
    sigdelset(&all, SIGTSTP);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    std::puts("ready");
    std::fflush(stdout);
    int signal = 0;
    while (sigwait(&all, &signal) == 0) {
        std::printf("%d\n", signal);
        std::fflush(stdout);
        if (signal == SIGTERM) {
            return 0;
        }
    }
    return 1;
}

}  // namespace

int main(int argc, char **argv) {
    const std::string action = argc > 1 ? argv[1] : "";
    if (action == "count" && argc == 4) {
        count(std::stoull(argv[2]));
        return end(argv[3]);
    }
    if (action == "fork" && argc == 4) {
        return count_in_children(std::stoull(argv[2]), std::stoi(argv[3]));
    }
    if (action == "apart" && argc == 3) {
        if (unshare(CLONE_NEWUSER) != 0) {
            return 77;
        }
        count(std::stoull(argv[2]));
        return 0;
    }
    if (action == "resize") {
        return try_to_resize();
    }
    if (action == "signals") {
        return print_signals();
    }
    std::fprintf(stderr, "report_client: unknown action\n");
    return 98;
}
