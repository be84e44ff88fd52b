// What the kinds of Unix sockets in this folder have in common: addresses and errors.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
// Failure: invalid_argument for a path that no address can hold.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

inline Error socket_error(int error_number) {
    switch (error_number) {
        case ENOBUFS:
        case ETOOMANYREFS:  // too many descriptors of this user are on their way
            return Error::busy;
        case ECONNREFUSED:
            return Error::not_found;
        case EADDRINUSE:
            return Error::exists;
        default:
            return error_from_errno(error_number);
    }
}

inline Result<sockaddr_un> address_of(const std::string &path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) return Error::invalid_argument;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

inline const sockaddr *any(const sockaddr_un &address) {
    return reinterpret_cast<const sockaddr *>(&address);
}

}  // namespace cairn
