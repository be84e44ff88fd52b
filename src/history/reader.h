// What tools read of histories. Files are read, not mapped: nobody who changes one can harm a reader.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state.
// Failure: not_found or corrupt where there is no file of this kind; what is damaged in it is left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "history/history.h"
#include "history/tally.h"
#include "os/file.h"

namespace cairn {

struct RunRead {
    std::uint64_t start_ns = 0;  // since 1970
    std::uint64_t last_ns = 0;   // since 1970, of the last link that was not found
    std::uint64_t process = 0;
    std::uint64_t making_ns = 0;  // since when the driver makes a program, by the monotonic clock
    bool is_alive = false;
    // Put by its processes, and not on disk yet.
    std::uint64_t queued_entries = 0;
    std::uint64_t queued_bytes = 0;
    Numbers numbers;
};

struct LinkRead {
    std::uint64_t number = 0;
    std::uint64_t run_start_ns = 0;
    std::uint64_t time_ns = 0;  // since 1970
    Link link;
};

struct HistoryRead {
    std::vector<RunRead> runs;    // the oldest first
    std::vector<LinkRead> links;  // the oldest first; there may have been more before them
    std::size_t links_max = 0;
};

// Of a cache's directory.
Result<HistoryRead> read_history(const Directory &cache);

// The beginnings of sources that were kept, by program.
std::map<LinkKey, std::string> read_sources(const Directory &cache);

}  // namespace cairn
