// The formats of a cache's files: several may lie side by side, each of another version of Cairn.
// SPDX-License-Identifier: MIT
//
// Files of format 1 lie in the cache's directory itself, those of format N in its folder `format-N`. So a
// version neither reads nor counts the files of a format that it does not know, and two versions never
// keep each other out. What is no index, segment or lock lies in the cache's directory, for all of them.
//
// This library uses the newest format that it knows and that is there, and makes the newest one where there
// is none. So a cache stays in its format, and older versions go on using it, until it is removed as a whole.
//
// In every format the file `cache.lock` is there from the first open on; its first byte is locked while the cache is
// open. A folder without that file is none of a format.
//
// Thread safety: functions of the file system, without state.
// Failure: as the calls of the file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "os/file.h"
#include "os/root.h"
#include "store/segment_format.h"

namespace cairn {

// The folder of a format, as a path from a cache's directory: "." for format 1.
std::string format_folder(std::uint32_t format);
// The format whose folder has this name; nullopt: none, or format 1.
std::optional<std::uint32_t> format_from_folder_name(std::string_view name);

// The formats that there are files of, be they known or not, the oldest first: those that have a lock file.
// `cache`: its directory.
Result<std::vector<std::uint32_t>> list_formats(const Directory &cache);

struct FormatDirectory {
    std::uint32_t format = kNewestFormat;
    Directory directory;  // that of its files
};
// Opens the directory with the files that this library uses. not_found: there are none.
Result<FormatDirectory> find_format(const Directory &cache);
// The same, checked as open_cache_directory() does, for a cache that was just opened. Makes the newest
// format's where there are no files that this library knows, if it may make any, or if there are some
// that only other versions know.
Result<FormatDirectory> open_format(Directory cache, const std::string &identifier, Access access,
                                    Create create, const Log &log);
// Whether a process that has joined the files of a format has to choose again: while it opened them,
// another one may have made the newest. (Each makes its own files before it looks for the other's.)
bool is_format_superseded(const Directory &files, std::uint32_t format);

// The bytes on disk of what a cache has beside the folders of its formats; 0 if `files` is no such folder.
std::uint64_t bytes_beside_formats(const Directory &files);
// The bytes on disk of a cache, with all formats.
Result<std::uint64_t> cache_bytes(const Directory &cache);
// The formats that there are files of and that this library would not use, the oldest first.
Result<std::vector<std::uint32_t>> list_other_formats(const Directory &cache);

// Keeps the files of a format closed while the result is there. busy: somebody has the cache open;
// not_found: it has no lock file. `files`: their directory.
Result<File> lock_format(const Directory &files);
// The same of all formats. `cache`: its directory.
Result<std::vector<File>> lock_formats(const Directory &cache);

}  // namespace cairn
