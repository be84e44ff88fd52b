// SPDX-License-Identifier: MIT
#include "conversions/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "os/file.h"
#include "os/system_calls.h"

namespace cairn::conversions {
namespace {

using Clock = std::chrono::steady_clock;

// A sanitizer's own memory would not fit.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kBoundsMemory = false;
#else
constexpr bool kBoundsMemory = true;
#endif

// The child's exit status when it cannot be shut in.
constexpr int kNoSandbox = 77;

// The child writes this before messages and output. Both sides are the same program.
struct Head {
    std::uint64_t ok;
    std::uint64_t messages_size;
    std::uint64_t output_size;
};

Converted failure(const std::string &why) {
    return {false, {}, why + "\n"};
}

void write_all(int fd, const void *data, std::size_t size) {
    const char *next = static_cast<const char *>(data);
    while (size > 0) {
        const ssize_t count = retry([&] { return ::write(fd, next, size); });
        if (count <= 0) ::_exit(1);  // the parent has had enough
        next += count;
        size -= static_cast<std::size_t>(count);
    }
}

void bound(int resource, rlim_t limit) {
    const rlimit both = {limit, limit};
    ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

// Converters print, and what they print is neither output nor message.
void close_everything_but(int fd) {
    const int nothing = ::open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        ::dup2(nothing, STDIN_FILENO);
        ::dup2(nothing, STDOUT_FILENO);
        ::dup2(nothing, STDERR_FILENO);
    }
    if (fd > STDERR_FILENO + 1) ::close_range(STDERR_FILENO + 1, static_cast<unsigned>(fd) - 1, 0);
    ::close_range(static_cast<unsigned>(fd) + 1, ~0u, 0);
}

// A process that has a shared mapping for writing, such as the index of a cache, needs no system
// call to spoil it for everybody.
bool unmap_shared_memory() {
    FILE *maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return false;
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> shared;
    std::array<char, 8192> line;
    while (std::fgets(line.data(), line.size(), maps) != nullptr) {
        std::uintptr_t begin = 0, end = 0;
        std::array<char, 5> access = {};
        // NOLINTNEXTLINE(cert-err34-c): the kernel writes what fits
        const int fields = std::sscanf(line.data(), "%lx-%lx %4s", &begin, &end, access.data());
        if (fields == 3 && access[3] == 's') shared.emplace_back(begin, end);
    }
    std::fclose(maps);
    // NOLINTNEXTLINE(readability-use-anyofallof): the loop does something
    for (const auto &[begin, end] : shared) {
        if (::munmap(reinterpret_cast<void *>(begin), end - begin) != 0) return false;
    }
    return true;
}

bool refuse_system_calls() {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == nullptr) return false;
    bool done = true;
    // Memory, time, its own threads' affairs; read and write: only its answer and /dev/null are
    // open.
    for (const int call : {SCMP_SYS(read),
                           SCMP_SYS(write),
                           SCMP_SYS(close),
                           SCMP_SYS(fstat),
                           SCMP_SYS(newfstatat),
                           SCMP_SYS(lseek),
                           SCMP_SYS(mmap),
                           SCMP_SYS(munmap),
                           SCMP_SYS(mremap),
                           SCMP_SYS(mprotect),
                           SCMP_SYS(madvise),
                           SCMP_SYS(brk),
                           SCMP_SYS(futex),
                           SCMP_SYS(exit),
                           SCMP_SYS(exit_group),
                           SCMP_SYS(rt_sigaction),
                           SCMP_SYS(rt_sigprocmask),
                           SCMP_SYS(rt_sigreturn),
                           SCMP_SYS(sigaltstack),
                           SCMP_SYS(clock_gettime),
                           SCMP_SYS(clock_nanosleep),
                           SCMP_SYS(nanosleep),
                           SCMP_SYS(gettimeofday),
                           SCMP_SYS(getrandom),
                           SCMP_SYS(getpid),
                           SCMP_SYS(gettid),
                           SCMP_SYS(sched_yield),
                           SCMP_SYS(sched_getaffinity),
                           SCMP_SYS(restart_syscall),
                           SCMP_SYS(pause)}) {
        done = done && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0;
    }
    const scmp_arg_cmp itself = {0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid()), 0};
    for (const int call : {SCMP_SYS(tgkill), SCMP_SYS(kill)}) {
        done = done && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, itself) == 0;
    }
    done = done && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}

void enter_sandbox(int fd, pid_t parent, const Limits &limits) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE}) {
        ::signal(number, SIG_DFL);
    }
    const bool alone = unmap_shared_memory();
    close_everything_but(fd);
    bound(RLIMIT_CORE, 0);
    bound(RLIMIT_FSIZE, 0);
    bound(RLIMIT_NOFILE, 0);
    bound(RLIMIT_NPROC, 0);
    bound(RLIMIT_CPU, limits.seconds + 1);
    if (kBoundsMemory) bound(RLIMIT_AS, limits.memory_bytes);
    // Where the kernel cannot keep the child from doing harm, nothing is converted.
    if (!alone || !refuse_system_calls()) ::_exit(kNoSandbox);
}

[[noreturn]] void be_child(const ShaderConverter &converter, const Options &options,
                           std::string_view input, const Limits &limits, int fd, pid_t parent) {
    enter_sandbox(fd, parent, limits);
    Converted result;
    try {
        result = converter.convert(options, input);
    } catch (const std::exception &error) {
        result = failure(std::string("the converter gave up: ") + error.what());
    } catch (...) {
        result = failure("the converter gave up");
    }
    if (!result.ok) result.output.clear();
    if (result.messages.size() > limits.messages_bytes) {
        result.messages.resize(limits.messages_bytes);
    }
    const Head head = {result.ok ? 1u : 0u, result.messages.size(), result.output.size()};
    write_all(fd, &head, sizeof head);
    write_all(fd, result.messages.data(), result.messages.size());
    write_all(fd, result.output.data(), result.output.size());
    ::_exit(0);
}

// Reads until the other end is closed. Returns why the answer is not complete; empty when it is.
std::string read_answer(int fd, int client, const Limits &limits, std::string &answer) {
    const std::size_t size_max = sizeof(Head) + limits.messages_bytes + limits.output_bytes;
    const auto deadline = Clock::now() + std::chrono::seconds(limits.seconds);
    std::array<char, 65536> part;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        // A closed socket is reported without being asked for.
        std::array<pollfd, 2> wait = {pollfd{fd, POLLIN, 0}, pollfd{client, 0, 0}};
        const int ready = left <= 0 ? 0 : ::poll(wait.data(), wait.size(), static_cast<int>(left));
        if (ready == 0) {
            return "the converter was ended after " + std::to_string(limits.seconds) + " seconds";
        }
        if (ready > 0 && wait[1].revents != 0) return "nobody waits for it any more";
        const ssize_t count = ready < 0 ? -1 : ::read(fd, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return "the converter cannot be waited for";
        if (count == 0) return {};
        if (answer.size() + static_cast<std::size_t>(count) > size_max) {
            return "the output is larger than " + std::to_string(limits.output_bytes) + " bytes";
        }
        answer.append(part.data(), static_cast<std::size_t>(count));
    }
}

// Decodes the child's answer. False where it is not whole.
bool decode(const std::string &answer, const Limits &limits, Converted &result) {
    Head head;
    if (answer.size() < sizeof head) return false;
    std::memcpy(&head, answer.data(), sizeof head);
    const std::uint64_t rest = answer.size() - sizeof head;
    if (head.ok > 1 || head.messages_size > limits.messages_bytes || head.messages_size > rest ||
        head.output_size != rest - head.messages_size) {
        return false;
    }
    result.ok = head.ok == 1;
    result.messages = answer.substr(sizeof head, head.messages_size);
    result.output = answer.substr(sizeof head + head.messages_size);
    return true;
}

std::string how_it_ended(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSandbox) {
        return "this system does not let a process give up its rights (seccomp), so that no "
               "converter is run";
    }
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        return "the converter crashed on this input (signal " + std::to_string(number) + ", " +
               ::strsignal(number) + ")";
    }
    return "the converter ended on this input without an answer";
}

Converted collect(pid_t child, int fd, int client, const Limits &limits) {
    std::string answer;
    const std::string problem = read_answer(fd, client, limits, answer);
    if (!problem.empty()) ::kill(child, SIGKILL);
    int status = 0;
    retry([&] { return ::waitpid(child, &status, 0); });
    if (!problem.empty()) return failure(problem);
    Converted result;
    if (status != 0 || !decode(answer, limits, result)) return failure(how_it_ended(status));
    return result;
}

}  // namespace

Converted convert_in_child(const ShaderConverter &converter, const Options &options,
                           std::string_view input, const Limits &limits, int client) {
    if (input.size() > limits.input_bytes) {
        return failure("the input is larger than " + std::to_string(limits.input_bytes) + " bytes");
    }
    std::array<int, 2> pipe = {};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return failure(std::string("no pipe can be had: ") + std::strerror(errno));
    }
    const UniqueFd read_end(pipe[0]);
    UniqueFd write_end(pipe[1]);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) be_child(converter, options, input, limits, write_end.get(), parent);
    if (child < 0) return failure(std::string("no process can be had: ") + std::strerror(errno));
    write_end.reset(-1);
    return collect(child, read_end.get(), client, limits);
}

}  // namespace cairn::conversions
