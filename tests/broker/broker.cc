// SPDX-License-Identifier: MIT
#include "broker/broker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace cairn_test {
namespace {

[[noreturn]] void exec_cairnd(const std::vector<std::string> &options) {
    std::vector<char *> arguments = {const_cast<char *>(CAIRND_PROGRAM)};
    for (const std::string &option : options)
        arguments.push_back(const_cast<char *>(option.c_str()));
    arguments.push_back(nullptr);
    ::execv(CAIRND_PROGRAM, arguments.data());
    ::_exit(127);
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

void pause_ms(unsigned milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

Broker::Broker(const std::string &directory, std::vector<std::string> options)
    : socket_(directory + "/run/broker.sock"),
      root_(directory + "/caches"),
      options_(std::move(options)) {
    start();
}

Broker::~Broker() {
    if (pid_ > 0) kill();
}

void Broker::start() {
    std::vector<std::string> options = {"--socket", socket_, "--root", root_};
    options.insert(options.end(), options_.begin(), options_.end());
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        exec_cairnd(options);
    }
    cairn_broker_options ask = {};
    ask.size = sizeof ask;
    ask.socket_path = socket_.c_str();
    ask.identifier = "started";
    int fd = -1;
    if (!eventually([&] { return cairn_broker_connect(&ask, &fd) == CAIRN_OK; })) std::abort();
    ::close(fd);
}

void Broker::signal(int number) const {
    ::kill(pid_, number);
}

int Broker::end(int number) {
    ::kill(pid_, number);
    return wait_for(std::exchange(pid_, 0));
}

void Broker::kill() {
    (void)end(SIGKILL);
}

void Broker::stop() const {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
}

int run_cairnd(const std::vector<std::string> &options, std::string &said) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) std::abort();
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(pipe[1], STDERR_FILENO);
        exec_cairnd(options);
    }
    ::close(pipe[1]);
    char buffer[1024];
    for (ssize_t count; (count = ::read(pipe[0], buffer, sizeof buffer)) > 0;) {
        said.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(pipe[0]);
    return wait_for(pid);
}

BrokerCache::BrokerCache(const Broker &broker, const std::string &identifier, std::uint64_t version,
                         std::uint64_t queue_bytes) {
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.socket_path = broker.socket().c_str();
    options.identifier = identifier.c_str();
    options.version = version;
    options.timeout_ms = kPatienceMs;
    options.queue_bytes = queue_bytes;
    result_ = cairn_broker_open(&options, &handle_);
}

BrokerCache BrokerCache::over(int fd) {
    BrokerCache cache;
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.timeout_ms = kPatienceMs;
    cache.result_ = cairn_broker_open_fd(fd, &options, &cache.handle_);
    return cache;
}

int BrokerCache::put(ByteView key, ByteView value, std::uint32_t flags) {
    cairn_put_options options = {};
    options.size = sizeof options;
    options.flags = flags;
    return cairn_put(handle_, key.data(), key.size(), value.data(), value.size(), &options);
}

std::optional<std::string> BrokerCache::get(ByteView key) {
    cairn_blob *found = nullptr;
    if (cairn_get(handle_, key.data(), key.size(), &found) != CAIRN_OK) return std::nullopt;
    return as_string(Blob(found).bytes());
}

std::optional<std::string> BrokerCache::get_soon(const std::string &key) {
    std::optional<std::string> found;
    eventually([&] { return (found = get(key)).has_value(); });
    return found;
}

cairn_broker_stats BrokerCache::stats() {
    cairn_broker_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_broker_stats_get(handle_, &stats) != CAIRN_OK) std::abort();
    return stats;
}

}  // namespace cairn_test
