// SPDX-License-Identifier: MIT
#include "remotes/redis_connection.h"

#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "remotes/failure.h"

namespace cairn::remotes {
namespace {

constexpr std::size_t kPieceSize = 64 << 10;

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo *)>;

Addresses look_up(const RedisNode &node, int flags) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo *found = nullptr;
    const int result =
        getaddrinfo(node.host.c_str(), std::to_string(node.port).c_str(), &hints, &found);
    return {result == 0 ? found : nullptr, freeaddrinfo};
}

// A look-up in a thread of its own, which is left behind if it hangs: nothing ends getaddrinfo().
struct LookUp {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    Addresses found{nullptr, freeaddrinfo};
};

Addresses look_up_within(const RedisNode &node, std::uint64_t patience_ms) {
    Addresses at_once = look_up(node, AI_NUMERICHOST);
    if (at_once) return at_once;
    const auto shared = std::make_shared<LookUp>();
    std::thread([shared, node] {
        Addresses found = look_up(node, 0);
        const std::lock_guard lock(shared->mutex);
        shared->found = std::move(found);
        shared->is_done = true;
        shared->changed.notify_all();
    }).detach();
    std::unique_lock lock(shared->mutex);
    shared->changed.wait_for(lock, std::chrono::milliseconds(patience_ms),
                             [&] { return shared->is_done; });
    return std::move(shared->found);
}

std::string encoded(const RedisConnection::Command &command) {
    std::vector<const char *> words;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : command) {
        words.push_back(word.data());
        sizes.push_back(word.size());
    }
    char *bytes = nullptr;
    const auto size =
        redisFormatCommandArgv(&bytes, static_cast<int>(words.size()), words.data(), sizes.data());
    if (size < 0) throw std::bad_alloc();
    const std::unique_ptr<char, void (*)(char *)> owner(bytes, redisFreeCommand);
    return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

std::string RedisNode::text() const {
    const bool is_address = host.find(':') != std::string::npos;
    return (is_address ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

RedisConnection::RedisConnection(std::string remote, RedisNode node, const Limits &limits,
                                 CallClock &clock)
    : remote_(std::move(remote)), node_(std::move(node)), limits_(limits) {
    connect(clock);
}

void RedisConnection::fail_here(const std::string &what) const {
    fail(Trouble::unreachable, remote_, "the server " + node_.text() + " " + what);
}

void RedisConnection::connect(CallClock &clock) {
    const std::uint64_t patience_ms = std::min(limits_.connect_ms, clock.left_ms());
    const Addresses addresses = look_up_within(node_, patience_ms);
    if (!addresses) fail_here("has a name that nobody knows, or not in time");
    // All addresses together have the time of one connection.
    Limits limits = limits_;
    limits.call_ms = limits.stall_ms = patience_ms;
    CallClock connect_clock(limits);
    for (const addrinfo *each = addresses.get(); each != nullptr; each = each->ai_next) {
        if (connect_to(*each, connect_clock)) return;
    }
    fail_here("cannot be connected to");
}

bool RedisConnection::connect_to(const addrinfo &address, CallClock &clock) {
    socket_ =
        UniqueFd(socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_.valid()) return false;
    if (::connect(socket_.get(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno != EINPROGRESS) return false;
        pollfd event = {socket_.get(), POLLOUT, 0};
        while (poll(&event, 1, clock.wait_ms()) <= 0) {
            if (clock.look() != CallClock::State::going) return false;
        }
        int error_number = 0;
        socklen_t size = sizeof(error_number);
        if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error_number, &size) != 0 ||
            error_number != 0) {
            return false;
        }
    }
    // Commands are written whole, and their answers are waited for.
    const int yes = 1;
    (void)setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return true;
}

void RedisConnection::wait_for(short events, CallClock &clock) {
    for (;;) {
        const CallClock::State state = clock.look();
        if (state == CallClock::State::over) fail_here("took too long");
        if (state == CallClock::State::stalled) fail_here("hangs or is too slow");
        pollfd event = {socket_.get(), events, 0};
        if (poll(&event, 1, clock.wait_ms()) > 0) return;
    }
}

void RedisConnection::send(std::string_view bytes, CallClock &clock) {
    while (!bytes.empty()) {
        const ssize_t count =
            ::send(socket_.get(), bytes.data(), std::min(bytes.size(), kPieceSize), MSG_NOSIGNAL);
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
            clock.moved(static_cast<std::uint64_t>(count));
        } else if (errno == EAGAIN) {
            wait_for(POLLOUT, clock);
        } else if (errno != EINTR) {
            fail_here("has closed the connection");
        }
        if (clock.look() == CallClock::State::over) wait_for(POLLOUT, clock);
    }
}

RedisReply RedisConnection::ask(const Command &command, std::uint64_t answer_max, CallClock &clock,
                                Traffic &traffic) {
    clock.begin_window();
    ++traffic.requests;
    const std::string bytes = encoded(command);
    send(bytes, clock);
    traffic.bytes_out += bytes.size();
    RedisReader reader(answer_max);
    std::vector<char> piece(kPieceSize);
    for (;;) {
        wait_for(POLLIN, clock);
        const ssize_t count = recv(socket_.get(), piece.data(), piece.size(), 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (count <= 0) fail_here("has closed the connection");
        clock.moved(static_cast<std::uint64_t>(count));
        traffic.bytes_in += static_cast<std::uint64_t>(count);
        const auto state = reader.feed({piece.data(), static_cast<std::size_t>(count)});
        if (state == RedisReader::State::senseless) fail_here("answers what makes no sense");
        if (state == RedisReader::State::finished) return reader.take();
    }
}

bool RedisConnection::is_stale() const {
    pollfd event = {socket_.get(), POLLIN, 0};
    return poll(&event, 1, 0) != 0;
}

}  // namespace cairn::remotes
