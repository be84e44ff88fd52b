// SPDX-License-Identifier: MIT
#include "warm/player.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "child.h"
#include "os/deadline.h"
#include "os/helper_process.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kPlayerEnv = "CAIRN_WARM_PLAYER";
constexpr int kLookMs = 100;  // so often it is looked whether to stop

uint64_t in_ms(unsigned ms) {
    return monotonic_ns() + uint64_t{ms} * 1'000'000;
}

struct Pipe {
    UniqueFd reading, writing;
};
Pipe make_pipe() {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw Failure(kExitFailure, "no pipe can be had: {}", error_text(errno));
    }
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

std::string find_player() {
    if (const char *chosen = std::getenv(kPlayerEnv); chosen != nullptr && *chosen != '\0') {
        return chosen;
    }
    const fs::path folder = fs::path(canonical_path("/proc/self/exe")).parent_path();
    const fs::path installed = (folder / CAIRN_WARM_FROM_BIN).lexically_normal();
    for (const fs::path &place : {folder / "../warm/cairn-warm", installed}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) return place.lexically_normal().string();
    }
    throw Failure(kExitFailure, "cairn-warm is not installed: it is not in {}",
                  installed.parent_path().string());
}

Player::Player(const std::string &program, const Words &environment, const std::atomic<bool> &stop)
    : stop_(stop) {
    Pipe input = make_pipe(), output = make_pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.reading.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output.writing.get(), STDOUT_FILENO);
    // Drivers have much to say.
    if (std::getenv("CAIRN_LOG") == nullptr) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    // The terminal's signals are for us, who end the player; and it is not the player's terminal.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    Words command = {program};
    const int error =
        posix_spawn(&process_, program.c_str(), &actions, &attributes,
                    argument_pointers(command).data(), argument_pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        process_ = -1;
        throw Failure(kExitFailure, "{} cannot be executed: {}", program, error_text(error));
    }
    input_ = std::move(input.writing);
    output_ = std::move(output.reading);
    ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

Player::~Player() {
    end();
}

void Player::end() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

bool Player::wait_for(int fd, short events, uint64_t deadline_ns) const {
    while (!stop_.load() && monotonic_ns() < deadline_ns) {
        pollfd wait = {fd, events, 0};
        const int ready = ::poll(&wait, 1, kLookMs);
        if (ready < 0 && errno != EINTR) return false;
        if (ready > 0) return true;
    }
    return false;
}

bool Player::write(std::string_view bytes, uint64_t deadline_ns) {
    while (!bytes.empty()) {
        if (!wait_for(input_.get(), POLLOUT, deadline_ns)) return false;
        const ssize_t count = ::write(input_.get(), bytes.data(), bytes.size());
        if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
        bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    }
    return true;
}

bool Player::read(MutableBytes bytes, uint64_t deadline_ns) {
    while (!bytes.empty()) {
        if (!wait_for(output_.get(), POLLIN, deadline_ns)) return false;
        const ssize_t count = ::read(output_.get(), bytes.data(), bytes.size());
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
        bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    }
    return true;
}

std::optional<std::string> Player::ask(const std::string &message, unsigned patience_ms) {
    constexpr uint32_t kAnswerMax = 1u << 20;
    if (process_ < 0) return std::nullopt;
    const uint64_t deadline = in_ms(patience_ms);
    std::array<std::byte, 4> head = {};
    put_le(MutableBytes(head), 0, static_cast<uint32_t>(message.size()));
    const std::string_view size(reinterpret_cast<const char *>(head.data()), head.size());
    if (!write(size, deadline) || !write(message, deadline) || !read(head, deadline)) {
        return std::nullopt;
    }
    const auto answer_size = get_le<uint32_t>(head, 0);
    if (answer_size > kAnswerMax) return std::nullopt;
    std::string answer(answer_size, '\0');
    const MutableBytes bytes(reinterpret_cast<std::byte *>(answer.data()), answer.size());
    return read(bytes, deadline) ? std::optional(answer) : std::nullopt;
}

std::optional<recipe::Ready> Player::open(const recipe::ContextKind &context,
                                          unsigned patience_ms) {
    const auto answer = ask(recipe::encode(context), patience_ms);
    return answer ? recipe::decode_ready(as_bytes(*answer)) : std::nullopt;
}

std::optional<recipe::Done> Player::work(const recipe::Work &work, unsigned patience_ms) {
    const auto answer = ask(recipe::encode(work), patience_ms);
    return answer ? recipe::decode_done(as_bytes(*answer)) : std::nullopt;
}

bool Player::finish(unsigned patience_ms) {
    if (process_ < 0) return false;
    input_.reset(-1);
    uint64_t deadline = in_ms(patience_ms);
    for (bool is_stopping = false; monotonic_ns() < deadline;) {
        if (!is_stopping && stop_.load()) {
            is_stopping = true;
            deadline = std::min(deadline, in_ms(kStopMs));
        }
        int status = 0;
        const pid_t ended = ::waitpid(process_, &status, WNOHANG);
        if (ended == process_) {
            process_ = -1;
            return status == 0;
        }
        if (ended < 0 && errno != EINTR) return false;
        ::poll(nullptr, 0, 2);
    }
    return false;
}

}  // namespace cairn::cli
