// SPDX-License-Identifier: MIT
#include "listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "os/environment.h"

namespace cairn::broker {
namespace {

constexpr int kFirstInherited = 3;  // SD_LISTEN_FDS_START
constexpr std::uint64_t kLockPatienceUs = 2'000'000;

[[noreturn]] void fail(const std::string &problem) {
    throw std::runtime_error(problem);
}

// Makes the directory that is to hold the socket where it is missing, and refuses one where others
// could put another socket in its place.
void make_directory_of(const std::string &path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) {
        fail(path + ": an absolute path in a directory of its own is needed");
    }
    const std::string directory = path.substr(0, slash);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
        fail(directory + ": " + std::strerror(errno));
    }
    const auto info = file_info(directory);
    if (!info.ok() || info->owner != effective_user() || info->writable_by_others) {
        fail(directory + ": belongs to somebody else, or others may write to it");
    }
}

ByteLock lock(const std::string &path) {
    const std::string name = path + ".lock";
    File file(UniqueFd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)));
    if (!file.valid()) fail(name + ": " + std::strerror(errno));
    // A broker that was killed a moment ago may have left a child, which makes a mount and then ends.
    auto locked = ByteLock::acquire(std::make_shared<File>(std::move(file)), 0, kLockPatienceUs);
    if (!locked.ok()) fail(path + ": another broker serves it");
    return std::move(locked.value());
}

}  // namespace

std::optional<Socket> inherited_socket() {
    const char *process = std::getenv("LISTEN_PID");
    const char *count = std::getenv("LISTEN_FDS");
    const bool ours = process != nullptr && count != nullptr &&
                      std::strtol(process, nullptr, 10) == static_cast<long>(::getpid());
    const long number = ours ? std::strtol(count, nullptr, 10) : 0;
    ::unsetenv("LISTEN_PID");
    ::unsetenv("LISTEN_FDS");
    ::unsetenv("LISTEN_FDNAMES");
    if (number == 0) return std::nullopt;
    int listening = 0;
    socklen_t size = sizeof listening;
    auto socket = Socket::adopt(UniqueFd(kFirstInherited));
    if (number != 1 || !socket.ok() ||
        ::getsockopt(socket->fd(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
        listening == 0) {
        fail("socket activation has to hand over one socket, with ListenSequentialPacket=");
    }
    ::fcntl(socket->fd(), F_SETFD, FD_CLOEXEC);
    ::fcntl(socket->fd(), F_SETFL, ::fcntl(socket->fd(), F_GETFL) | O_NONBLOCK);
    return std::move(socket.value());
}

Listener::Listener(const std::string &path) {
    make_directory_of(path);
    lock_.emplace(lock(path));
    // A killed broker may have left its socket; anything else stays.
    struct stat status;
    if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path.c_str());
    auto socket = Socket::listen(path);
    if (!socket.ok()) {
        fail(path + (socket.error() == Error::exists ? ": is there, and is no socket"
                                                     : ": cannot listen there"));
    }
    socket_ = std::move(socket.value());
    path_ = path;
}

Listener::~Listener() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace cairn::broker
