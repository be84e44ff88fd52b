// SPDX-License-Identifier: MIT
#include "pack/local_parts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "cache/start_order.h"
#include "caches.h"
#include "os/root.h"
#include "os/text_file.h"
#include "recipe/recipe.h"

namespace cairn::cli {
namespace {

struct BlobCloser {
    void operator()(cairn_blob *blob) const { cairn_blob_free(blob); }
};

// Calls `use` with the value of a key; false: it is gone, or damaged.
bool read_value(cairn_cache *cache, std::string_view key, const PlannedPart::Use &use) {
    cairn_blob *found = nullptr;
    (void)cairn_get(cache, key.data(), key.size(), &found);
    const std::unique_ptr<cairn_blob, BlobCloser> blob(found);
    if (blob == nullptr) return false;
    use({static_cast<const std::byte *>(cairn_blob_data(found)), cairn_blob_size(found)});
    return true;
}

bool is_wanted(const PlannedPart &part, const CacheChoice &choice) {
    if (!part.is_recipes()) return choice.programs;
    // Nobody knows which entries of another version name paths of this machine.
    return choice.recipes && part.version == recipe::kVersion;
}

// What the cache's directory says of it: its generation, and the order of a start where that is wanted.
void add_texts(const std::string &path, const CacheChoice &choice, PlannedPart &part) {
    const auto folder = Directory::open(path);
    if (!folder.ok()) return;
    const auto text = read_text_file(folder.value(), kGenerationFileName, kPackTextMax);
    if (text.ok()) part.generation = text.value();
    if (!is_wanted(part, choice) || part.is_recipes()) return;
    part.order =
        choice.starts ? read_order(folder.value(), *choice.starts) : read_order(folder.value());
}

void add_entries(const CacheHandle &cache, const CacheChoice &choice, PlannedPart &part) {
    // Recipes are no part of a start.
    const bool is_limited = choice.starts && !part.is_recipes();
    const std::set<std::string_view> in_order(part.order.begin(), part.order.end());
    for_each_entry(cache, "read `" + part.identifier + "`", [&](const cairn_entry &entry) {
        const std::string_view key(static_cast<const char *>(entry.key), entry.key_size);
        if (is_limited && !in_order.contains(key)) return true;
        part.entries.push_back({part.keep(key), entry.stored_size, entry.cost_us,
                                (entry.flags & CAIRN_PUT_PINNED) != 0});
        return true;
    });
    std::sort(part.entries.begin(), part.entries.end(),
              [](const PlannedEntry &a, const PlannedEntry &b) { return a.key < b.key; });
}

}  // namespace

PlannedPart plan_cache(const std::string &root, const std::string &identifier,
                       const CacheChoice &choice) {
    PlannedPart part;
    part.identifier = identifier;
    const auto cache =
        std::make_shared<const CacheHandle>(open_cache(root, identifier, Access::read_only));
    part.version = cache_stats(*cache).version;
    add_texts(root + "/" + identifier, choice, part);
    if (!is_wanted(part, choice)) return part;
    add_entries(*cache, choice, part);
    part.read = [cache](const PlannedEntry &entry, const PlannedPart::Use &use) {
        return read_value(cache->get(), entry.key, use);
    };
    return part;
}

std::vector<LayeredSubject> drivers_of(const std::string &root,
                                       const std::vector<PlannedPart> &parts) {
    std::map<std::string, LayeredSubject> found;
    for (const PlannedPart &part : parts) {
        const auto application = application_of(part.generation, part.identifier);
        if (!application || driver_cache_bytes(root, *application) == 0) continue;
        auto driver = noted_driver(root, *application);
        const LayeredSubject of_part = driver_subject(*application, part.generation);
        if (driver && driver->generation == of_part.generation) {
            found.insert_or_assign(*application, std::move(*driver));
        }
    }
    std::vector<LayeredSubject> drivers;
    drivers.reserve(found.size());
    for (auto &[application, driver] : found) drivers.push_back(std::move(driver));
    return drivers;
}

PlannedPart plan_driver_part(const std::string &root, const LayeredSubject &driver) {
    const PackSubject subject = driver.of_kind(PackKind::driver_files);
    PlannedPart part;
    part.kind = subject.kind;
    part.identifier = subject.identifier;
    part.version = subject.version;
    part.generation = subject.generation;
    std::uint64_t bytes = 0;
    visit_driver_files(root, driver.name, [&](const std::string &name, const File &file) {
        const auto info = file.info();
        if (!info.ok() || info->size_bytes > kDriverFileMax ||
            part.entries.size() == kDriverFilesMax || bytes + info->size_bytes > kDriverBytesMax) {
            return;
        }
        bytes += info->size_bytes;
        part.entries.push_back({part.keep(name), info->size_bytes});
    });
    part.read = [root, application = driver.name](const PlannedEntry &entry,
                                                  const PlannedPart::Use &use) {
        const auto file = open_driver_file(root, application, std::string(entry.key));
        if (!file.ok()) return false;
        std::vector<std::byte> content(entry.stored_size);
        const auto size = file->read_at(0, content);
        if (!size.ok() || size.value() != content.size()) return false;
        use(content);
        return true;
    };
    return part;
}

}  // namespace cairn::cli
