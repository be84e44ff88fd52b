// What applications do just now: which run, and which programs were not found.
// SPDX-License-Identifier: MIT
//
// Nobody is told by the applications: their histories are read when the page asks, which costs some kilobytes for each
// cache and none of its entries. Which caches there are is looked at every few seconds.
//
// Thread safety: internally synchronised.
// Failure: a history that cannot be read is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "histories.h"

namespace cairn::dashboard {

class Live {
  public:
    explicit Live(std::string root) : root_(std::move(root)) {}

    // Events have numbers that grow; those after this one. The first time, the last ones that caches remember.
    nlohmann::ordered_json since(std::uint64_t number);

  private:
    struct Miss {
        cli::ApplicationRun run;
        LinkRead link;
    };

    void find_caches() REQUIRES_LOCK(mutex_);
    nlohmann::ordered_json look() REQUIRES_LOCK(mutex_);
    void add_events(std::vector<Miss> found) REQUIRES_LOCK(mutex_);

    const std::string root_;
    Mutex mutex_;
    std::vector<cli::FrontEndCache> caches_ GUARDED_BY(mutex_);
    std::chrono::steady_clock::time_point found_at_ GUARDED_BY(mutex_);
    std::map<std::string, std::uint64_t> last_links_ GUARDED_BY(mutex_);  // by cache: what was seen
    std::deque<nlohmann::ordered_json> events_ GUARDED_BY(mutex_);        // the latest last
    std::uint64_t last_event_ GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn::dashboard
