// SPDX-License-Identifier: MIT
#include "presence.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace cairn::d3d12 {
namespace {

constexpr const char *kFileName = "/sessions.lock";
constexpr off_t kSessionByte = 0;
constexpr off_t kMeasureByte = 1;
constexpr unsigned kAttempts = 2000;  // of a millisecond each

enum class Lock { held, refused, impossible };

Lock try_lock(int fd, off_t byte, short type) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
        return Lock::held;
    }
    return errno == EAGAIN || errno == EACCES || errno == EINTR ? Lock::refused : Lock::impossible;
}

void wait_a_moment() {
    const timespec moment = {0, 1'000'000};
    nanosleep(&moment, nullptr);
}

}  // namespace

Presence::~Presence() {
    close();
}

void Presence::close() {
    if (fd_ >= 0) {
        ::close(fd_);
        fd_ = -1;
    }
}

bool Presence::open(const std::string &path) {
    close();
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd_ < 0 && (errno == EACCES || errno == EROFS)) {
        fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    }
    struct stat info = {};
    if (fd_ >= 0 && (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode))) {
        close();
    }
    return fd_ >= 0;
}

// Somebody may have deleted the file between open and lock: then it keeps nobody else out.
bool Presence::has_name(const std::string &path) const {
    struct stat ours = {};
    struct stat named = {};
    return fstat(fd_, &ours) == 0 && lstat(path.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

bool Presence::is_marked() const {
    struct stat info = {};
    return fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_size > 0;
}

Presence::Joined Presence::join(const std::string &directory) {
    const std::string path = directory + kFileName;
    process_ = getpid();
    for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
        if ((fd_ < 0 || !has_name(path)) && !open(path)) {
            return Joined::yes;
        }
        Lock lock = try_lock(fd_, kSessionByte, F_WRLCK);
        if (lock == Lock::held && has_name(path)) {
            if (is_marked()) {
                return Joined::must_clear;
            }
            (void)try_lock(fd_, kSessionByte, F_RDLCK);
            return Joined::yes;
        }
        // One that is open for reading only cannot be locked exclusively.
        lock = try_lock(fd_, kSessionByte, F_RDLCK);
        if (lock == Lock::impossible) {
            return Joined::yes;
        }
        if (lock == Lock::held && has_name(path)) {
            return Joined::yes;
        }
        wait_a_moment();
    }
    close();
    return Joined::busy;
}

void Presence::cleared() {
    // Should that fail, the cache is cleared once more than needed.
    [[maybe_unused]] const int unmarked = ftruncate(fd_, 0);
    (void)try_lock(fd_, kSessionByte, F_RDLCK);
}

bool Presence::mark_for_clearing() const {
    return fd_ >= 0 && ftruncate(fd_, 1) == 0;
}

Presence::Left Presence::leave() {
    if (fd_ < 0 || process_ != getpid()) {
        return Left::yes;
    }
    (void)try_lock(fd_, kSessionByte, F_UNLCK);
    if (is_marked() && try_lock(fd_, kSessionByte, F_WRLCK) == Lock::held && is_marked()) {
        return Left::must_clear;
    }
    return Left::yes;
}

Presence::MeasureLock::MeasureLock(const Presence &presence) : fd_(presence.fd_) {
    for (unsigned attempt = 0; attempt < kAttempts && fd_ >= 0 && !held_; ++attempt) {
        const Lock lock = try_lock(fd_, kMeasureByte, F_WRLCK);
        held_ = lock == Lock::held;
        if (lock == Lock::impossible) {
            break;
        }
        if (!held_) {
            wait_a_moment();
        }
    }
}

Presence::MeasureLock::~MeasureLock() {
    if (held_) {
        (void)try_lock(fd_, kMeasureByte, F_UNLCK);
    }
}

}  // namespace cairn::d3d12
