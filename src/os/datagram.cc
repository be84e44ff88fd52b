// SPDX-License-Identifier: MIT
#include "os/datagram.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "os/socket_address.h"
#include "os/system_calls.h"

namespace cairn {
namespace {

constexpr int kKind = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

Result<UniqueFd> make_socket() {
    UniqueFd fd(::socket(AF_UNIX, kKind, 0));
    if (!fd.valid()) return error_from_errno(errno);
    return fd;
}

Result<int> option_of(const UniqueFd &fd, int name) {
    int value = 0;
    socklen_t size = sizeof value;
    if (::getsockopt(fd.get(), SOL_SOCKET, name, &value, &size) != 0) {
        return error_from_errno(errno);
    }
    return value;
}

std::optional<std::uint32_t> sender_in(msghdr &header) {
    for (cmsghdr *part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
        ucred sender = {};
        std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
        return sender.uid;
    }
    return std::nullopt;
}

}  // namespace

Status send_datagram(const std::string &path, Bytes message) {
    TRY_ASSIGN(sockaddr_un address, address_of(path));
    TRY_ASSIGN(const UniqueFd fd, make_socket());
    iovec piece = {const_cast<std::byte *>(message.data()), message.size()};
    msghdr header = {};
    header.msg_name = &address;
    header.msg_namelen = sizeof address;
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    // It is not repeated: a call that does not wait is not interrupted.
    if (::sendmsg(fd.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return socket_error(errno);
    return {};
}

Result<DatagramSocket> DatagramSocket::adopt(UniqueFd fd) {
    const auto domain = option_of(fd, SO_DOMAIN);
    const auto type = option_of(fd, SO_TYPE);
    const bool is_right =
        domain.ok() && domain.value() == AF_UNIX && type.ok() && type.value() == SOCK_DGRAM;
    DatagramSocket socket(std::move(fd));
    if (!is_right || !socket.path().ok()) return Error::invalid_argument;
    ::fcntl(socket.fd(), F_SETFD, FD_CLOEXEC);
    ::fcntl(socket.fd(), F_SETFL, ::fcntl(socket.fd(), F_GETFL) | O_NONBLOCK);
    TRY(socket.name_senders());
    return socket;
}

Result<DatagramSocket> DatagramSocket::bind(const std::string &path) {
    TRY_ASSIGN(const sockaddr_un address, address_of(path));
    TRY_ASSIGN(UniqueFd fd, make_socket());
    DatagramSocket socket(std::move(fd));
    TRY(socket.name_senders());
    // The file gets the socket's own mode: no other user can send, not even for a moment.
    if (::fchmod(socket.fd(), 0600) != 0) return error_from_errno(errno);
    if (::bind(socket.fd(), any(address), sizeof address) != 0) return socket_error(errno);
    return socket;
}

// From now on the kernel adds to each message who sent it, whether the sender wants it or not.
Status DatagramSocket::name_senders() const {
    const int yes = 1;
    if (::setsockopt(fd(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
        return error_from_errno(errno);
    }
    return {};
}

Result<std::string> DatagramSocket::path() const {
    sockaddr_un address = {};
    socklen_t size = sizeof address;
    if (::getsockname(fd(), reinterpret_cast<sockaddr *>(&address), &size) != 0) {
        return error_from_errno(errno);
    }
    constexpr std::size_t kBegin = offsetof(sockaddr_un, sun_path);
    // Abstract names begin with a zero.
    if (size <= kBegin || address.sun_path[0] == '\0') return Error::not_found;
    return std::string(address.sun_path, ::strnlen(address.sun_path, size - kBegin));
}

Result<DatagramSocket::Received> DatagramSocket::receive(MutableBytes buffer) const {
    iovec piece = {buffer.data(), buffer.size()};
    // There is no room for descriptors: the kernel closes those that somebody sends.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control = {};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t count =
        retry([&] { return ::recvmsg(fd(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
    if (count < 0) return socket_error(errno);
    const auto user = sender_in(header);
    if ((header.msg_flags & MSG_TRUNC) != 0 || !user) return Error::corrupt;
    return Received{static_cast<std::size_t>(count), *user};
}

}  // namespace cairn
