// Looking at and damaging the files of a cache from outside.
// SPDX-License-Identifier: MIT
//
// Thread safety: none needed; each call opens, changes and closes a file. Changes are made in
// place, as a bad disk makes them, unless the name says otherwise.
// Failure: a file that has gone away meanwhile is left alone; functions that need it say so by
// their result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/cache.h"
#include "support/random.h"

namespace cairn_test {

// The folder with the index and the segments of a cache, given its directory: docs/formats/store.md.
inline std::string store_files(const std::string &cache) {
    return cache + "/format-2";
}

// The path of a cache's file, given its directory: in that folder, or directly there.
std::string path_in_cache(const std::string &cache, const std::string &name);

// Paths of the regular files directly in a directory, or in its folders of a format, sorted; `extension`
// such as ".val", "" for all.
std::vector<std::string> files_in(const std::string &directory, const std::string &extension = "");

ByteVector read_file(const std::string &path);
void write_file(const std::string &path, ByteView bytes);
void overwrite(const std::string &path, std::uint64_t offset, ByteView bytes);
void append(const std::string &path, ByteView bytes);
void flip_bit(const std::string &path, std::uint64_t bit);
void cut(const std::string &path, std::uint64_t size);
std::uint64_t file_size(const std::string &path);
void copy_directory(const std::string &from, const std::string &to);

// Bytes of disk blocks that the same files hold; `extension` as in files_in().
std::uint64_t blocks_held(const std::string &directory, const std::string &extension = "");

}  // namespace cairn_test
