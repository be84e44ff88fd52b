// SPDX-License-Identifier: MIT
// `cairn pack create`: packs caches for other machines.
#include <algorithm>
#include <charconv>
#include <optional>

#include "cache/start_order.h"
#include "caches.h"
#include "command.h"
#include "pack/commands.h"
#include "pack/local_parts.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(A pack holds programs as drivers compiled them: it serves machines with the very same driver (and with a driver that
draws by the processor: the same processor). Make one for each, and merge them. The same caches give the same bytes.
Recipes (`cairn run --record`) serve every driver, and the programs are made from them there (`cairn warm`): --recipes
packs them, too, and --only-recipes nothing else. Neither --starts nor --max-bytes leaves out any of them.
An older OUT.pack is replaced when the new one is whole. For the driver's machine code, start the application with
`cairn run --record` before, and twice without --record: drivers have other names for what comes from a cache.

Examples:
  cairn pack create game.pack --application game
  cairn pack create game.pack --application game --starts 3 --max-bytes 64M
  cairn pack create recipes.pack --application game --only-recipes
  cairn pack create all.pack --all --about "Kiosk, driver 550.54"

Exit codes: 0 written, 1 there is no such cache, there is nothing to pack, or OUT.pack cannot be written, 2 wrong usage.)";

struct Options {
    PackOptions pack;
    Selection selection;
    std::optional<std::string> starts;  // a number
    bool no_driver_files = false;
    bool recipes = false, only_recipes = false;

    bool wants_recipes() const { return recipes || only_recipes; }
};

// How many starts are asked for; nullopt: everything is packed.
std::optional<unsigned> starts_of(const Options &options) {
    if (!options.starts) return std::nullopt;
    const std::string &text = *options.starts;
    unsigned starts = 0;
    const char *const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, starts);
    if (error != std::errc() || stopped != end || starts == 0 || starts > kStartsMax) {
        throw Failure(kExitUsage, "--starts `{}`: write a number from 1 to {}", text, kStartsMax);
    }
    return starts;
}

// The parts of the selected caches, and of their drivers' files.
std::vector<PlannedPart> plan_parts(const std::string &root, const Options &options,
                                    std::optional<unsigned> starts) {
    const CacheChoice choice = {starts, !options.only_recipes, options.wants_recipes()};
    std::vector<PlannedPart> parts;
    for (const std::string &name : selected_caches(options.selection, "pack", root)) {
        parts.push_back(plan_cache(root, name, choice));
    }
    if (starts &&
        std::ranges::all_of(parts, [](const PlannedPart &part) { return part.order.empty(); })) {
        throw Failure(kExitFailure, "no start of these caches is recorded; leave --starts out");
    }
    const bool has_recipes = std::ranges::any_of(parts, &PlannedPart::is_recipes);
    if (options.wants_recipes() && !has_recipes) {
        throw Failure(kExitFailure,
                      "there are no recipes of these caches; `cairn run --record` makes some");
    }
    // Of caches without entries, too: an application may keep its binaries by itself.
    if (!options.no_driver_files && !options.only_recipes) {
        for (const LayeredSubject &driver : drivers_of(root, parts)) {
            parts.push_back(plan_driver_part(root, driver));
        }
    }
    keep_the_best(parts, options.pack);
    if (parts.empty() && has_recipes && !options.wants_recipes()) {
        throw Failure(kExitFailure, "there is nothing to pack but recipes; add --recipes");
    }
    return parts;
}

int create(const Options &options) {
    const std::optional<unsigned> starts = starts_of(options);
    PackMaker maker(options.pack);
    const std::vector<PlannedPart> parts = plan_parts(usable_root(), options, starts);
    maker.begin(parts.size());
    std::uint64_t caches = 0, entries = 0, driver_files = 0;
    for (const PlannedPart &part : parts) {
        const bool is_cache = part.kind == PackKind::entries;
        caches += is_cache ? 1u : 0u;
        (is_cache ? entries : driver_files) += maker.write(part);
    }
    const std::string made = maker.finish(options.pack.about.value_or(""));
    say(fmt::format("Packed {} of {} and {} into {}", format_count(entries, "entry", "entries"),
                    format_count(caches, "cache", "caches"),
                    format_count(driver_files, "file of machine code", "files of machine code"),
                    made));
    return kExitOk;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.required("OUT.pack", options->pack.out, "The file to write");
    add_selection(take, options->selection, "Caches, as `cairn ls` shows them", Asks::no);
    CLI::Option *const starts =
        take.value("--starts", options->starts, "Only what the last N recorded starts used", "N");
    CLI::Option *const recipes =
        take.flag("--recipes", options->recipes,
                  "Pack recipes, too, from which programs are made on any driver");
    CLI::Option *const only_recipes =
        take.flag("--only-recipes", options->only_recipes, "Pack recipes, and nothing else");
    take.exclusive({starts, only_recipes});
    take.exclusive({recipes, only_recipes});
    add_pack_options(take, options->pack);
    take.flag("--no-driver-files", options->no_driver_files,
              "Leave out the machine code that drivers have made (see `cairn run --record`)");
    return [options] { return create(*options); };
}

}  // namespace

const Command pack_create_command = {"create", "Write the entries of caches to a pack", kFooter,
                                     define};

}  // namespace cairn::cli
