// A cache with known contents, of which it is known where in the files each entry lies.
// SPDX-License-Identifier: MIT
//
// Thread safety: immutable after construction.
// Ownership: the files are in a directory of the sample's own; copies of it are damaged, never it
// itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/cache.h"
#include "support/temp_directory.h"

namespace cairn_test {

// A part of a file, `file` being its name without a directory.
struct Range {
    std::string file;
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;

    bool overlaps(const Range &other) const {
        return file == other.file && begin < other.end && other.begin < end;
    }
};

using FileContents = std::map<std::string, ByteVector>;  // by name

FileContents segments_in(const std::string &directory);
// Where the record of a key with this value lies in the segments.
std::optional<Range> find_record(const FileContents &segments, ByteView key, ByteView value);

struct SampleEntry {
    ByteVector key;
    ByteVector value;
    Range record;  // all bytes that hold the entry
};

class SampleCache {
  public:
    // About `entries` entries in `segments` segment files. Some have been
    // replaced, some removed.
    SampleCache(std::size_t entries, unsigned segments, std::uint64_t seed,
                const std::string &identifier = "test");

    const std::vector<SampleEntry> &entries() const { return entries_; }
    // Keys that had an entry which was removed, and where its record still lies.
    const std::vector<SampleEntry> &removed() const { return removed_; }
    const std::string &directory() const { return path_; }

    // Makes `root` hold a copy of the cache, named "test".
    void copy_to(const std::string &root) const;

  private:
    void fill(std::size_t entries, unsigned segments, std::uint64_t seed);
    static void locate(const FileContents &contents, SampleEntry &entry);

    TempDirectory root_;
    std::string identifier_;
    std::string path_;
    std::vector<SampleEntry> entries_;
    std::vector<SampleEntry> removed_;
};

// Looks into a cache below `root` of which only the bytes in `damaged` may have changed: nothing
// may be wrong, what lies outside must be found, and new entries must be taken. Prints what is not
// so and returns 1, else 0. To be run in a child process, because a defect may crash or hang.
int check_damaged_cache(const SampleCache &sample, const std::string &root,
                        const std::vector<Range> &damaged, std::uint64_t seed);

}  // namespace cairn_test
