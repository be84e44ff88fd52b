// SPDX-License-Identifier: MIT
#include "os/byte_lock.h"

#include "os/deadline.h"

namespace cairn {

Result<ByteLock> ByteLock::acquire(std::shared_ptr<const File> file, std::uint64_t byte,
                                   std::uint64_t patience_us, LockKind kind) {
    Backoff backoff(patience_us);
    do {
        TRY_ASSIGN(const bool is_locked, file->try_lock(byte, kind));
        if (is_locked) return ByteLock(std::move(file), byte);
    } while (backoff.pause());
    return Error::busy;
}

}  // namespace cairn
