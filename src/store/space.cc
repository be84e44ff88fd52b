// SPDX-License-Identifier: MIT
#include "store/space.h"

#include <algorithm>

#include "os/environment.h"
#include "store/segment_format.h"

namespace cairn {

Result<ByteLock> ByteLock::acquire(std::shared_ptr<const File> lock_file, std::uint64_t byte,
                                   unsigned patience_us) {
    unsigned waited_us = 0;
    unsigned pause_us = 20;
    for (;;) {
        TRY_ASSIGN(const bool locked, lock_file->try_lock(byte, LockKind::exclusive));
        if (locked) return ByteLock(std::move(lock_file), byte);
        if (waited_us >= patience_us) return Error::busy;
        sleep_us(pause_us);
        waited_us += pause_us;
        pause_us = std::min(pause_us * 2, 1000u);
    }
}

Result<DiskUse> measure_disk_use(const Directory &directory) {
    DiskUse use;
    Error error = Error::none;
    TRY(directory.list([&](const char *name) {
        const auto info = directory.info(name);
        if (!info.ok()) {
            if (info.error() != Error::not_found) error = info.error();
            return;
        }
        use.bytes += info.value().disk_bytes;
        if (std::string_view(name).ends_with(".tmp")) use.temporary_files.emplace_back(name);
        const auto segment = segment_from_file_name(name);
        if (segment && info.value().is_file) {
            use.segments.push_back({*segment, info.value().size_bytes, info.value().disk_bytes,
                                    info.value().modified_ns});
        }
    }));
    if (error != Error::none) return error;
    return use;
}

}  // namespace cairn
