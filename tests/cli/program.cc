// SPDX-License-Identifier: MIT
#include "program.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(const char *what) {
    std::perror(what);
    std::abort();
}

// Settings of the user who runs the tests must not reach the program.
const Environment kClean = {{"CAIRN_DIR", ""},
                            {"CAIRN_DISABLE", ""},
                            {"CAIRN_DEVELOPER_MODE", ""},
                            {"CAIRN_LIMIT", ""},
                            {"CAIRN_REPORT", ""},
                            {"CAIRN_EGL_MANIFEST", ""},
                            {"CAIRN_EGL_VENDORS", ""},
                            {"XDG_CACHE_HOME", ""},
                            {"__EGL_VENDOR_LIBRARY_FILENAMES", ""},
                            {"__GLX_VENDOR_LIBRARY_NAME", ""},
                            {"CAIRN_GLX_VENDOR", ""},
                            {"TZ", "UTC"},
                            {"__EGL_VENDOR_LIBRARY_DIRS", ""}};

void apply(const Environment &environment) {
    for (const auto &[name, value] : environment) {
        if (value.empty()) {
            unsetenv(name.c_str());
        } else {
            setenv(name.c_str(), value.c_str(), 1);
        }
    }
}

[[noreturn]] void execute(const std::vector<std::string> &command) {
    std::vector<char *> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string &argument : command) {
        arguments.push_back(const_cast<char *>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(96);
}

[[noreturn]] void become(const std::vector<std::string> &command, const Environment &environment,
                         const std::string &input_file, int output, const std::string &error_file) {
    // So that stopping it does not depend on how the tests were started: a group without a parent
    // cannot be stopped.
    setpgid(0, 0);
    const int error = open(error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int input = open(input_file.c_str(), O_RDONLY | O_CLOEXEC);
    if (error < 0 || input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0) {
        _exit(97);
    }
    apply(kClean);
    apply(environment);
    execute(command);
}

// 1000 + n when signal n ended it.
int exit_code_of(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) {
        give_up("waitpid");
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Folder::Folder() {
    std::string name = (fs::temp_directory_path() / "cairn-cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        give_up("mkdtemp");
    }
    path_ = name;
}

Folder::~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string Folder::write(const std::string &name, const std::string &text) const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
}

std::string read_file(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

Program::Program(const std::vector<std::string> &command, const Environment &environment,
                 const std::string &input) {
    std::array<int, 2> pipe = {};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
        give_up("pipe2");
    }
    pid_ = fork();
    if (pid_ < 0) {
        give_up("fork");
    }
    if (pid_ == 0) {
        become(command, environment, input, pipe[1], folder_ / "stderr");
    }
    setpgid(pid_, pid_);  // as the child does: whichever is first, the destructor finds the group
    close(pipe[1]);
    output_ = pipe[0];
}

Program::~Program() {
    if (pid_ > 0) {
        kill(-pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(output_);
}

std::string Program::read_line() {
    std::string line;
    char character = 0;
    while (true) {
        const ssize_t size = read(output_, &character, 1);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0 || character == '\n') {
            return line;
        }
        line += character;
    }
}

bool Program::wait_until_stopped() {
    int status = 0;
    if (waitpid(pid_, &status, WUNTRACED) != pid_) {
        give_up("waitpid");
    }
    if (WIFSTOPPED(status)) {
        return true;
    }
    pid_ = -1;
    return false;
}

int Program::wait() {
    std::array<char, 4096> part = {};
    ssize_t size = 0;
    while ((size = read(output_, part.data(), part.size())) > 0) {
        standard_output_.append(part.data(), static_cast<size_t>(size));
    }
    return exit_code_of(std::exchange(pid_, -1));
}

TerminalProgram::TerminalProgram(const std::vector<std::string> &command,
                                 const Environment &environment) {
    pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ < 0) {
        give_up("forkpty");
    }
    if (pid_ == 0) {
        apply(kClean);
        apply({{"TERM", "xterm"}});
        apply(environment);
        execute(command);
    }
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
}

TerminalProgram::~TerminalProgram() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(terminal_);
}

bool TerminalProgram::read_more() {
    std::array<char, 4096> part = {};
    ssize_t size = 0;
    do {
        size = read(terminal_, part.data(), part.size());
    } while (size < 0 && errno == EINTR);
    shown_.append(part.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return size > 0;
}

bool TerminalProgram::wait_for(const std::string &text) {
    while (shown_.find(text) == std::string::npos) {
        if (!read_more()) {
            return false;
        }
    }
    return true;
}

void TerminalProgram::resize(unsigned rows, unsigned columns) const {
    winsize size = {};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    if (ioctl(terminal_, TIOCSWINSZ, &size) != 0) give_up("ioctl");
}

void TerminalProgram::send_signal(int signal) const {
    if (kill(pid_, signal) != 0) give_up("kill");
}

void TerminalProgram::type(const std::string &text) const {
    if (write(terminal_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        give_up("write");
    }
}

int TerminalProgram::wait() {
    while (read_more()) {
    }
    return exit_code_of(std::exchange(pid_, -1));
}

std::vector<std::string> cairn_command(const std::vector<std::string> &arguments) {
    std::vector<std::string> command = {CAIRN_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

Finished cairn(const std::vector<std::string> &arguments, const Environment &environment,
               const std::string &input) {
    Program program(cairn_command(arguments), environment, input);
    const int exit_code = program.wait();
    return {exit_code, program.standard_output(), program.standard_error()};
}

}  // namespace cairn::cli_test
