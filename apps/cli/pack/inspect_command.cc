// SPDX-License-Identifier: MIT
// `cairn pack inspect` and `cairn pack ls`: what is in a pack, and which are installed.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "caches.h"
#include "pack/commands.h"
#include "pack/files.h"
#include "pack/recipes.h"
#include "recipe/recipe.h"
#include "signature.h"

namespace cairn::cli {
namespace {

constexpr const char *kInspectFooter =
    R"(Nothing of the entries is verified: `cairn pack verify` does that.

Examples:
  cairn pack inspect game.pack
  cairn pack inspect --json game.pack

Exit codes: 0 printed, 1 FILE is no pack, 2 wrong usage.)";

struct Sums {
    std::uint64_t entries = 0, stored_bytes = 0, raw_bytes = 0, cost_us = 0;
};

Sums sum_up(const PackPart &part) {
    Sums sums;
    for (std::uint32_t slot = 0; slot < part.row().slot_count(); ++slot) {
        const auto entry = part.look_at(slot);
        if (!entry.ok() || !entry.value()) continue;
        ++sums.entries;
        sums.stored_bytes += entry.value()->record.value_size;
        sums.raw_bytes += entry.value()->record.raw_size;
        sums.cost_us += entry.value()->record.cost_us;
    }
    return sums;
}

bool is_of_recipes(const OpenPart &part) {
    return part.subject.kind == PackKind::entries && part.subject.version == recipe::kVersion &&
           cairn::is_of_recipes(part.subject.generation);
}

// What the pack has of an application.
struct Offer {
    std::set<std::string> drivers;  // that it has compiled programs for
    bool has_recipes = false;
};

std::map<std::string, Offer> offers_of(const OpenPack &pack) {
    std::map<std::string, Offer> offers;
    for (const OpenPart &part : pack.parts) {
        if (part.application.empty() || part.subject.kind != PackKind::entries) continue;
        Offer &offer = offers[part.application];
        if (cairn::is_of_recipes(part.subject.generation)) {
            offer.has_recipes = offer.has_recipes || is_of_recipes(part);
        } else {
            // A driver has several caches, for contexts of several kinds.
            const LayeredSubject driver = driver_subject(part.application, part.subject.generation);
            offer.drivers.insert(driver.generation);
        }
    }
    return offers;
}

nlohmann::ordered_json json_of(const OpenPack &pack) {
    const auto trailer = read_trailer(pack.pack->file(), pack.path);
    nlohmann::ordered_json json = {{"file", pack.path},
                                   {"bytes", pack.pack->info().size_bytes},
                                   {"about", pack.pack->about().value_or("")},
                                   {"key", nullptr},
                                   {"applications", nlohmann::ordered_json::array()},
                                   {"parts", nlohmann::ordered_json::array()}};
    if (trailer) json["key"] = fingerprint(trailer->key);
    for (const auto &[application, offer] : offers_of(pack)) {
        json["applications"].push_back({{"application", application},
                                        {"drivers", offer.drivers.size()},
                                        {"recipes", offer.has_recipes}});
    }
    for (const OpenPart &part : pack.parts) {
        const Sums sums = sum_up(*part.part);
        json["parts"].push_back({{"kind", name_of(part.subject.kind)},
                                 {"identifier", part.subject.identifier},
                                 {"application", part.application},
                                 {"version", part.subject.version},
                                 {"about", part.about()},
                                 {"entries", sums.entries},
                                 {"stored_bytes", sums.stored_bytes},
                                 {"value_bytes", sums.raw_bytes},
                                 {"cost_us", sums.cost_us},
                                 {"start_entries", part.part->row().order_count}});
        if (is_of_recipes(part)) json["parts"].back()["recipes"] = json_of(count_recipes(part));
    }
    return json;
}

void print(const std::string &application, const Offer &offer) {
    const std::string drivers = format_count(offer.drivers.size(), "driver", "drivers");
    print_line("  {}: {}{}", application_name(application),
               offer.drivers.empty() ? "" : "compiled programs for " + drivers,
               !offer.has_recipes      ? ""
               : offer.drivers.empty() ? "recipes for any driver"
                                       : ", and recipes for any other");
}

void print(const OpenPart &part) {
    const Sums sums = sum_up(*part.part);
    print_line("  {} ({}), version {}", part.subject.identifier, name_of(part.subject.kind),
               part.subject.version);
    const std::string count = format_count(sums.entries, "entry", "entries");
    const std::string bytes = fmt::format("{} of values in {}", format_bytes(sums.raw_bytes),
                                          format_bytes(sums.stored_bytes));
    if (is_of_recipes(part)) {
        for (const std::string &line : lines_of(count_recipes(part))) print_line("    {}", line);
        print_line("    {}, {}", count, bytes);
        return;
    }
    if (!part.about().empty()) print_line("    {}", part.about());
    print_line("    {}, {}, saves {}; a start used {}", count, bytes,
               format_duration_ns(sums.cost_us * 1000), part.part->row().order_count);
}

void print(const OpenPack &pack) {
    print_line("{}: {}", pack.path, format_bytes(pack.pack->info().size_bytes));
    const std::string about = pack.pack->about().value_or("(damaged)");
    if (!about.empty()) print_line("  {}", about);
    print_line("  {}", signer_text(pack));
    for (const auto &[application, offer] : offers_of(pack)) print(application, offer);
    for (const OpenPart &part : pack.parts) print(part);
}

Run define_inspect(Arguments &take) {
    struct Options {
        std::string file;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    take.required("FILE", options->file, "A pack");
    take.flag("--json", options->json, "For programs");
    return [options] {
        const OpenPack pack = open_pack(options->file);
        options->json ? print_json(json_of(pack)) : print(pack);
        return kExitOk;
    };
}

constexpr const char *kLsFooter =
    R"(Examples:
  cairn pack ls
  cairn pack ls game.pack

Exit codes: 0 printed, 1 FILE is no pack, 2 wrong usage.)";

void list_entries(const OpenPack &pack) {
    for (const OpenPart &part : pack.parts) {
        print_line("{} ({}):", part.subject.identifier, name_of(part.subject.kind));
        std::vector<std::string> lines;
        for (std::uint32_t slot = 0; slot < part.part->row().slot_count(); ++slot) {
            const auto entry = part.part->look_at(slot);
            if (!entry.ok() || !entry.value()) continue;
            const std::string &key = entry.value()->key;
            constexpr std::size_t kKeyMax = 32;
            lines.push_back(fmt::format(
                "  {:<66} {:>10}  {}",
                part.subject.kind == PackKind::entries ? format_key(key.data(), key.size(), kKeyMax)
                                                       : key,
                format_bytes(entry.value()->record.raw_size),
                format_duration_ns(std::uint64_t{entry.value()->record.cost_us} * 1000)));
        }
        std::sort(lines.begin(), lines.end());
        for (const std::string &line : lines) print_line(line);
    }
}

int list_installed(const std::string &root) {
    std::size_t count = 0;
    for (const std::string &folder : install_folders(root)) {
        for (const std::string &path : installed_packs(folder)) {
            ++count;
            try {
                const OpenPack pack = open_pack(path);
                print_line("{}  {}  {}  {}", path, format_bytes(pack.pack->info().size_bytes),
                           format_count(pack.parts.size(), "part", "parts"), signer_text(pack));
            } catch (const Failure &failure) {
                print_line("{}  ({})", path, failure.what());
            }
        }
    }
    if (count == 0) say("No packs are installed");
    return kExitOk;
}

Run define_ls(Arguments &take) {
    auto file = std::make_shared<std::string>();
    take.value("FILE", *file, "A pack whose entries are listed; without it, installed packs are");
    take.dir();
    return [file] {
        if (file->empty()) return list_installed(resolve_root());
        list_entries(open_pack(*file));
        return kExitOk;
    };
}

}  // namespace

const Command pack_inspect_command = {"inspect", "Say what is in a pack", kInspectFooter,
                                      define_inspect};
const Command pack_ls_command = {"ls", "List installed packs, or the entries of one", kLsFooter,
                                 define_ls};

}  // namespace cairn::cli
