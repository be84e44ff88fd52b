// SPDX-License-Identifier: MIT
#include "bench/harness/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/harness/stats.h"

namespace bench {
namespace {

[[noreturn]] void throw_errno(const char *what) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

pid_t spawn_self(const std::string &task, int pool_fd, int control_fd, int result_fd) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pool_fd, kPoolFd);
    ::posix_spawn_file_actions_adddup2(&actions, control_fd, kControlFd);
    ::posix_spawn_file_actions_adddup2(&actions, result_fd, kResultFd);
    std::string name = "store_bench";
    std::string option = "--task";
    std::string text = task;
    char *arguments[] = {name.data(), option.data(), text.data(), nullptr};
    pid_t pid = -1;
    int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        errno = error;
        throw_errno("starting a child");
    }
    return pid;
}

}  // namespace

ControlBlock::ControlBlock() : fd_(::memfd_create("store_bench-control", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::ftruncate(fd_, sizeof(Control)) != 0) {
        throw_errno("shared memory");
    }
    map();
}

ControlBlock::ControlBlock(int fd) : fd_(fd) {
    map();
}

ControlBlock::~ControlBlock() {
    ::munmap(control_, sizeof(Control));
    ::close(fd_);
}

void ControlBlock::map() {
    void *data = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (data == MAP_FAILED) {
        throw_errno("shared memory");
    }
    control_ = static_cast<Control *>(data);
}

void ControlBlock::reset() {
    control_->ready = 0;
    control_->go = 0;
    control_->stop = 0;
    for (auto &count : control_->progress) {
        count = 0;
    }
}

Child::Child(const nlohmann::json &task, int pool_fd, int control_fd) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw_errno("pipe");
    }
    result_fd_ = ends[0];
    try {
        process_ = Process(spawn_self(task.dump(), pool_fd, control_fd, ends[1]));
    } catch (...) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
    }
    ::close(ends[1]);
}

Child::Child(Child &&other) noexcept
    : process_(std::move(other.process_)), result_fd_(std::exchange(other.result_fd_, -1)) {}

Child::~Child() {
    if (result_fd_ >= 0) {
        ::close(result_fd_);
    }
}

void Child::kill() const {
    process_.signal(SIGKILL);
}

std::string Child::read_all(int timeout_s, bool &timed_out) {
    std::string text;
    const std::uint64_t deadline = now_ns() + static_cast<std::uint64_t>(timeout_s) * 1000000000;
    for (;;) {
        std::uint64_t now = now_ns();
        timed_out = now >= deadline;
        if (timed_out) {
            return text;
        }
        pollfd waiting{result_fd_, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>((deadline - now) / 1000000 + 1)) <= 0) {
            continue;
        }
        char part[65536];
        ssize_t got = ::read(result_fd_, part, sizeof(part));
        if (got <= 0) {
            return text;
        }
        text.append(part, static_cast<std::size_t>(got));
    }
}

ChildResult Child::wait(int timeout_s) {
    bool timed_out = false;
    std::string text = read_all(timeout_s, timed_out);
    if (timed_out) {
        kill();
    }
    const int status = process_.wait();
    ChildResult result;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.value = nlohmann::json::parse(text, nullptr, false);
    result.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && result.value.is_object();
    if (timed_out) {
        result.error = "did not end within " + std::to_string(timeout_s) + " s";
    } else if (result.signal != 0) {
        result.error = std::string("ended by signal ") + ::strsignal(result.signal);
    } else if (!result.ok) {
        result.error = result.value.is_object() ? result.value.value("error", "failed") : "failed";
    }
    return result;
}

void write_result(const nlohmann::json &value) {
    std::string text = value.dump();
    for (std::size_t done = 0; done < text.size();) {
        ssize_t wrote = ::write(kResultFd, text.data() + done, text.size() - done);
        if (wrote <= 0) {
            throw_errno("writing the result");
        }
        done += static_cast<std::size_t>(wrote);
    }
}

unsigned processor_count() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof(set), &set) != 0) {
        return 1;
    }
    return static_cast<unsigned>(CPU_COUNT(&set));
}

void pin_to_processor(unsigned number) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return;
    }
    unsigned position = number % static_cast<unsigned>(CPU_COUNT(&allowed));
    for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(processor, &allowed) && position-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            ::sched_setaffinity(0, sizeof(one), &one);
            return;
        }
    }
}

}  // namespace bench
