// SPDX-License-Identifier: MIT
#include "listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "os/deadline.h"
#include "os/environment.h"

namespace cairn::broker {
namespace {

constexpr int kFirstInherited = 3;  // SD_LISTEN_FDS_START
constexpr std::uint64_t kLockPatienceUs = 2'000'000;

// The directory that is to hold the socket: made where it is missing, and refused where others
// could put another socket there.
bool make_directory_of(const std::string &path, std::string &problem) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) {
        problem = path + ": an absolute path in a directory of its own is needed";
        return false;
    }
    const std::string directory = path.substr(0, slash);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
        problem = directory + ": " + std::strerror(errno);
        return false;
    }
    struct stat status;
    if (::stat(directory.c_str(), &status) != 0 || status.st_uid != effective_user() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        problem = directory + ": belongs to somebody else, or others may write to it";
        return false;
    }
    return true;
}

bool lock(const std::string &path, File &file, std::string &problem) {
    const std::string name = path + ".lock";
    const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        problem = name + ": " + std::strerror(errno);
        return false;
    }
    file = File(UniqueFd(fd));
    // One that was killed a moment ago may have left a child, which makes a mount and then ends.
    Backoff backoff(kLockPatienceUs);
    do {
        const auto locked = file.try_lock(0, LockKind::exclusive);
        if (locked.ok() && locked.value()) return true;
        if (!locked.ok()) break;
    } while (backoff.pause());
    problem = path + ": another broker serves it";
    return false;
}

}  // namespace

bool Listener::open(const std::string &path, Listener &listener, std::string &problem) {
    if (!make_directory_of(path, problem) || !lock(path, listener.lock_, problem)) return false;
    // What a killed broker left; never anything but a socket.
    struct stat status;
    if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path.c_str());
    auto socket = Socket::listen(path);
    if (!socket.ok()) {
        problem = path + (socket.error() == Error::exists ? ": is there, and is no socket"
                                                          : ": cannot listen there");
        return false;
    }
    listener.socket_ = std::move(socket.value());
    listener.path_ = path;
    return true;
}

bool Listener::inherit(Listener &listener, std::string &problem) {
    const char *process = std::getenv("LISTEN_PID");
    const char *count = std::getenv("LISTEN_FDS");
    const bool ours = process != nullptr && count != nullptr &&
                      std::strtol(process, nullptr, 10) == static_cast<long>(::getpid());
    const long number = ours ? std::strtol(count, nullptr, 10) : 0;
    ::unsetenv("LISTEN_PID");
    ::unsetenv("LISTEN_FDS");
    ::unsetenv("LISTEN_FDNAMES");
    if (number == 0) return false;
    int listening = 0;
    socklen_t size = sizeof listening;
    auto socket = Socket::adopt(UniqueFd(kFirstInherited));
    if (number != 1 || !socket.ok() ||
        ::getsockopt(socket->fd(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
        listening == 0) {
        problem = "socket activation has to hand over one socket, with ListenSequentialPacket=";
        return false;
    }
    ::fcntl(socket->fd(), F_SETFD, FD_CLOEXEC);
    ::fcntl(socket->fd(), F_SETFL, ::fcntl(socket->fd(), F_GETFL) | O_NONBLOCK);
    listener.socket_ = std::move(socket.value());
    return true;
}

Listener::~Listener() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace cairn::broker
