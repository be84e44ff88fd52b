// What this machine has of one application: entries of its caches, its driver's machine code, and the drivers that it
// runs with. NAME is an application ("gl-game") or the identifier of a cache that is of none.
// SPDX-License-Identifier: MIT
//
// A driver is known by a text: the lines of a generation's text that are about it (cache/driver_cache.h). For caches
// that are of no driver it is empty; recipes have one of their own, which is the same everywhere.
//
// Thread safety: used by main only.
// Failure: a Failure for a cache that cannot be read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pack/plan.h"
#include "text.h"

namespace cairn::fleet {

// Those below the root that people may mean by a name: "game" is "gl-game", too.
bool is_meant(const std::string &name, const std::string &given);
cli::Words names_below(const std::string &root);

// The parts that packs have of NAME, by the text of the driver.
enum class Recipes { yes, no };
using Holdings = std::map<std::string, std::vector<cli::PlannedPart>>;
Holdings holdings_of(const std::string &root, const std::string &name, Recipes recipes);

// The entry_hash() of all that a start of NAME with this driver would find here: in caches, among the driver's own
// files, and in the pack that pulls made. Ascending.
std::vector<std::uint64_t> entries_here(const std::string &root, const std::string &name,
                                        const std::string &driver_text);

// A cache of NAME, and the entry_hash() of what it has, or hides in the pack that pulls made: ascending.
struct HeldCache {
    std::string identifier;
    PackIdentity identity;
    std::vector<std::uint64_t> entries;
};
cli::Words identifiers_here(const std::string &root, const std::string &name,
                            const std::string &driver_text);
std::vector<HeldCache> caches_here(const std::string &root, const std::string &name,
                                   const std::string &driver_text);

// The texts of the drivers with which NAME runs here, as far as its caches tell; the empty one, and that of recipes.
cli::Words drivers_in_caches(const std::string &root, const std::string &name);
// The text of the driver that a context in this application's name meets now: the player makes one, for which it
// has a root of its own. nullopt: there is no player, no driver, or no context. `folder` is one that may be made.
// `executable`: the application's file, for drivers that have settings for it; empty: it is looked for.
std::optional<std::string> driver_of_context(const std::string &root, const std::string &name,
                                             const std::string &folder,
                                             const std::string &executable);

// Where pulls put what they merge.
std::string pulled_pack_path(const std::string &root, const std::string &name,
                             const std::string &driver);

}  // namespace cairn::fleet
