// SPDX-License-Identifier: MIT
#include "store/locks.h"

#include <memory>

#include "os/deadline.h"
#include "os/environment.h"
#include "store/index_format.h"
#include "store/segment_format.h"
#include "store/space.h"

namespace cairn {
namespace {

constexpr std::uint64_t kOwnerByte = 0;  // of a segment file
constexpr unsigned kOwnerAttempts = 8;
constexpr unsigned kPatienceUs = 4'000;
constexpr std::uint64_t kImpatienceNs = 1'000'000'000;

Result<ByteLock> acquire_byte(const Directory &directory, std::uint64_t byte,
                              std::uint64_t patience_us) {
    TRY_ASSIGN(File file, directory.open_or_make_file(kLockFileName));
    return ByteLock::acquire(std::make_shared<const File>(std::move(file)), byte, patience_us);
}

}  // namespace

Result<ByteLock> PatientLock::acquire(const Directory &directory, std::uint64_t byte) {
    const bool impatient = monotonic_ns() < impatient_until_ns_.load(std::memory_order_relaxed);
    auto lock = acquire_byte(directory, byte, impatient ? 0 : kPatienceUs);
    if (lock.ok() && impatient) impatient_until_ns_.store(0);
    if (lock.error() == Error::busy && !impatient)
        impatient_until_ns_.store(monotonic_ns() + kImpatienceNs);
    return lock;
}

Result<ByteLock> lock_eviction(const Directory &directory, std::uint64_t patience_us) {
    return acquire_byte(directory, kEvictionByte, patience_us);
}

// Unlock before closing: a child of fork() may have the descriptor, too.
OwnerLock::~OwnerLock() {
    if (file_.valid()) file_.unlock(byte_);
}

Result<OwnerLock> OwnerLock::acquire(File file, std::uint64_t byte) {
    for (unsigned attempt = 0; attempt < kOwnerAttempts; ++attempt) {
        TRY_ASSIGN(const bool locked, file.try_lock(byte, LockKind::exclusive));
        if (locked) return OwnerLock(std::move(file), byte);
        TRY_ASSIGN(const auto held, file.lock_held(byte));
        if (held == LockKind::exclusive) return Error::busy;
        if (held == LockKind::shared) return OwnerLock(std::move(file), byte);
        // It was given back at this moment.
    }
    return Error::busy;
}

SegmentLock::~SegmentLock() {
    owner_.reset();
    if (lock_file_.valid()) lock_file_.unlock(kFirstSegmentByte + segment_);
}

Status SegmentLock::hold(File file) {
    TRY_ASSIGN(OwnerLock owner, OwnerLock::acquire(std::move(file), kOwnerByte));
    owner_.emplace(std::move(owner));
    return {};
}

Result<SegmentLock> SegmentLock::of_number(const Directory &directory, std::uint32_t segment) {
    TRY_ASSIGN(File lock_file, directory.open_or_make_file(kLockFileName));
    TRY_ASSIGN(const bool locked,
               lock_file.try_lock(kFirstSegmentByte + segment, LockKind::exclusive));
    if (!locked) return Error::busy;
    return SegmentLock(std::move(lock_file), segment);
}

Result<SegmentLock> SegmentLock::of_segment(const Directory &directory, std::uint32_t segment) {
    TRY_ASSIGN(SegmentLock lock, of_number(directory, segment));
    TRY_ASSIGN(File file, directory.open_file(segment_file_name(segment), Access::read_write));
    TRY(lock.hold(std::move(file)));
    return lock;
}

Result<IndexNameLock> IndexNameLock::acquire(const Directory &directory,
                                             std::uint64_t patience_us) {
    TRY_ASSIGN(ByteLock eviction, lock_eviction(directory, patience_us));
    IndexNameLock lock(std::move(eviction));
    Backoff backoff(patience_us);
    do {
        auto index = directory.open_file(kIndexFileName, Access::read_write);
        const Error why = index.error();
        const bool has_none = why == Error::not_found || why == Error::denied ||
                              why == Error::read_only || why == Error::corrupt;
        if (has_none) return lock;
        if (!index.ok()) return why;
        auto named = OwnerLock::acquire(std::move(*index), kNameByte);
        if (named.ok()) {
            TRY_ASSIGN(const FileInfo held, named->file().info());
            const auto there = directory.info(kIndexFileName);
            if (!there.ok() && there.error() != Error::not_found) return there.error();
            // Else it lost the name before it was locked.
            if (there.ok() && is_same_file(there.value(), held)) {
                lock.named_.emplace(std::move(*named));
                return lock;
            }
        } else if (named.error() != Error::busy) {
            return named.error();
        }
    } while (backoff.pause());
    return Error::busy;
}

bool has_no_writer(const Directory &directory, std::uint32_t segment) {
    const auto lock_file = directory.open_or_make_file(kLockFileName);
    if (!lock_file.ok()) return false;
    const auto numbered = lock_file->is_locked(kFirstSegmentByte + segment, LockKind::exclusive);
    if (!numbered.ok() || numbered.value()) return false;
    const auto file = directory.open_file(segment_file_name(segment), Access::read_only);
    if (file.error() == Error::denied) {  // who may not open it writes nothing
        return directory.is_unreadable(segment_file_name(segment));
    }
    if (!file.ok()) return false;
    const auto locked = file->is_locked(kOwnerByte, LockKind::shared);
    return locked.ok() && !locked.value();
}

}  // namespace cairn
