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

// A `cairn` that is stopped before its first system call: it comes from a shell.
class Watched {
  public:
    Watched(const std::vector<std::string> &arguments, const Environment &environment,
            unsigned long options)
        : program_(from_shell(cairn_command(arguments)), without_leak_check(environment)) {
        if (!program_.wait_until_stopped()) give_up("/bin/sh");
        if (ptrace(PTRACE_SEIZE, pid(), 0, PTRACE_O_EXITKILL | options) != 0) give_up("ptrace");
        resume_ = (options & PTRACE_O_TRACESYSGOOD) != 0 ? PTRACE_SYSCALL : PTRACE_CONT;
        kill(pid(), SIGCONT);
    }

    pid_t pid() const { return program_.pid(); }
    // The status when it has stopped for us; 0: it has ended. It goes on by resume().
    int next() {
        int status = 0;
        while ((status = status_when_stopped(pid())) != 0) {
            if (status >> 16 != 0 || WSTOPSIG(status) == (SIGTRAP | 0x80)) break;
            // SIGCONT, or that the shell has become `cairn`.
            resume(WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
        }
        return status;
    }
    void resume(int signal = 0) {
        if (ptrace(resume_, pid(), 0, signal) != 0) give_up("ptrace");
    }
    int wait() { return program_.wait(); }

  private:
    static std::vector<std::string> from_shell(const std::vector<std::string> &command) {
        std::vector<std::string> words = {"/bin/sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"};
        words.insert(words.end(), command.begin(), command.end());
        return words;
    }
    // Which would want to watch it, too.
    static Environment without_leak_check(Environment environment) {
        environment["ASAN_OPTIONS"] = "detect_leaks=0";
        return environment;
    }

    Program program_;
    __ptrace_request resume_;
};

std::uint64_t number_in(const std::string &text, const std::string &name) {
    const std::size_t at = text.find(name);
    if (at == text.npos) give_up("/proc/PID/status");
    return std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

}  // namespace

bool can_watch() {
    Program program({"/bin/sleep", "100"}, {});
    return ptrace(PTRACE_SEIZE, program.pid(), 0, PTRACE_O_EXITKILL) == 0;
}

bool is_killed_at(std::uint64_t number, const std::vector<std::string> &arguments,
                  const Environment &environment) {
    Watched program(arguments, environment, PTRACE_O_TRACESYSGOOD);
    std::uint64_t calls = 0;
    while (const int status = program.next()) {
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            __ptrace_syscall_info info = {};
            if (ptrace(PTRACE_GET_SYSCALL_INFO, program.pid(), sizeof info, &info) < 0) {
                give_up("ptrace");
            }
            const bool is_entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
            if (is_entry && (calls > 0 || changes_folder(info)) && ++calls == number) {
                kill(program.pid(), SIGKILL);
                break;
            }
        }
        program.resume();
    }
    return program.wait() == 1000 + SIGKILL;
}

std::uint64_t peak_memory_kib(const std::vector<std::string> &arguments,
                              const Environment &environment) {
    Watched program(arguments, environment, PTRACE_O_TRACEEXIT);
    std::uint64_t peak = 0;
    while (const int status = program.next()) {
        if (status >> 16 == PTRACE_EVENT_EXIT) {
            const std::string path = "/proc/" + std::to_string(program.pid()) + "/status";
            peak = number_in(read_file(path), "VmHWM:");
        }
        program.resume();
    }
    if (program.wait() != 0) give_up(arguments.front().c_str());
    return peak;
}

}  // namespace cairn::cli_test
