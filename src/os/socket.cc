// SPDX-License-Identifier: MIT
#include "os/socket.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "os/socket_address.h"
#include "os/system_calls.h"

namespace cairn {
namespace {

constexpr int kBacklog = 64;
constexpr int kKind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

Result<Socket> make_socket() {
    const int fd = ::socket(AF_UNIX, kKind, 0);
    if (fd < 0) return error_from_errno(errno);
    return Socket(UniqueFd(fd));
}

// -1: it is no socket.
int option_of(const UniqueFd &fd, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(fd.get(), SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

void take_descriptors(msghdr &header, std::vector<UniqueFd> &descriptors) {
    for (cmsghdr *part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            descriptors.emplace_back(fd);
        }
    }
}

using Control = std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsPerMessage)>;

}  // namespace

Result<Socket> Socket::adopt(UniqueFd fd) {
    const bool is_right =
        option_of(fd, SO_DOMAIN) == AF_UNIX && option_of(fd, SO_TYPE) == SOCK_SEQPACKET;
    if (!is_right) return Error::invalid_argument;
    return Socket(std::move(fd));
}

Result<std::pair<Socket, Socket>> Socket::pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, kKind, 0, fds) != 0) return error_from_errno(errno);
    return std::pair(Socket(UniqueFd(fds[0])), Socket(UniqueFd(fds[1])));
}

Result<Socket> Socket::connect(const std::string &path) {
    TRY_ASSIGN(const sockaddr_un address, address_of(path));
    TRY_ASSIGN(Socket socket, make_socket());
    if (retry([&] { return ::connect(socket.fd(), any(address), sizeof address); }) != 0) {
        return socket_error(errno);
    }
    return socket;
}

Result<Socket> Socket::listen(const std::string &path) {
    TRY_ASSIGN(const sockaddr_un address, address_of(path));
    TRY_ASSIGN(Socket socket, make_socket());
    // The file gets the socket's own mode: no other user can connect, not even for a moment.
    if (::fchmod(socket.fd(), 0600) != 0) return error_from_errno(errno);
    if (::bind(socket.fd(), any(address), sizeof address) != 0) return socket_error(errno);
    if (::listen(socket.fd(), kBacklog) != 0) return socket_error(errno);
    return socket;
}

Result<Socket> Socket::accept() const {
    const int fd =
        retry([&] { return ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
    if (fd >= 0) return Socket(UniqueFd(fd));
    if (errno == ECONNABORTED) return Error::busy;
    return socket_error(errno);
}

Result<std::uint32_t> Socket::peer_user() const {
    ucred peer = {};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return error_from_errno(errno);
    }
    return static_cast<std::uint32_t>(peer.uid);
}

Status Socket::send(Bytes message, std::span<const int> descriptors) const {
    assert(!message.empty() && descriptors.size() <= kDescriptorsPerMessage);
    iovec piece = {const_cast<std::byte *>(message.data()), message.size()};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    alignas(cmsghdr) Control control = {};
    if (!descriptors.empty()) {
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr *part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    const ssize_t sent =
        retry([&] { return ::sendmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL); });
    if (sent < 0) return socket_error(errno);
    return {};
}

Result<std::size_t> Socket::receive(MutableBytes buffer, std::vector<UniqueFd> *descriptors) const {
    iovec piece = {buffer.data(), buffer.size()};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    alignas(cmsghdr) Control control = {};
    if (descriptors != nullptr) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
    }
    const auto call = [&] {
        return retry(
            [&] { return ::recvmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
    };
    ssize_t count = call();
    // The other side closed with something of ours unread. The kernel says so once, and before it
    // gives what the other side had sent.
    if (count < 0 && errno == ECONNRESET) count = call();
    if (count < 0) return socket_error(errno);
    if (descriptors != nullptr) take_descriptors(header, *descriptors);
    if ((header.msg_flags & MSG_TRUNC) != 0) return Error::corrupt;
    return static_cast<std::size_t>(count);
}

bool Socket::drained() const {
    int queued = 0;
    return ::ioctl(fd_.get(), SIOCOUTQ, &queued) == 0 && queued == 0;
}

bool Socket::wait(For what, int timeout_ms) const {
    pollfd poll = {fd_.get(), static_cast<short>(what == For::reading ? POLLIN : POLLOUT), 0};
    return ::poll(&poll, 1, timeout_ms) > 0;
}

void Socket::shut_down() const {
    ::shutdown(fd_.get(), SHUT_RDWR);
}

}  // namespace cairn
