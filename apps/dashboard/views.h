// What the dashboard shows, as JSON for the page: docs/dashboard.md#what-the-page-asks.
// SPDX-License-Identifier: MIT
//
// Counting entries takes time in proportion to the index, and reading what they cost to their number. So what was
// counted is kept for some seconds, and a cache's entries are read again only when the cache has changed.
//
// Thread safety: internally synchronised; one answer at a time.
// Failure: a Failure where the root cannot be read, or something asked for is not there. A cache that cannot be read
// says so in its place.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "caches.h"
#include "histories.h"
#include "history/counters.h"

namespace cairn::dashboard {

using Json = nlohmann::ordered_json;

class Views {
  public:
    explicit Views(std::string root) : root_(std::move(root)) {}

    const std::string &root() const { return root_; }

    // Numbers over time, and what each cache takes.
    Json overview();
    // The last runs of all applications, without their misses.
    Json runs();
    // One with its misses.
    Json run(const std::string &identifier, const std::string &start_ms);
    // The entries that were the most expensive to make.
    Json programs();
    // Those of every application, the latest first.
    Json generations();
    // In what two of them differ.
    Json differences(const std::string &from, const std::string &to);
    Json packs();

    // Something was changed: count anew.
    void forget();

  private:
    // The most expensive entries of a cache, and how many of its entries are pinned.
    struct Costs {
        std::uint64_t entries = 0;  // of the cache when it was read, and when it was used last then
        std::uint64_t used_at_ms = 0;
        std::uint64_t pinned = 0;
        std::vector<Json> slowest;
        std::vector<LinkKey> keys;  // of these
        // Of the file of sources, when it was read.
        std::uint64_t sources_bytes = 0, sources_modified_ns = 0;
    };

    const std::vector<cli::CacheSummary> &caches() REQUIRES_LOCK(mutex_);
    const Costs &costs_of(const cli::CacheSummary &cache) REQUIRES_LOCK(mutex_);
    void read_entries(const cli::CacheSummary &cache, Costs &costs) const;
    void read_sources(const std::string &identifier, Costs &costs) const;

    const std::string root_;
    Mutex mutex_;
    std::optional<std::vector<cli::CacheSummary>> caches_ GUARDED_BY(mutex_);
    std::chrono::steady_clock::time_point counted_at_ GUARDED_BY(mutex_);
    std::map<std::string, Costs> costs_ GUARDED_BY(mutex_);
};

}  // namespace cairn::dashboard
