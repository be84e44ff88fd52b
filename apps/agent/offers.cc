// SPDX-License-Identifier: MIT
#include "offers.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace cairn::fleet {

std::uint32_t OfferTable::number_of(const std::string &remote) {
    const auto found = std::ranges::find(remotes_, remote);
    const auto number = static_cast<std::uint32_t>(found - remotes_.begin());
    if (found == remotes_.end()) remotes_.push_back(remote);
    return number;
}

void OfferTable::add(const PackOffer &pack, const std::vector<std::uint64_t> &keys) {
    if (keys.empty() || keys.size() > kEntriesMax - entries_.size()) return;
    // What is not used of it takes no memory, and copies that grow would.
    entries_.reserve(kEntriesMax);
    name_ = pack.name;
    driver_text_ = pack.driver_text;
    const auto number = static_cast<std::uint32_t>(packs_.size());
    packs_.push_back({pack.hash, pack.signer, pack.size_bytes, number_of(pack.remote)});
    constexpr std::uint64_t kHalf = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint64_t key : keys) {
        entries_.push_back({static_cast<std::uint32_t>(key & kHalf),
                            static_cast<std::uint32_t>(key >> 32), number});
    }
}

void OfferTable::sort() {
    std::ranges::sort(entries_, {},
                      [](const Entry &each) { return std::pair(each.value(), each.pack); });
    const auto rest =
        std::unique(entries_.begin(), entries_.end(),
                    [](const Entry &a, const Entry &b) { return a.value() == b.value(); });
    entries_.erase(rest, entries_.end());
    entries_.shrink_to_fit();
    packs_.shrink_to_fit();
}

std::optional<PackOffer> OfferTable::find(std::uint64_t entry) const {
    const auto found = std::ranges::lower_bound(entries_, entry, {}, &Entry::value);
    if (found == entries_.end() || found->value() != entry) return std::nullopt;
    const Pack &pack = packs_[found->pack];
    return PackOffer{remotes_[pack.remote], name_,      driver_text_, pack.hash,
                     pack.size_bytes,       pack.signer};
}

// A table counts once, for however many caches it is.
bool Offers::is_too_much() const {
    std::set<const OfferTable *> counted;
    std::size_t entries = 0;
    for (const auto &[identifier, known] : tables_) {
        if (counted.insert(known.table.get()).second) entries += known.table->size();
    }
    return counted.size() > kTablesMax || entries > kEntriesMax;
}

// The newest table stays: alone it is not too much.
void Offers::make_room() {
    while (is_too_much()) {
        const auto oldest = std::ranges::min_element(
            tables_, {}, [](const auto &each) { return each.second.order; });
        std::erase_if(tables_, [table = oldest->second.table](const auto &each) {
            return each.second.table == table;
        });
    }
}

void Offers::replace(const std::vector<std::string> &identifiers,
                     const std::shared_ptr<const OfferTable> &table) {
    const std::lock_guard lock(mutex_);
    ++last_order_;
    for (const std::string &identifier : identifiers) tables_[identifier] = {last_order_, table};
    make_room();
}

bool Offers::has(const std::vector<std::string> &identifiers) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(identifiers,
                               [&](const auto &each) { return tables_.contains(each); });
}

std::optional<PackOffer> Offers::find(const std::string &identifier, std::uint64_t entry) const {
    std::shared_ptr<const OfferTable> table;
    {
        const std::lock_guard lock(mutex_);
        const auto known = tables_.find(identifier);
        if (known == tables_.end()) return std::nullopt;
        table = known->second.table;
    }
    return table->find(entry);
}

}  // namespace cairn::fleet
