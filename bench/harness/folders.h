// Measures, copies and removes folders of files, and drops them from the page cache.
// Thread safety: concurrent on different folders.
// Failure: throws std::runtime_error (std::filesystem::filesystem_error) where a file cannot be
// handled.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bench {

struct Usage {
    std::uint64_t bytes = 0;  // blocks held by files and folders
    std::uint64_t files = 0;
};

// Files that vanish meanwhile are passed over, since a running store may remove some.
Usage disk_usage(const std::filesystem::path &dir);

std::vector<std::filesystem::path> regular_files(const std::filesystem::path &dir);  // sorted

// Parts of a file that hold data, as (offset, size), without holes.
struct Extent {
    std::uint64_t offset;
    std::uint64_t size;
};
std::vector<Extent> data_extents(const std::filesystem::path &file);

// Copies files with their holes.
void copy_folder(const std::filesystem::path &from, const std::filesystem::path &to);

// Removes a folder and all in it, many files at a time: each may wait for the disk to discard its
// blocks.
void remove_folder(const std::filesystem::path &dir);

// Waits until everything in the file system of `dir` is on the disk.
void sync_folder(const std::filesystem::path &dir);

// Puts the files of `dir` out of the page cache; as root also the names and inodes of the whole
// system. Sync first: what is not on the disk stays.
void make_cold(const std::filesystem::path &dir);

// Whether this process may do the second half of make_cold.
bool can_drop_caches();

}  // namespace bench
