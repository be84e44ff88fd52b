// SPDX-License-Identifier: MIT
// What happens in the caches below a root now: the runs that go on, and how much they do.
// Thread safety: externally synchronised.
// Failure: what cannot be read is not there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "histories.h"

namespace cairn::cli {

// Of one run. Rates are those since the sample before; zeroes in the first.
struct LiveRun {
    ApplicationRun known;
    double lookups_per_s = 0;
    double misses_per_s = 0;
    std::uint64_t making_for_ns =
        0;                         // so long the driver has been making a program; 0: it makes none
    std::uint64_t disk_bytes = 0;  // of the cache
    std::uint64_t limit_bytes = 0;
};

// A link that missed since the sample before.
struct LiveMiss {
    std::string application;
    std::string identifier;
    LinkRead link;
    std::string details;
};

struct LiveSample {
    std::uint64_t time_ns = 0;     // since 1970
    std::vector<LiveRun> runs;     // that go on, the busiest first
    std::vector<LiveMiss> misses;  // the newest first, a hundred at most
    double lookups_per_s = 0;
    Numbers total;                                       // of these runs
    std::uint64_t queued_entries = 0, queued_bytes = 0;  // of these runs: not on disk yet
    std::uint64_t disk_bytes = 0;                        // of all caches of programs
    std::size_t caches = 0;
};

class LiveView {
  public:
    explicit LiveView(std::string root) : root_(std::move(root)) {}

    // Looks at the histories; at what there is, and at the disk, only every few seconds.
    LiveSample sample();

  private:
    using RunKey = std::pair<std::string, std::uint64_t>;  // the cache, and the run's start

    void look_for_caches(std::uint64_t now_ns);

    const std::string root_;
    std::vector<FrontEndCache> caches_;
    std::uint64_t looked_ns_ = 0;
    std::uint64_t sampled_ns_ = 0;
    std::map<RunKey, Numbers> numbers_;               // of the sample before
    std::map<std::string, std::uint64_t> last_link_;  // by cache
};

}  // namespace cairn::cli
