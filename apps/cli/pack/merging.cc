// SPDX-License-Identifier: MIT
#include "pack/merging.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "cache/cache.h"

namespace cairn::cli {
namespace {

// The parts of several packs that are of one cache, in the order of the packs.
using Parts = std::vector<std::shared_ptr<const OpenPart>>;

// In the order in which they come first.
std::vector<Parts> group(std::vector<OpenPack> packs) {
    std::vector<Parts> groups;
    std::map<PackIdentity, std::size_t> by_identity;
    for (OpenPack &pack : packs) {
        for (OpenPart &part : pack.parts) {
            const auto [at, is_new] =
                by_identity.try_emplace(part.part->row().identity, groups.size());
            if (is_new) groups.emplace_back();
            groups[at->second].push_back(std::make_shared<const OpenPart>(std::move(part)));
        }
    }
    return groups;
}

void add_order(const OpenPart &part, StartOrder &order) {
    const std::unordered_set<std::string> known(order.begin(), order.end());
    for (std::string &key : order_of(*part.part)) {
        if (!known.contains(key)) order.push_back(std::move(key));
    }
}

// Returns how many of the part's entries cannot be found.
std::uint64_t add_entries(const OpenPart &part, std::uint32_t number, PlannedPart &plan) {
    return visit_entries(part, [&](std::uint32_t slot, const PackPart::Entry &entry) {
        const PackRecord &record = entry.record;
        plan.entries.push_back(
            {plan.keep(entry.key), record.value_size, record.cost_us, record.pinned, number, slot});
    });
}

PlannedPart plan_of(const Parts &parts, std::uint64_t &lost) {
    const PackSubject &subject = parts.front()->subject;
    PlannedPart plan;
    plan.kind = subject.kind;
    plan.identifier = subject.identifier;
    plan.version = subject.version;
    plan.generation = subject.generation;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        lost += add_entries(*parts[i], static_cast<std::uint32_t>(i), plan);
        add_order(*parts[i], plan.order);
    }
    std::sort(plan.entries.begin(), plan.entries.end(),
              [](const PlannedEntry &a, const PlannedEntry &b) {
                  return a.key != b.key ? a.key < b.key : a.source < b.source;
              });
    const auto end =
        std::unique(plan.entries.begin(), plan.entries.end(),
                    [](const PlannedEntry &a, const PlannedEntry &b) { return a.key == b.key; });
    plan.entries.erase(end, plan.entries.end());
    plan.read = [parts](const PlannedEntry &entry, const PlannedPart::Use &use) {
        const auto found = parts[entry.source]->part->read(entry.slot);
        // What a damaged record says of its key does not count.
        if (!found.ok() || !found.value() || as_text(found.value()->key()) != entry.key) {
            return false;
        }
        use(found.value()->value());
        return true;
    };
    return plan;
}

}  // namespace

std::vector<PlannedPart> plan_merge(std::vector<OpenPack> packs, std::uint64_t &lost) {
    std::vector<PlannedPart> plans;
    for (const Parts &parts : group(std::move(packs))) plans.push_back(plan_of(parts, lost));
    return plans;
}

}  // namespace cairn::cli
