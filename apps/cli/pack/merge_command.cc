// SPDX-License-Identifier: MIT
// `cairn pack merge`: several packs as one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "cache/cache.h"
#include "output.h"
#include "pack/commands.h"
#include "pack/plan.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(What packs have of one driver and application becomes one part, and so do the recipes of an application.
Where several have an entry with the same key, the first named pack's is taken. The same packs in the same order give the
same bytes. OUT.pack may be one of the packs.

Signatures of the packs are not looked at, and the new one has none without --sign: merge only what you would install.

Examples:
  cairn pack merge game.pack nvidia.pack mesa.pack --sign studio
  cairn pack merge game.pack game.pack more.pack --max-bytes 64M

Exit codes: 0 written, 1 a pack cannot be read, there is nothing to pack, or OUT.pack cannot be written, 2 wrong usage.)";

struct Options {
    PackOptions pack;
    Words files;
};

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

int merge(const Options &options) {
    if (options.files.empty()) throw Failure(kExitUsage, "name the packs to merge");
    PackMaker maker(options.pack);
    std::vector<OpenPack> packs;
    for (const std::string &file : options.files) {
        packs.push_back(open_pack(file));
        require_known(packs.back());
    }
    const std::string about = options.pack.about.value_or(packs.front().pack->about().value_or(""));
    std::uint64_t lost = 0;
    std::vector<PlannedPart> plans;
    for (const Parts &parts : group(std::move(packs))) plans.push_back(plan_of(parts, lost));
    keep_the_best(plans, options.pack);
    maker.begin(plans.size());
    std::uint64_t entries = 0;
    for (const PlannedPart &plan : plans) {
        const std::uint64_t written = maker.write(plan);
        entries += written;
        lost += plan.entries.size() - written;
    }
    if (entries == 0) throw Failure(kExitFailure, "no entry of these packs is whole");
    const std::string made = maker.finish(about);
    if (lost != 0) {
        complain("{} of these packs cannot be read, and {} left out",
                 format_count(lost, "entry", "entries"), lost == 1 ? "is" : "are");
    }
    say(fmt::format("Merged {} of {} into {}", format_count(entries, "entry", "entries"),
                    format_count(options.files.size(), "pack", "packs"), made));
    return kExitOk;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.required("OUT.pack", options->pack.out, "The file to write");
    take.values("FILE", options->files, "Packs");
    add_pack_options(take, options->pack);
    take.quiet();
    return [options] { return merge(*options); };
}

}  // namespace

const Command pack_merge_command = {"merge", "Make one pack of several", kFooter, define};

}  // namespace cairn::cli
