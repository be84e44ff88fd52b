// The files of a cache that a broker lends: where they are, the names of its index and its present segments.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state.
// Failure: what goes away meanwhile is left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

// The directory of its index and its segments, in the format that this library uses.
struct LentDirectory {
    std::string folder;  // as a path from the cache's directory
    Directory directory;
};
Result<LentDirectory> find_lent_directory(const Directory &cache);

struct BrokerFiles {
    std::uint64_t index_inode = 0;                    // 0: there is none
    std::map<std::uint32_t, std::uint64_t> segments;  // number and inode
};

Result<BrokerFiles> list_broker_files(const Directory &directory);

Result<File> open_lent_index(const Directory &directory, Access access);
Result<File> open_lent_segment(const Directory &directory, std::uint32_t segment, Access access);

}  // namespace cairn
