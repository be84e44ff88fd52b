// SPDX-License-Identifier: MIT
#include "offers.h"

#include <algorithm>

namespace cairn::fleet {

void OfferTable::add(PackOffer pack, const std::vector<std::uint64_t> &keys) {
    const auto number = static_cast<std::uint32_t>(packs.size());
    packs.push_back(std::move(pack));
    for (const std::uint64_t key : keys) entries.emplace_back(key, number);
}

void OfferTable::sort() {
    std::ranges::sort(entries);
    const auto is_same = [](const auto &a, const auto &b) { return a.first == b.first; };
    entries.erase(std::unique(entries.begin(), entries.end(), is_same), entries.end());
}

void Offers::replace(const std::vector<std::string> &identifiers,
                     const std::shared_ptr<const OfferTable> &table) {
    const std::lock_guard lock(mutex_);
    for (const std::string &identifier : identifiers) {
        if (!tables_.contains(identifier) && tables_.size() >= kTablesMax) {
            tables_.erase(std::ranges::min_element(
                tables_, {}, [](const auto &each) { return each.second.order; }));
        }
        tables_[identifier] = {++last_order_, table};
    }
}

std::optional<PackOffer> Offers::find(const std::string &identifier, std::uint64_t entry) const {
    std::shared_ptr<const OfferTable> table;
    {
        const std::lock_guard lock(mutex_);
        const auto known = tables_.find(identifier);
        if (known == tables_.end()) return std::nullopt;
        table = known->second.table;
    }
    const auto found = std::ranges::lower_bound(table->entries, entry, {},
                                                [](const auto &each) { return each.first; });
    if (found == table->entries.end() || found->first != entry) return std::nullopt;
    return table->packs[found->second];
}

}  // namespace cairn::fleet
