// SPDX-License-Identifier: MIT
#include "presence.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "per_process.h"

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

// Where it may not, the kernel would end the process by SIGXFSZ.
bool may_have_files_of_a_byte() {
    rlimit limit = {};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur > 0;
}

void wait_a_moment() {
    const timespec moment = {0, 1'000'000};
    nanosleep(&moment, nullptr);
}

// Whether others hold a lock on the byte. It can also be asked of a file that is open for reading
// only, where no exclusive lock can be had.
bool is_locked_by_others(int fd, off_t byte) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// Something that is no file is in the way of ours: a directory stays under another name if it is
// not empty, and nothing that a link leads to is touched. Renamed first: meanwhile somebody else
// may have put a file there, which gets its name back.
void make_way(const std::string &path) {
    struct stat info = {};
    if (lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) {
        return;
    }
    const std::string discarded = path + "-" + std::to_string(process_number()) + ".tmp";
    if (rename(path.c_str(), discarded.c_str()) != 0) {
        return;
    }
    if (lstat(discarded.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
        (void)!link(discarded.c_str(), path.c_str());
    }
    if (unlink(discarded.c_str()) != 0) {
        rmdir(discarded.c_str());
    }
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

// What is written to must be the user's own and have no other name: its size is changed.
Presence::Opened Presence::open() {
    close();
    make_way(path_);
    can_write_ = true;
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd_ < 0 && (errno == EACCES || errno == EROFS)) {
        can_write_ = false;
        fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    }
    struct stat info = {};
    if (fd_ < 0) {
        if (can_write_ || (errno != EACCES && errno != ENOENT)) {
            return Opened::impossible;
        }
        // It may be there and not even be read.
        const bool is_marked = lstat(path_.c_str(), &info) == 0 && info.st_size > 0;
        return is_marked ? Opened::marked : Opened::absent;
    }
    const bool is_ours = fstat(fd_, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1 &&
                         (!can_write_ || info.st_uid == geteuid());
    if (!is_ours) {
        close();
        return Opened::impossible;
    }
    return Opened::yes;
}

// Somebody may have deleted the file: then it keeps nobody else out.
bool Presence::has_name() const {
    struct stat ours = {};
    struct stat named = {};
    return fd_ >= 0 && fstat(fd_, &ours) == 0 && lstat(path_.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev && ours.st_nlink == 1;
}

bool Presence::is_marked() const {
    struct stat info = {};
    return fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_size > 0;
}

Presence::Joined Presence::join(const std::string &directory) {
    path_ = directory + kFileName;
    process_ = process_number();
    for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
        if (!has_name()) {
            switch (open()) {
                case Opened::yes:
                    break;
                case Opened::absent:
                    return Joined::yes;
                case Opened::marked:
                    return Joined::hidden;
                case Opened::impossible:
                    return Joined::impossible;
            }
        }
        const std::optional<Joined> joined = can_write_ ? join_writing() : join_reading();
        if (joined) {
            return *joined;
        }
        wait_a_moment();
    }
    close();
    return Joined::busy;
}

std::optional<Presence::Joined> Presence::join_writing() {
    if (try_lock(fd_, kSessionByte, F_WRLCK) == Lock::held && has_name()) {
        if (is_marked()) {
            return Joined::must_clear;
        }
        (void)try_lock(fd_, kSessionByte, F_RDLCK);
        return Joined::yes;
    }
    return join_others();
}

// Who can only read cannot clear. Where nobody else is there it takes no lock, so that the next one
// does not take it for somebody whose session is to go on.
std::optional<Presence::Joined> Presence::join_reading() {
    if (is_marked() && !is_locked_by_others(fd_, kSessionByte)) {
        return has_name() ? std::optional(Joined::hidden) : std::nullopt;
    }
    return join_others();
}

std::optional<Presence::Joined> Presence::join_others() {
    const Lock lock = try_lock(fd_, kSessionByte, F_RDLCK);
    if (lock == Lock::impossible) {
        return Joined::impossible;
    }
    return lock == Lock::held && has_name() ? std::optional(Joined::yes) : std::nullopt;
}

void Presence::cleared() {
    // Should that fail, the cache is cleared once more than needed.
    [[maybe_unused]] const int unmarked = ftruncate(fd_, 0);
    (void)try_lock(fd_, kSessionByte, F_RDLCK);
}

bool Presence::mark_for_clearing() const {
    return can_write_ && has_name() && may_have_files_of_a_byte() && ftruncate(fd_, 1) == 0;
}

Presence::Left Presence::leave() {
    if (fd_ < 0 || process_ != process_number()) {
        return Left::yes;
    }
    (void)try_lock(fd_, kSessionByte, F_UNLCK);
    if (is_marked() && try_lock(fd_, kSessionByte, F_WRLCK) == Lock::held && is_marked() &&
        has_name()) {
        return Left::must_clear;
    }
    return Left::yes;
}

// A description of its own, which it shares with no other thread and no child of fork().
Presence::MeasureLock::MeasureLock(const Presence &presence)
    : fd_(::open(presence.path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                 0600)) {
    if (fd_ < 0) {
        can_write_ = errno != EACCES && errno != EROFS;
        is_alone_ = errno == ENOENT;
    }
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
        (void)try_lock(fd_, kMeasureByte, F_UNLCK);  // a child may have the descriptor, too
    }
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

}  // namespace cairn::d3d12
