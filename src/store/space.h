// The bytes that a cache holds on disk, and the locks that guard them.
// SPDX-License-Identifier: MIT
//
// The file system keeps the account: a cache holds the sum of the blocks of its files. A process
// that wants more takes a lock, adds up, and reserves blocks before it unlocks. The kernel releases
// the lock of a process that dies.
//
// Thread safety: ByteLock excludes other processes, but not threads of this one; callers hold a
// mutex of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

inline constexpr const char *kLockFileName = "cache.lock";
// The bytes of the lock file:
inline constexpr std::uint64_t kSessionByte = 0;   // shared: a cache is open; exclusive: to wipe it
inline constexpr std::uint64_t kSpaceByte = 1;     // exclusive while disk space is taken
inline constexpr std::uint64_t kEvictionByte = 2;  // exclusive during an eviction step
inline constexpr std::uint64_t kRebuildByte = 3;   // exclusive during the background check
inline constexpr std::uint64_t kCompactByte = 4;   // exclusive while segments are compressed
// Plus a segment's number: exclusive for the process that writes or compresses the segment.
inline constexpr std::uint64_t kFirstSegmentByte = 1u << 20;

// Holds one byte of the lock file exclusively. Waits only so long, because a process may be stopped
// while it holds the lock.
class ByteLock {
  public:
    // busy: another process held it for all of `patience_us`.
    static Result<ByteLock> acquire(std::shared_ptr<const File> lock_file, std::uint64_t byte,
                                    unsigned patience_us);
    // The same with a lock file that outlives the ByteLock.
    static Result<ByteLock> acquire(const File &lock_file, std::uint64_t byte,
                                    unsigned patience_us) {
        return acquire({std::shared_ptr<void>(), &lock_file}, byte, patience_us);
    }
    ByteLock(ByteLock &&other) noexcept = default;
    ByteLock(const ByteLock &) = delete;
    ~ByteLock() {
        if (lock_file_ != nullptr) lock_file_->unlock(byte_);
    }

  private:
    ByteLock(std::shared_ptr<const File> lock_file, std::uint64_t byte)
        : lock_file_(std::move(lock_file)), byte_(byte) {}

    std::shared_ptr<const File> lock_file_;
    std::uint64_t byte_;
};

struct SegmentFile {
    std::uint32_t segment;
    std::uint64_t size_bytes;
    std::uint64_t disk_bytes;
    std::uint64_t modified_ns;  // since 1970, by the file system's clock
};

struct DiskUse {
    std::uint64_t bytes = 0;  // all files of the cache
    std::vector<SegmentFile> segments;
    std::vector<std::string> temporary_files;
};

// Adds up the files of a cache. Ignores files that vanish meanwhile.
Result<DiskUse> measure_disk_use(const Directory &directory);

}  // namespace cairn
