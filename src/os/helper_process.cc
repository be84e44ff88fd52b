// SPDX-License-Identifier: MIT
#include "os/helper_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "os/environment.h"
#include "os/system_calls.h"

namespace cairn {
namespace {

constexpr std::size_t kStackSize = 256 * 1024;
constexpr int kEndPatienceMs = 1000;

// The arguments of posix_spawn. They allocate, so they are made before anything is started.
class SpawnSettings {
  public:
    explicit SpawnSettings(int socket) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ok_ =
            posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO) == 0 &&
            posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO) == 0 &&
            posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_RDWR, 0) ==
                0 &&
            posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1) == 0 &&
            posix_spawn_file_actions_addchdir_np(&actions_, "/") == 0 &&
            posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
            posix_spawnattr_setsigdefault(&attributes_, &all) == 0 &&
            posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                       POSIX_SPAWN_SETSID) == 0;
    }
    SpawnSettings(const SpawnSettings &) = delete;
    SpawnSettings &operator=(const SpawnSettings &) = delete;
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }

    bool ok() const { return ok_; }
    int spawn(pid_t *process, char *const *command, char *const *environment) const {
        return ::posix_spawn(process, command[0], &actions_, &attributes_, command, environment);
    }

  private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
    bool ok_;
};

// With a null behind them.
void add_pointers(const std::vector<std::string> &texts, std::vector<char *> &pointers) {
    for (const std::string &text : texts) pointers.push_back(const_cast<char *>(text.c_str()));
    pointers.push_back(nullptr);
}

struct HelperStart {
    const SpawnSettings *settings;
    char *const *command;
    char *const *environment;
    int process = -1;  // a descriptor
    int error = 0;
};

// Runs in a process between us and the program, which shares our memory and descriptors while the
// calling thread stands still. It ends at once, so that the program is an orphan.
int start_program(void *argument) {
    HelperStart &start = *static_cast<HelperStart *>(argument);
    pid_t process = 0;
    start.error = start.settings->spawn(&process, start.command, start.environment);
    if (start.error == 0) {
        start.process = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    }
    return 0;
}

// The process between has no signal for its end, so no handler is called and only __WALL finds it.
int run_between(HelperStart &start) {
    const std::unique_ptr<std::byte[]> stack(new (std::nothrow) std::byte[kStackSize]);
    if (stack == nullptr) return ENOMEM;
    // A handler of the application's must not run there.
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t between = ::clone(start_program, stack.get() + kStackSize,
                                  CLONE_VM | CLONE_VFORK | CLONE_FILES, &start);
    const int error = between < 0 ? errno : 0;
    if (between > 0) {
        retry([&] { return ::waitpid(between, nullptr, __WALL); });
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

}  // namespace

Result<HelperProcess> HelperProcess::start(const std::string &program,
                                           const std::vector<std::string> &arguments,
                                           const std::vector<std::string> &environment) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return error_from_errno(errno);
    }
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return error_from_errno(errno);
    std::vector<char *> command = {const_cast<char *>(program.c_str())};
    add_pointers(arguments, command);
    std::vector<char *> variables;
    add_pointers(environment, variables);
    const SpawnSettings settings(theirs.get());
    if (!settings.ok()) return Error::no_memory;
    HelperStart start = {&settings, command.data(), variables.data()};
    const int between = run_between(start);
    const int error = between != 0 ? between : start.error;
    // That there are as many processes as there may be says nothing of the program.
    if (error != 0) return error == EAGAIN ? Error::no_memory : error_from_errno(error);
    return HelperProcess(std::move(ours), UniqueFd(start.process));
}

HelperProcess::~HelperProcess() {
    if (!process_.valid()) return;
    ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    // A process that adopts orphans (the first of a container, or a subreaper) has it as a child
    // by now.
    pollfd ended = {process_.get(), POLLIN, 0};
    retry([&] { return ::poll(&ended, 1, kEndPatienceMs); });
    siginfo_t info;
    ::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED | WNOHANG | __WALL);
}

Status HelperProcess::wait(short events, std::uint64_t deadline_ns) const {
    for (;;) {
        const std::uint64_t now = monotonic_ns();
        if (now >= deadline_ns) return Error::busy;
        const std::uint64_t left_ms = (deadline_ns - now) / 1'000'000 + 1;
        pollfd ready = {socket_.get(), events, 0};
        const int result =
            ::poll(&ready, 1, static_cast<int>(std::min<std::uint64_t>(left_ms, INT_MAX)));
        if (result > 0) return {};
        if (result < 0 && errno != EINTR) return error_from_errno(errno);
    }
}

Status HelperProcess::write(Bytes bytes, std::uint64_t deadline_ns) const {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            TRY(wait(POLLOUT, deadline_ns));
        } else if (errno != EINTR) {
            return Error::io;
        }
    }
    return {};
}

Status HelperProcess::end_input() const {
    if (::shutdown(socket_.get(), SHUT_WR) != 0) return Error::io;
    return {};
}

Result<std::size_t> HelperProcess::read(MutableBytes buffer, std::uint64_t deadline_ns) const {
    std::size_t done = 0;
    while (done < buffer.size()) {
        const ssize_t count = ::recv(socket_.get(), buffer.data() + done, buffer.size() - done, 0);
        if (count == 0 || (count < 0 && errno == ECONNRESET)) break;
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno == EAGAIN) {
            TRY(wait(POLLIN, deadline_ns));
        } else if (errno != EINTR) {
            return error_from_errno(errno);
        }
    }
    return done;
}

std::string canonical_path(const std::string &path) {
    std::array<char, PATH_MAX> found;
    return ::realpath(path.c_str(), found.data()) != nullptr ? found.data() : path;
}

std::string path_of_this_code() {
    Dl_info info = {};
    const auto here = reinterpret_cast<const void *>(&path_of_this_code);
    if (::dladdr(here, &info) == 0 || info.dli_fname == nullptr) return {};
    if (info.dli_fname[0] == '/') return info.dli_fname;
    // Of the program itself only the name is known that it was started by.
    return executable_path();
}

}  // namespace cairn
