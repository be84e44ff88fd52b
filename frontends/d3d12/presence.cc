// SPDX-License-Identifier: MIT
#include "presence.h"

#include <memory>

#include "os/deadline.h"
#include "os/environment.h"

namespace cairn::d3d12 {
namespace {

constexpr const char *kFileName = "sessions.lock";
constexpr uint64_t kSessionByte = 0;
constexpr uint64_t kMeasureByte = 1;
constexpr uint64_t kPatienceUs = 2'000'000;

bool is_held(const Result<bool> &lock) {
    return lock.ok() && lock.value();
}

bool may_not_write(Error error) {
    return error == Error::denied || error == Error::read_only;
}

// Removes a link or a directory in the place of the file.
Result<File> open_or_make_file(const std::string &directory) {
    TRY_ASSIGN(const Directory opened, Directory::open(directory));
    return opened.open_or_make_file(kFileName);
}

}  // namespace

// A file that is written to must be the user's own and have no other name: its size is changed.
std::optional<Presence::Joined> Presence::open() {
    file_ = File();
    auto opened = open_or_make_file(directory_);
    can_write_ = opened.ok() || !may_not_write(opened.error());
    if (!can_write_) {
        opened = Directory::working().open_file(path_, Access::read_only);
    }
    if (!opened.ok()) {
        if (can_write_ || (opened.error() != Error::denied && opened.error() != Error::not_found)) {
            return Joined::impossible;
        }
        // It may be there and not even be read.
        const auto info = Directory::working().info(path_);
        return info.ok() && info->size_bytes > 0 ? Joined::hidden : Joined::yes;
    }
    const auto info = opened->info();
    if (!info.ok() || info->links > 1 || (can_write_ && info->owner != effective_user())) {
        return Joined::impossible;
    }
    file_ = std::move(opened.value());
    return std::nullopt;
}

// A file that was deleted keeps no other process out.
bool Presence::has_name() const {
    if (!file_.valid()) return false;
    const auto ours = file_.info();
    const auto named = Directory::working().info(path_);
    return ours.ok() && named.ok() && ours->inode == named->inode &&
           ours->device == named->device && ours->links == 1;
}

bool Presence::is_marked() const {
    const auto info = file_.valid() ? file_.info() : Result<FileInfo>(Error::not_found);
    return info.ok() && info->size_bytes > 0;
}

Presence::Joined Presence::join(const std::string &directory) {
    directory_ = directory;
    path_ = directory + "/" + kFileName;
    process_ = process_number();
    Backoff backoff(kPatienceUs);
    do {
        std::optional<Joined> joined = has_name() ? std::nullopt : open();
        if (!joined) {
            joined = can_write_ ? join_writing() : join_reading();
        }
        if (joined) return *joined;
    } while (backoff.pause());
    file_ = File();
    return Joined::busy;
}

std::optional<Presence::Joined> Presence::join_writing() {
    if (is_held(file_.try_lock(kSessionByte, LockKind::exclusive)) && has_name()) {
        if (is_marked()) return Joined::must_clear;
        (void)file_.try_lock(kSessionByte, LockKind::shared);
        return Joined::yes;
    }
    return join_others();
}

// A process that can only read cannot clear. If it is alone it takes no lock, so that the next
// process is alone, too, and clears.
std::optional<Presence::Joined> Presence::join_reading() {
    const auto is_locked = file_.is_locked(kSessionByte, LockKind::exclusive);
    if (is_marked() && is_locked.ok() && !is_locked.value()) {
        return has_name() ? std::optional(Joined::hidden) : std::nullopt;
    }
    return join_others();
}

std::optional<Presence::Joined> Presence::join_others() {
    const auto lock = file_.try_lock(kSessionByte, LockKind::shared);
    if (!lock.ok()) return Joined::impossible;
    return lock.value() && has_name() ? std::optional(Joined::yes) : std::nullopt;
}

void Presence::cleared() {
    // Should that fail, the cache is cleared once more than needed.
    (void)file_.truncate(0);
    (void)file_.try_lock(kSessionByte, LockKind::shared);
}

bool Presence::mark_for_clearing() const {
    return can_write_ && has_name() && file_.truncate(1).ok();
}

Presence::Left Presence::leave() {
    if (!file_.valid() || process_ != process_number()) return Left::yes;
    file_.unlock(kSessionByte);
    if (is_marked() && is_held(file_.try_lock(kSessionByte, LockKind::exclusive)) && is_marked() &&
        has_name()) {
        return Left::must_clear;
    }
    return Left::yes;
}

// By a description of its own, which it shares with no other thread and no child of fork().
Result<ByteLock> Presence::lock_to_measure() const {
    TRY_ASSIGN(File file, Directory::working().open_or_create_file(path_));
    return ByteLock::acquire(std::make_shared<const File>(std::move(file)), kMeasureByte,
                             kPatienceUs);
}

}  // namespace cairn::d3d12
