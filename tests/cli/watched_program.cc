// SPDX-License-Identifier: MIT
#include "watched_program.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace cairn::cli_test {
namespace {

[[noreturn]] void give_up(const char *what) {
    std::perror(what);
    std::abort();
}

// Waits until it stops; the wait status, or nothing of one that has ended, for Program to wait for.
int status_when_stopped(pid_t pid) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT | __WALL) != 0) {
        give_up("waitid");
    }
    if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED) return 0;
    int status = 0;
    if (waitpid(pid, &status, __WALL) != pid) give_up("waitpid");
    return status;
}

bool changes_folder(const __ptrace_syscall_info &info) {
    const auto number = static_cast<long>(info.entry.nr);
    return (number == SYS_openat && (info.entry.args[2] & O_CREAT) != 0) || number == SYS_mkdirat ||
           number == SYS_unlinkat || number == SYS_renameat;
}

// From a shell, so that it can be found stopped before its first system call.
std::vector<std::string> stopped(const std::vector<std::string> &command) {
    std::vector<std::string> words = {"/bin/sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

}  // namespace

bool can_watch() {
    Program program({"/bin/sleep", "100"}, {});
    return ptrace(PTRACE_SEIZE, program.pid(), 0, PTRACE_O_EXITKILL) == 0;
}

bool is_killed_at(std::uint64_t number, const std::vector<std::string> &arguments,
                  const Environment &environment, int *exit_code) {
    Environment watched = environment;
    watched["ASAN_OPTIONS"] = "detect_leaks=0";  // it would watch itself
    Program program(stopped(cairn_command(arguments)), watched);
    const pid_t pid = program.pid();
    if (!program.wait_until_stopped()) give_up("/bin/sh");
    constexpr unsigned long kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;
    if (ptrace(PTRACE_SEIZE, pid, 0, kOptions) != 0) give_up("ptrace");
    kill(pid, SIGCONT);
    std::uint64_t calls = 0;
    while (const int status = status_when_stopped(pid)) {
        const int signal = WSTOPSIG(status);
        const bool is_call = signal == (SIGTRAP | 0x80);
        __ptrace_syscall_info info = {};
        if (is_call && ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) < 0) {
            give_up("ptrace");
        }
        const bool is_entry = is_call && info.op == PTRACE_SYSCALL_INFO_ENTRY;
        if (is_entry && (calls > 0 || changes_folder(info)) && ++calls == number) {
            kill(pid, SIGKILL);
            break;
        }
        // Only SIGCONT is sent to it; all else is ptrace's.
        const bool is_event = is_call || status >> 16 != 0 || signal == SIGTRAP;
        if (ptrace(PTRACE_SYSCALL, pid, 0, is_event ? 0 : signal) != 0) give_up("ptrace");
    }
    const int ended = program.wait();
    if (exit_code != nullptr) *exit_code = ended;
    return ended == 1000 + SIGKILL;
}

}  // namespace cairn::cli_test
