// SPDX-License-Identifier: MIT
// `cairn pack merge`: several packs as one.
#include <fmt/format.h>

#include "output.h"
#include "pack/commands.h"
#include "pack/merging.h"

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
    std::vector<PlannedPart> plans = plan_merge(std::move(packs), lost);
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
