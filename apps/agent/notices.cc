// SPDX-License-Identifier: MIT
#include "notices.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "os/environment.h"
#include "place.h"

namespace cairn::agent {
namespace {

constexpr std::uint64_t kPausedMs = 100;  // while more came than may

DatagramSocket bind(const std::string &path) {
    auto socket = DatagramSocket::bind(path);
    if (!socket.ok()) fail_at(socket.error(), path);
    return std::move(socket.value());
}

// It has a name, or it would not have been taken over.
SocketPlace join_place(const DatagramSocket &socket) {
    const auto path = socket.path();
    if (!path.ok()) fail_at(path.error(), "the socket");
    auto place = SocketPlace::join(path.value(), kLockPatienceUs);
    if (!place.ok()) fail_at(place.error(), path.value());
    return std::move(place.value());
}

}  // namespace

std::optional<DatagramSocket> inherited_socket() {
    auto inherited = inherited_descriptor();
    if (inherited.ok() && !inherited->valid()) return std::nullopt;
    if (inherited.ok()) {
        auto socket = DatagramSocket::adopt(std::move(inherited.value()));
        if (socket.ok()) return std::move(socket.value());
    }
    throw std::runtime_error("socket activation has to hand over one socket, with ListenDatagram=");
}

Notices::Notices(const std::string &path, double per_second)
    : place_(take_place(path)), socket_(bind(path)), messages_(per_second, monotonic_ns()) {}

Notices::Notices(DatagramSocket inherited, double per_second)
    : place_(join_place(inherited)),
      socket_(std::move(inherited)),
      messages_(per_second, monotonic_ns()) {}

std::vector<AgentNotice> Notices::wait(std::uint64_t timeout_ms, std::span<const int> others) {
    messages_.refill(monotonic_ns());
    const bool is_paused = messages_.empty();
    if (is_paused) timeout_ms = std::min(timeout_ms, kPausedMs);
    // The kernel passes over descriptors that are below zero.
    std::vector<pollfd> waited = {{is_paused ? -1 : socket_.fd(), POLLIN, 0}};
    for (const int fd : others) waited.push_back({fd, POLLIN, 0});
    constexpr std::uint64_t kHourMs = 3600'000;
    const int ready =
        ::poll(waited.data(), waited.size(), static_cast<int>(std::min(timeout_ms, kHourMs)));
    if (ready < 0 && errno != EINTR) sleep_us(kPausedMs * 1000);  // as without memory
    std::vector<AgentNotice> notices;
    if (ready > 0 && waited[0].revents != 0) take(notices);
    return notices;
}

void Notices::take(std::vector<AgentNotice> &notices) {
    std::array<std::byte, kAgentNoticeSizeMax> buffer;
    for (; !messages_.empty(); messages_.spend(1)) {
        const auto received = socket_.receive(buffer);
        if (!received.ok() && received.error() != Error::corrupt) return;
        if (received.ok() && received->user != effective_user()) {
            ++counts_.foreign;
            continue;
        }
        auto notice = received.ok() ? decode_agent_notice(Bytes(buffer).first(received->size_bytes))
                                    : std::nullopt;
        ++(notice ? counts_.taken : counts_.malformed);
        if (notice) notices.push_back(std::move(*notice));
    }
}

}  // namespace cairn::agent
