// SPDX-License-Identifier: MIT
#include "holdings.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "cache/layer_file.h"
#include "caches.h"
#include "manifest_format.h"
#include "os/file.h"
#include "os/helper_process.h"
#include "output.h"
#include "pack/files.h"
#include "pack/local_parts.h"
#include "packs.h"
#include "recipe/recipe.h"
#include "shelf.h"
#include "warm/environment.h"
#include "warm/player.h"
#include "warm/recipes.h"

namespace cairn::fleet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFrontEndPrefix = "gl-";

// The caches of NAME, and the text of each one's generation.
std::map<std::string, std::string> caches_of(const std::string &root, const std::string &name) {
    std::map<std::string, std::string> caches;
    for (const std::string &identifier : cli::list_caches(root)) {
        const auto folder = Directory::open(root + "/" + identifier);
        if (!folder.ok()) continue;
        const LayeredSubject subject = subject_of(folder.value(), identifier, 0);
        if (subject.name == name) caches.emplace(identifier, subject.generation);
    }
    return caches;
}

std::string driver_text(const std::string &name, const std::string &generation) {
    return generation.empty() ? "" : driver_subject(name, generation).generation;
}

std::string text_of_recipes(const std::string &name) {
    return driver_text(name, describe({name, "", recipe::kIdentity}));
}

std::uint64_t hash_of(const PackIdentity &identity, std::string_view key) {
    return entry_hash(identity, as_bytes(key));
}

// Returns the identity of the cache.
PackIdentity add_cache(const std::string &root, const std::string &identifier,
                       const std::string &generation, std::vector<std::uint64_t> &entries) {
    const cli::CacheHandle cache = cli::open_cache(root, identifier, Access::read_only);
    const PackIdentity identity =
        identity_of({PackKind::entries, identifier, cli::cache_stats(cache).version, generation});
    cli::for_each_entry(cache, "read `" + identifier + "`", [&](const cairn_entry &entry) {
        entries.push_back(
            hash_of(identity, {static_cast<const char *>(entry.key), entry.key_size}));
        return true;
    });
    return identity;
}

// What was removed here does not come back.
void add_hidden(const std::string &root, const std::string &identifier, const std::string &path,
                const PackIdentity &identity, std::vector<std::uint64_t> &entries) {
    const auto folder = Directory::open(root + "/" + identifier);
    std::error_code error;
    if (!folder.ok() || !fs::exists(path, error)) return;
    try {
        for (const cli::OpenPart &part : cli::open_pack(path).parts) {
            const PackRow &row = part.part->row();
            if (row.identity != identity) continue;
            const auto file = LayerFile::open(
                folder.value(), row, path, part.part->pack().info().modified_ns, Access::read_only);
            if (!file.ok()) continue;  // it was never a layer
            (void)cli::visit_entries(part, [&](std::uint32_t slot, const PackPart::Entry &entry) {
                if (file->is_hidden(slot)) entries.push_back(hash_of(identity, entry.key));
            });
        }
    } catch (const cli::Failure &) {
        // One that cannot be used hides nothing.
    }
}

void add_pack(const std::string &path, std::vector<std::uint64_t> &entries) {
    std::error_code error;
    if (!fs::exists(path, error)) return;
    try {
        for (const cli::OpenPart &part : cli::open_pack(path).parts) {
            (void)cli::visit_entries(part, [&](std::uint32_t, const PackPart::Entry &entry) {
                entries.push_back(hash_of(part.part->row().identity, entry.key));
            });
        }
    } catch (const cli::Failure &) {
        // One that cannot be used is made anew.
    }
}

void add_driver_files(const std::string &root, const LayeredSubject &driver,
                      std::vector<std::uint64_t> &entries) {
    const PackIdentity identity = identity_of(driver.of_kind(PackKind::driver_files));
    visit_driver_files(root, driver.name, [&](const std::string &file, const File &) {
        entries.push_back(hash_of(identity, file));
    });
}

// A folder with all that is in it, gone at the end.
class ProbeFolder {
  public:
    explicit ProbeFolder(std::string path) : path_(std::move(path)) {}
    ~ProbeFolder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    ProbeFolder(const ProbeFolder &) = delete;
    ProbeFolder &operator=(const ProbeFolder &) = delete;

    const std::string &path() const { return path_; }

  private:
    const std::string path_;
};

}  // namespace

bool is_meant(const std::string &name, const std::string &given) {
    return name == given || cli::application_name(name) == given;
}

cli::Words names_below(const std::string &root) {
    std::set<std::string> names;
    for (const std::string &identifier : cli::list_caches(root)) {
        const auto folder = Directory::open(root + "/" + identifier);
        if (folder.ok()) names.insert(subject_of(folder.value(), identifier, 0).name);
    }
    return {names.begin(), names.end()};
}

Holdings holdings_of(const std::string &root, const std::string &name, Recipes recipes) {
    Holdings holdings;
    for (const auto &[identifier, generation] : caches_of(root, name)) {
        if (is_of_recipes(generation) && recipes == Recipes::no) continue;
        cli::CacheChoice choice;
        choice.recipes = recipes == Recipes::yes;
        cli::PlannedPart part = cli::plan_cache(root, identifier, choice);
        holdings[driver_text(name, generation)].push_back(std::move(part));
    }
    const auto driver = noted_driver(root, name);
    if (driver && driver_cache_bytes(root, name) != 0 && holdings.contains(driver->generation)) {
        holdings[driver->generation].push_back(cli::plan_driver_part(root, *driver));
    }
    for (auto &[text, parts] : holdings) {
        for (cli::PlannedPart &part : parts) {
            std::erase_if(part.entries, [](const cli::PlannedEntry &each) {
                return each.stored_size + each.key.size() > kSharedValueMax;
            });
        }
        cli::keep_the_best(parts, {});
    }
    std::erase_if(holdings, [](const auto &each) { return each.second.empty(); });
    return holdings;
}

std::vector<std::uint64_t> entries_here(const std::string &root, const std::string &name,
                                        const std::string &text) {
    std::vector<std::uint64_t> entries;
    for (const auto &[identifier, generation] : caches_of(root, name)) {
        if (driver_text(name, generation) != text) continue;
        (void)add_cache(root, identifier, generation, entries);
    }
    if (const auto driver = noted_driver(root, name); driver && driver->generation == text) {
        add_driver_files(root, *driver, entries);
    }
    add_pack(pulled_pack_path(root, name, driver_name(text)), entries);
    std::ranges::sort(entries);
    return entries;
}

cli::Words identifiers_here(const std::string &root, const std::string &name,
                            const std::string &text) {
    cli::Words identifiers;
    for (const auto &[identifier, generation] : caches_of(root, name)) {
        if (driver_text(name, generation) == text && !is_of_recipes(generation)) {
            identifiers.push_back(identifier);
        }
    }
    return identifiers;
}

std::vector<HeldCache> caches_here(const std::string &root, const std::string &name,
                                   const std::string &text) {
    std::vector<HeldCache> caches;
    const std::string pack = pulled_pack_path(root, name, driver_name(text));
    for (const auto &[identifier, generation] : caches_of(root, name)) {
        if (driver_text(name, generation) != text || is_of_recipes(generation)) continue;
        HeldCache cache = {identifier, {}, {}};
        cache.identity = add_cache(root, identifier, generation, cache.entries);
        add_hidden(root, identifier, pack, cache.identity, cache.entries);
        std::ranges::sort(cache.entries);
        caches.push_back(std::move(cache));
    }
    return caches;
}

cli::Words drivers_in_caches(const std::string &root, const std::string &name) {
    std::set<std::string> texts = {"", text_of_recipes(name)};
    for (const auto &[identifier, generation] : caches_of(root, name)) {
        texts.insert(driver_text(name, generation));
    }
    return {texts.begin(), texts.end()};
}

std::optional<std::string> driver_of_context(const std::string &root, const std::string &name,
                                             const std::string &folder,
                                             const std::string &executable) {
    constexpr unsigned kPatienceMs = 20'000;
    if (!name.starts_with(kFrontEndPrefix)) return std::nullopt;
    const std::string application = cli::application_name(name);
    const ProbeFolder probe(folder);
    const std::atomic<bool> stop = false;
    try {
        recipe::Application known = cli::RecipeBook(root, application, {}).application();
        if (!executable.empty()) known = {canonical_path(executable), application};
        cli::Player player(
            cli::find_player(),
            cli::player_environment(application, cli::complete_application(known, application, {}),
                                    folder),
            stop);
        recipe::ContextKind kind;
        kind.is_es = 1;
        kind.major = 2;
        const auto ready = player.open(kind, kPatienceMs);
        if (!ready || ready->is_ready == 0) return std::nullopt;
        (void)player.finish(kPatienceMs);
        const auto cache = Directory::open(folder + "/" + ready->cache);
        if (!cache.ok()) return std::nullopt;
        const LayeredSubject subject = subject_of(cache.value(), ready->cache, 0);
        if (subject.name != name) return std::nullopt;
        return driver_text(name, subject.generation);
    } catch (const cli::Failure &) {
        return std::nullopt;
    }
}

std::string pulled_pack_path(const std::string &root, const std::string &name,
                             const std::string &driver) {
    return root + "/.packs/" + name + "/" + std::string(cli::kFleetPackBeginning) + driver +
           ".pack";
}

}  // namespace cairn::fleet
