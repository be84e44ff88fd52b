// SPDX-License-Identifier: MIT
#include "fault_proxy.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace cairn_test {
namespace {

// How often threads look whether they are to end.
constexpr int kLookMs = 10;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

// Bound, and not listening: connections to it are refused.
int bound_socket(std::uint16_t port) {
    const int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    setsockopt(bound, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    const sockaddr_in address = loopback(port);
    if (bind(bound, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0) {
        std::perror("the proxy's port");
        std::abort();
    }
    return bound;
}

std::uint16_t port_of(int bound) {
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    getsockname(bound, reinterpret_cast<sockaddr *>(&address), &size);
    return ntohs(address.sin_port);
}

bool send_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// The first length that an answer tells, of HTTP or of Redis, is changed by so much.
std::string with_other_length(std::string answer, long long difference) {
    const std::string header = "Content-Length: ";
    std::size_t at = answer.find(header);
    if (at != std::string::npos) {
        at += header.size();
    } else if (answer.starts_with('$')) {
        at = 1;
    } else {
        return answer;
    }
    const std::size_t end = answer.find('\r', at);
    if (end == std::string::npos) return answer;
    const long long length = std::atoll(answer.substr(at, end - at).c_str());
    return answer.replace(at, end - at, std::to_string(std::max(length + difference, 0LL)));
}

std::string garbage() {
    std::string bytes = "\x01\xff<html>";
    for (unsigned i = 0; i < 4000; ++i) bytes += static_cast<char>((i * 2654435761U) >> 13);
    return bytes;
}

}  // namespace

const char *fault_name(Fault fault) {
    switch (fault) {
        case Fault::none:
            return "none";
        case Fault::refuse:
            return "refuse";
        case Fault::hang:
            return "hang";
        case Fault::hang_inside:
            return "hang_inside";
        case Fault::cut:
            return "cut";
        case Fault::slow:
            return "slow";
        case Fault::garbage:
            return "garbage";
        case Fault::longer:
            return "longer";
        case Fault::shorter:
            return "shorter";
    }
    return "";
}

FaultProxy::FaultProxy(std::uint16_t target) : target_(target), listener_(bound_socket(0)) {
    port_ = port_of(listener_);
    listen(listener_, 64);
    acceptor_ = std::thread([this] { accept_all(); });
}

FaultProxy::~FaultProxy() {
    ends_ = true;
    acceptor_.join();
    for (std::thread &connection : connections_) connection.join();
    close(listener_);
}

void FaultProxy::set(Fault fault, std::size_t after) {
    const std::lock_guard lock(mutex_);
    if (fault == Fault::refuse) {
        close(listener_);
        listener_ = bound_socket(port_);
    } else {
        listen(listener_, 64);
    }
    after_ = after;
    fault_ = fault;
}

void FaultProxy::accept_all() {
    while (!ends_) {
        {
            const std::lock_guard lock(mutex_);
            const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (client >= 0) {
                ++accepted_;
                connections_.emplace_back([this, client] { serve(client); });
                continue;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool FaultProxy::pass_answer(int from, int client, std::size_t &passed) {
    const Fault fault = fault_;
    const std::size_t after = after_;
    char piece[16 << 10];
    std::size_t room = sizeof(piece);
    if (fault == Fault::slow) {
        room = 100;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const bool ends_inside = fault == Fault::hang_inside || fault == Fault::cut;
    if (ends_inside) room = std::min(room, after - std::min(after, passed));
    if (room == 0) {
        if (fault == Fault::cut) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
        return true;
    }
    const ssize_t count = recv(from, piece, room, 0);
    if (count <= 0) return false;
    std::string answer(piece, static_cast<std::size_t>(count));
    if (passed == 0 && fault == Fault::longer) answer = with_other_length(answer, 500);
    if (passed == 0 && fault == Fault::shorter) answer = with_other_length(answer, -500);
    passed += answer.size();
    return send_all(client, answer);
}

void FaultProxy::serve(int client) {
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(target_);
    bool goes_on =
        connect(server, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
    std::size_t passed = 0;
    bool is_hung = false;
    while (goes_on && !ends_ && fault_ != Fault::refuse) {
        // Also when the proxy works again: what the client gave up does not reach the server late.
        is_hung = is_hung || fault_ == Fault::hang;
        if (is_hung) {
            std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
            continue;
        }
        pollfd events[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
        if (poll(events, 2, kLookMs) <= 0) continue;
        if (events[0].revents != 0) {
            char piece[16 << 10];
            const ssize_t count = recv(client, piece, sizeof(piece), 0);
            passed = 0;
            if (count > 0 && fault_ == Fault::garbage) {
                (void)send_all(client, garbage());
                break;
            }
            goes_on = count > 0 && send_all(server, {piece, static_cast<std::size_t>(count)});
        }
        if (goes_on && events[1].revents != 0) goes_on = pass_answer(server, client, passed);
    }
    close(client);
    close(server);
}

}  // namespace cairn_test
