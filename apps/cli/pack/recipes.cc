// SPDX-License-Identifier: MIT
#include "pack/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cache/cache.h"
#include "recipe/recipe.h"

namespace cairn::cli {
namespace {

// Notes of which driver has linked which program, by the driver's hash.
struct Note {
    recipe::Key program;
    std::uint32_t slot;
};
using Notes = std::map<std::string, std::vector<Note>>;

std::string name_in(const PackPart &part, std::uint32_t slot) {
    const auto found = part.read(slot);
    if (!found.ok() || !found.value()) return "(damaged)";
    const Bytes value = found.value()->value();
    return std::string(as_text(value.first(std::min(value.size(), recipe::kSeenNameMax))));
}

void count_notes(const PackPart &part, const Notes &notes, const std::set<recipe::Key> &programs,
                 RecipeCounts &counts) {
    std::map<recipe::Key, std::uint64_t> drivers_of;  // programs that are there
    for (const auto &[driver, of_driver] : notes) {
        std::uint64_t known = 0;
        for (const Note &note : of_driver) {
            if (!programs.contains(note.program)) continue;
            ++known;
            ++drivers_of[note.program];
        }
        if (known != 0) counts.drivers.push_back({name_in(part, of_driver.front().slot), known});
    }
    std::ranges::sort(counts.drivers, [](const auto &a, const auto &b) {
        return a.programs != b.programs ? a.programs > b.programs : a.name < b.name;
    });
    for (const auto &[program, drivers] : drivers_of) {
        counts.by_all += drivers == counts.drivers.size() ? 1u : 0u;
        counts.by_one += drivers == 1 ? 1u : 0u;
    }
}

}  // namespace

RecipeCounts count_recipes(const OpenPart &part) {
    RecipeCounts counts;
    std::set<recipe::Key> programs;
    Notes notes;
    std::set<std::string> noted;  // keys
    for (std::uint32_t slot = 0; slot < part.part->row().slot_count(); ++slot) {
        const auto entry = part.part->look_at(slot);
        if (!entry.ok() || !entry.value()) continue;
        const std::string &key = entry.value()->key;
        const auto kind = recipe::kind_of(key);
        if (kind == recipe::Kind::program) programs.insert(recipe::hash_in(key));
        if (kind == recipe::Kind::state) ++counts.states;
        if (kind == recipe::Kind::source) ++counts.sources;
        if (kind == recipe::Kind::seen && noted.insert(key).second) {
            notes[recipe::driver_in(key)].push_back({recipe::hash_in(key), slot});
        }
    }
    counts.programs = programs.size();
    count_notes(*part.part, notes, programs, counts);
    return counts;
}

nlohmann::ordered_json json_of(const RecipeCounts &counts) {
    nlohmann::ordered_json json = {{"programs", counts.programs},
                                   {"states", counts.states},
                                   {"sources", counts.sources},
                                   {"drivers", nlohmann::ordered_json::array()},
                                   {"programs_by_all_drivers", counts.by_all},
                                   {"programs_by_one_driver", counts.by_one}};
    for (const RecipeCounts::Driver &each : counts.drivers) {
        json["drivers"].push_back({{"name", each.name}, {"programs", each.programs}});
    }
    return json;
}

Words lines_of(const RecipeCounts &counts) {
    const auto percent = [&](std::uint64_t programs) { return programs * 100 / counts.programs; };
    Words lines = {fmt::format("recipes: {}, {}, {}",
                               format_count(counts.programs, "program", "programs"),
                               format_count(counts.states, "state", "states"),
                               format_count(counts.sources, "source", "sources"))};
    if (counts.drivers.empty()) return lines;
    std::string share = "recorded with " + format_count(counts.drivers.size(), "driver", "drivers");
    if (counts.drivers.size() > 1) {
        share += fmt::format(": {} % of the programs by all of them, {} % by one only",
                             percent(counts.by_all), percent(counts.by_one));
    }
    lines.push_back(std::move(share));
    for (const RecipeCounts::Driver &each : counts.drivers) {
        lines.push_back(fmt::format("  {} % by {}", percent(each.programs), each.name));
    }
    return lines;
}

}  // namespace cairn::cli
