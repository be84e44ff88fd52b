// SPDX-License-Identifier: MIT
#include "listener.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <stdexcept>
#include <utility>

namespace cairn::broker {
namespace {

constexpr std::uint64_t kLockPatienceUs = 2'000'000;

[[noreturn]] void fail(const std::string &problem) {
    throw std::runtime_error(problem);
}

SocketPlace take(const std::string &path) {
    // A broker that was killed a moment ago may have left a child, which makes a mount and then ends.
    auto place = SocketPlace::take(path, kLockPatienceUs);
    if (!place.ok()) fail(SocketPlace::problem(place.error(), path, "broker"));
    return std::move(place.value());
}

}  // namespace

std::optional<Socket> inherited_socket() {
    auto inherited = inherited_descriptor();
    if (inherited.ok() && !inherited->valid()) return std::nullopt;
    auto socket = inherited.ok() ? Socket::adopt(std::move(inherited.value()))
                                 : Result<Socket>(inherited.error());
    int listening = 0;
    socklen_t size = sizeof listening;
    if (!socket.ok() ||
        ::getsockopt(socket->fd(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
        listening == 0) {
        fail("socket activation has to hand over one socket, with ListenSequentialPacket=");
    }
    ::fcntl(socket->fd(), F_SETFD, FD_CLOEXEC);
    ::fcntl(socket->fd(), F_SETFL, ::fcntl(socket->fd(), F_GETFL) | O_NONBLOCK);
    return std::move(socket.value());
}

Listener::Listener(const std::string &path) : place_(take(path)) {
    auto socket = Socket::listen(path);
    if (!socket.ok()) fail(SocketPlace::problem(socket.error(), path, "broker"));
    socket_ = std::move(socket.value());
}

}  // namespace cairn::broker
