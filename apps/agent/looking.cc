// SPDX-License-Identifier: MIT
#include "looking.h"

#include <algorithm>
#include <memory>

#include "holdings.h"
#include "shelf.h"

namespace cairn::fleet {
namespace {

constexpr std::size_t kSeenMax = 1000;
// All that is read of a shelf can be offered.
static_assert(OfferTable::kEntriesMax >= kReadEntriesMax);

void add(const ReadManifest &read, const std::string &remote, OfferTable &table) {
    for (const ListedPack &pack : read.manifest.packs) {
        if (pack.size_bytes > kSharedPackMax) continue;
        table.add({remote, read.manifest.name, read.manifest.driver, pack.hash, pack.size_bytes,
                   read.signer},
                  pack.keys);
    }
}

}  // namespace

std::vector<RemoteTrouble> Looking::look(const OpenRemotes &remotes, const Machine &machine,
                                         const std::string &name, const std::string &driver_text) {
    const cli::Words identifiers = identifiers_here(root_, name, driver_text);
    if (identifiers.empty()) return {};
    const std::string driver = driver_name(driver_text);
    std::vector<RemoteTrouble> troubles;
    const auto table = std::make_shared<OfferTable>();
    std::string seen;
    for (const std::string &each : identifiers) seen += each + "\n";
    for (const auto &remote : remotes) {
        const std::string &remote_name = remote->settings().name;
        try {
            Shelf shelf(*remote, machine, name, driver);
            shelf.visit_manifests([&](const ReadManifest &each) {
                seen += remote_name + " " + each.object + "\n";
                add(each, remote_name, *table);
            });
            fetcher_.note_read(remote_name);
        } catch (const remotes::RemoteFailure &failure) {
            troubles.push_back({remote_name, failure.what()});
        }
    }
    if (!troubles.empty()) return troubles;
    const ObjectHash now = hash_of_object(as_bytes(seen));
    ObjectHash &before = seen_[name + "/" + driver];
    if (before == now && offers_.has(identifiers)) return {};
    if (before != now) fetcher_.note_news();
    before = now;
    table->sort();
    offers_.replace(identifiers, table);
    offer(*table, machine, name, driver_text);
    if (seen_.size() > kSeenMax) seen_.clear();
    return troubles;
}

// To the processes: what this machine has, or has removed, is not wanted.
void Looking::offer(const OfferTable &table, const Machine &machine, const std::string &name,
                    const std::string &driver_text) {
    for (const HeldCache &cache : caches_here(root_, name, driver_text)) {
        std::vector<std::uint64_t> wanted;
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (!has_entry(cache.entries, table.entry(i))) wanted.push_back(table.entry(i));
        }
        machine.write_wanted(cache.identity, wanted);
    }
}

}  // namespace cairn::fleet
