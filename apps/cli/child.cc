// SPDX-License-Identifier: MIT
#include "child.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/run_report.h"
#include "os/helper_process.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

using Libraries = std::set<std::string, std::less<>>;

// The signals that a person or a supervisor sends to a program. SIGPIPE and faults are our own.
constexpr std::array kPassedOn = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                  SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT, SIGALRM};

// Blocks these signals, for sigtimedwait to receive. The program gets the mask of before, and so
// does this process at the end.
class SignalGuard {
  public:
    SignalGuard() {
        sigemptyset(&waited_);
        for (const int signal : kPassedOn) sigaddset(&waited_, signal);
        sigaddset(&waited_, SIGCHLD);
        sigprocmask(SIG_BLOCK, &waited_, &mask_before_);
        // Where the parent ignored SIGCHLD, the kernel would throw the program's exit status away.
        struct sigaction standard = {};
        standard.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &standard, &chld_before_);
    }
    SignalGuard(const SignalGuard &) = delete;
    SignalGuard &operator=(const SignalGuard &) = delete;
    ~SignalGuard() { restore(); }

    void restore() const {
        sigaction(SIGCHLD, &chld_before_, nullptr);
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }

    // Nothing: no signal came in this time.
    std::optional<siginfo_t> wait(int longest_ms) const {
        const timespec time = {longest_ms / 1000, longest_ms % 1000 * 1'000'000L};
        siginfo_t info = {};
        return sigtimedwait(&waited_, &info, &time) < 0 ? std::nullopt : std::optional(info);
    }

  private:
    sigset_t waited_ = {};
    sigset_t mask_before_ = {};
    struct sigaction chld_before_ = {};
};

bool exists(const std::string &path) {
    return access(path.c_str(), F_OK) == 0;
}

// Whether there is a file that a shell would have tried. The error of execvp does not tell: it is
// "permission denied" too when a folder in $PATH may not be searched.
bool is_there(const std::string &program) {
    if (program.find('/') != std::string::npos) return exists(program);
    const char *path = getenv("PATH");
    std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
    std::string folder;
    while (std::getline(folders, folder, ':')) {
        if (exists((folder.empty() ? "." : folder) + "/" + program)) return true;
    }
    return false;
}

// A file that is there but cannot be executed is 126, as in shells.
int exit_code_of_start_error(const std::string &program, int error_number) {
    const bool names_nothing = error_number == ENOENT || error_number == EACCES;
    return names_nothing && !is_there(program) ? kExitNotFound : kExitCannotExecute;
}

// Makes a process that becomes the program. Until it is the program or has set `start_error`, it
// runs in our memory, and we stand still: copying that memory for a moment takes longer than all
// else that is done here. We have no signal handlers, which would run there, too. Below 0: there is
// no process. Where vfork is a fork, as under valgrind, `start_error` stays 0.
pid_t start(const Words &command, const SignalGuard &signals, volatile int &start_error) {
    std::vector<char *> arguments = argument_pointers(command);
    // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
    const pid_t child = vfork();
    if (child != 0) return child;
    signals.restore();  // two system calls, which change the new process alone
    // NOLINTEND(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
    execvp(arguments[0], arguments.data());
    start_error = errno;
    _exit(kExitNotFound);
}

bool sent_by_terminal(const siginfo_t &info) {
    return info.si_code == SI_KERNEL;
}

// A job that stops must stop as a whole, or the shell would wait for us. This process does not
// follow SIGSTOP: a debugger sends it to the program alone, and may continue the program without us.
void follow_stop(pid_t child, int signal) {
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
        raise(SIGSTOP);
        kill(child, SIGCONT);
    }
}

int wait_for_end(pid_t child, const SignalGuard &signals, const Look &look) {
    // Doubled after each look: most can be seen in the first second, and a long run stays
    // undisturbed.
    constexpr int kLongestMs = 24 * 60 * 60 * 1000;
    int pause_ms = 50;
    while (true) {
        const std::optional<siginfo_t> info = signals.wait(pause_ms);
        if (!info) {
            pause_ms = look(child) ? std::min(2 * pause_ms, kLongestMs) : kLongestMs;
            continue;
        }
        if (info->si_signo != SIGCHLD) {
            if (!sent_by_terminal(*info)) kill(child, info->si_signo);
            continue;
        }
        // One SIGCHLD may stand for several changes.
        int status = 0;
        while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
            if (!WIFSTOPPED(status)) return status;
            follow_stop(child, WSTOPSIG(status));
        }
    }
}

[[noreturn]] void refuse_to_start(const Words &command) {
    throw Failure(kExitRunFailed, "cannot start {}: {}", command.front(), error_text(errno));
}

}  // namespace

std::string find_program(const std::string &name, const std::string &folder) {
    const fs::path own = fs::path(canonical_path("/proc/self/exe")).parent_path();
    for (const fs::path &place : {own / name, own / ".." / folder / name}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) return place.lexically_normal().string();
    }
    throw Failure(kExitFailure, "{} is not installed: it is not in {}", name, own.string());
}

void become_program(const std::string &program, const Words &arguments, const char *hint) {
    Words command = {program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    execv(program.c_str(), argument_pointers(command).data());
    throw Failure(kExitFailure, "{} cannot be executed: {}; {}", program, error_text(errno), hint);
}

std::vector<char *> argument_pointers(const Words &words) {
    std::vector<char *> pointers;
    for (const std::string &word : words) pointers.push_back(const_cast<char *>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

ChildEnd run_child(const Words &command, const Look &look) {
    const SignalGuard signals;
    ChildEnd end;
    volatile int start_error = 0;
    const pid_t child = start(command, signals, start_error);
    end.start_error = start_error;
    if (child < 0) refuse_to_start(command);
    const int status = wait_for_end(child, signals, look);
    if (end.start_error != 0) {
        end.exit_code = exit_code_of_start_error(command.front(), end.start_error);
    } else if (WIFSIGNALED(status)) {
        end.signal = WTERMSIG(status);
        end.exit_code = kExitSignalBase + WTERMSIG(status);
    } else {
        end.exit_code = WEXITSTATUS(status);
    }
    return end;
}

namespace {

bool has(const Libraries &libraries, std::string_view beginning) {
    const auto found = libraries.lower_bound(beginning);
    return found != libraries.end() && found->starts_with(beginning);
}

// Whether a driver is used, and not through us. Its library is loaded when it is used; the
// dispatching one when a program is linked with it. NVIDIA has one library for GLX and Vulkan.
bool is_glx_past_us(const Libraries &libraries) {
    return has(libraries, "libGLX.so") && has(libraries, "libGLX_") &&
           !has(libraries, "libGLX_cairn.so");
}
bool is_past_us(const Libraries &libraries) {
    const bool egl = has(libraries, "libEGL_") && !has(libraries, "libEGL_cairn.so");
    return egl || is_glx_past_us(libraries);
}

// The names of the files that a process has mapped.
Libraries mapped_files(const std::string &process) {
    Libraries names;
    std::ifstream maps(process + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const size_t slash = line.rfind('/');
        if (slash != std::string::npos) names.insert(line.substr(slash + 1));
    }
    return names;
}

// Also where that cannot be read.
bool has_our_variables(const std::string &process) {
    std::ifstream file(process + "/environ", std::ios::binary);
    bool is_empty = true;
    for (std::string variable; std::getline(file, variable, '\0');) {
        if (variable.starts_with(std::string(kRunReportVariable) + "=")) return true;
        is_empty = false;
    }
    return is_empty && !file.eof();
}

bool is_of_32_bits(const std::string &process) {
    constexpr size_t kClassAt = 4;
    constexpr char kClass32 = 1;
    std::array<char, kClassAt + 1> head = {};
    std::ifstream(process + "/exe", std::ios::binary).read(head.data(), head.size());
    return std::string_view(head.data(), kClassAt) ==
               "\x7f"
               "ELF" &&
           head[kClassAt] == kClass32;
}

std::vector<pid_t> children_of(const std::string &process) {
    std::vector<pid_t> children;
    std::error_code error;
    for (fs::directory_iterator task(process + "/task", error), end; !error && task != end;
         task.increment(error)) {
        std::ifstream file(task->path() / "children");
        for (pid_t child = 0; file >> child;) children.push_back(child);
    }
    return children;
}

}  // namespace

void add_libraries(const Libraries &libraries, Seen &seen) {
    const bool has_vulkan = has(libraries, "libvulkan.so") &&
                            (has(libraries, "libvulkan_") || has(libraries, "libGLX_nvidia"));
    seen.vulkan = seen.vulkan || has_vulkan;
    seen.past_us = seen.past_us || is_past_us(libraries);
    seen.glx = seen.glx || is_glx_past_us(libraries);
}

void look_at_processes(pid_t first, Seen &seen) {
    // A process that has ended may have given its number to another that is not ours; it is not
    // among the children of any.
    std::vector<pid_t> waiting = {first};
    for (size_t i = 0; i < waiting.size(); ++i) {
        const std::string process = fmt::format("/proc/{}", waiting[i]);
        const Libraries libraries = mapped_files(process);
        add_libraries(libraries, seen);
        if (is_past_us(libraries)) {
            seen.cleared_environment = seen.cleared_environment || !has_our_variables(process);
            seen.of_32_bits = seen.of_32_bits || is_of_32_bits(process);
        }
        const std::vector<pid_t> children = children_of(process);
        waiting.insert(waiting.end(), children.begin(), children.end());
    }
}

}  // namespace cairn::cli
