// The bytes that a cache holds on disk, and the bytes of its lock file.
// SPDX-License-Identifier: MIT
//
// The file system keeps the account: a cache holds the sum of the blocks of its files. A process
// that wants more takes a lock, adds up, and reserves blocks before it unlocks. The kernel releases
// the lock of a process that dies.
//
// Thread safety: pure functions of the file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/byte_lock.h"
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

// A temporary file of this age was left by a process that died.
inline constexpr std::uint64_t kTemporaryAgeNs = 600'000'000'000;

struct SegmentFile {
    std::uint32_t segment;
    std::uint64_t size_bytes;
    std::uint64_t disk_bytes;
    std::uint64_t modified_ns;  // since 1970, by the file system's clock
};

struct DiskUse {
    std::uint64_t bytes = 0;        // all files of the cache
    std::uint64_t other_bytes = 0;  // of these, all that is neither index nor segment
    std::vector<SegmentFile> segments;
    std::vector<std::string> temporary_files;
};

// Whether these are of one file or directory, whatever its names.
inline bool is_same_file(const FileInfo &a, const FileInfo &b) {
    return a.inode == b.inode && a.device == b.device;
}
// "PURPOSE-0123456789abcdef.tmp", a name that no other process uses.
std::string temporary_name(const std::string &purpose);
// Reserves blocks where the file system can. Where it cannot, File::write_at() fails when none are left.
Status reserve_blocks(const File &file, std::uint64_t offset, std::uint64_t size);

// Deletes a segment, and gives its blocks back even while somebody has it open. But who has an index
// open has it mapped: one that damage gave the name of a segment keeps its blocks until then.
Status discard_segment(const Directory &directory, const std::string &name);
// Makes all records durable.
Status sync_segments(const Directory &directory);

// Adds up the files of a cache, without those of other formats. Ignores files that vanish meanwhile.
// `files`: the directory of its format (store/formats.h).
Result<DiskUse> measure_disk_use(const Directory &files);

}  // namespace cairn
