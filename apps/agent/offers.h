// What remotes have for caches of this machine: which entry is in which pack of which remote.
// SPDX-License-Identifier: MIT
//
// The thread of jobs puts in what it has read of manifests. Questions look it up.
//
// Thread safety: any thread.
// Ownership: memory is bounded by the limits of manifests, and by kTablesMax.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manifest_format.h"
#include "signature.h"

namespace cairn::fleet {

struct PackOffer {
    std::string remote;  // by the name of its settings
    std::string name, driver_text;
    ObjectHash hash = {};
    std::uint64_t size_bytes = 0;
    cli::PublicKey signer;
};

// Of one NAME and driver.
struct OfferTable {
    std::vector<PackOffer> packs;
    // Each entry with the number of a pack, ascending; of several the one that was added first.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entries;

    void add(PackOffer pack, const std::vector<std::uint64_t> &keys);
    void sort();
};

class Offers {
  public:
    static constexpr std::size_t kTablesMax = 64;

    // For these caches, in place of what was there.
    void replace(const std::vector<std::string> &identifiers,
                 const std::shared_ptr<const OfferTable> &table);
    std::optional<PackOffer> find(const std::string &identifier, std::uint64_t entry) const;

  private:
    struct Known {
        std::uint64_t order;
        std::shared_ptr<const OfferTable> table;
    };

    mutable std::mutex mutex_;
    std::uint64_t last_order_ = 0;
    std::map<std::string, Known> tables_;  // by identifier
};

}  // namespace cairn::fleet
