// What remotes have for caches of this machine: which entry is in which pack of which remote.
// SPDX-License-Identifier: MIT
//
// The thread of jobs puts in what it has read of manifests. Questions look it up.
//
// Thread safety: Offers from any thread; a table is made by one.
// Ownership: memory is bounded by kEntriesMax, of each table and of all together, and by kTablesMax.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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

// Of one NAME and driver, which all that are added have in common.
class OfferTable {
  public:
    static constexpr std::size_t kEntriesMax = 500'000;

    // One for which there is no room is left out.
    void add(const PackOffer &pack, const std::vector<std::uint64_t> &keys);
    // After the last one.
    void sort();

    std::size_t size() const { return entries_.size(); }
    std::uint64_t entry(std::size_t index) const { return entries_[index].value(); }
    // Of several packs that have it the one that was added first. REQUIRES: sort().
    std::optional<PackOffer> find(std::uint64_t entry) const;

  private:
    struct Pack {
        ObjectHash hash;
        cli::PublicKey signer;
        std::uint64_t size_bytes;
        std::uint32_t remote;
    };
    // 12 bytes, as there are many: the value in two halves, and the number of a pack.
    struct Entry {
        std::uint32_t low, high, pack;

        std::uint64_t value() const { return std::uint64_t{high} << 32 | low; }
    };
    std::uint32_t number_of(const std::string &remote);

    std::string name_, driver_text_;
    std::vector<std::string> remotes_;
    std::vector<Pack> packs_;
    std::vector<Entry> entries_;  // ascending, once sorted
};

class Offers {
  public:
    static constexpr std::size_t kTablesMax = 64;
    static constexpr std::size_t kEntriesMax = OfferTable::kEntriesMax;

    // For these caches, in place of what was there. What was replaced longest ago goes where there are too many.
    void replace(const std::vector<std::string> &identifiers,
                 const std::shared_ptr<const OfferTable> &table);
    std::optional<PackOffer> find(const std::string &identifier, std::uint64_t entry) const;
    // Whether they all are still there.
    bool has(const std::vector<std::string> &identifiers) const;

  private:
    bool is_too_much() const;
    void make_room();

    struct Known {
        std::uint64_t order;
        std::shared_ptr<const OfferTable> table;
    };

    mutable std::mutex mutex_;
    std::uint64_t last_order_ = 0;
    std::map<std::string, Known> tables_;  // by identifier
};

}  // namespace cairn::fleet
