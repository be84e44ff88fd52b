// SPDX-License-Identifier: MIT
#include "warm/recipes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "cache/generations.h"
#include "cache/start_order.h"
#include "log_lines.h"
#include "output.h"
#include "pack/files.h"

namespace cairn::cli {
namespace {

constexpr std::size_t kStatesMax = 64;  // of a program
constexpr const char *kPrefix = "gl-";

Generation generation_of(const std::string &application) {
    return {kPrefix + application, "", recipe::kIdentity};
}

bool is_of_recipes(std::string_view generation) {
    return generation.ends_with(recipe::kIdentity);
}

recipe::Key hash_of(const RecipeUnit &unit) {
    std::string all = recipe::key_of_program(unit.program);
    for (const std::string &state : unit.states) all += state;
    return recipe::hash_of(as_bytes(all));
}

// `lines`: what the library says of packs that it does not take.
Failure not_used(const std::string &pack, const Words &lines) {
    if (lines.empty()) return Failure(kExitFailure, "{} has no recipes that can be used", pack);
    return Failure(kExitFailure,
                   "{} is not used: {}; a pack and its folder must be yours, and nobody else may "
                   "write them",
                   pack, fmt::join(lines, "; "));
}

}  // namespace

RecipeBook::RecipeBook(const std::string &root, const std::string &application, const Words &packs)
    : identifier_(identifier_of(generation_of(application))) {
    const Generation generation = generation_of(application);
    Words order;
    if (const auto folder = Directory::open(root + "/" + identifier_); folder.ok()) {
        own_ = open_cache(root, identifier_, Access::read_only);
        order = read_order(folder.value());
    }
    const LayeredSubject subject = {generation.application, identifier_, recipe::kVersion,
                                    describe(generation)};
    Lines refused;
    layers_ = find_layers(root, subject, packs, PackKind::entries, Log(Lines::keep, &refused));
    for (const std::string &pack : packs) {
        if (std::ranges::find(layers_, pack, &FoundLayer::path) == layers_.end()) {
            throw not_used(pack, refused.lines);
        }
    }
    refused_ = std::move(refused.lines);
    for (const FoundLayer &layer : layers_) {
        const Words more = order_of(*layer.part);
        order.insert(order.end(), more.begin(), more.end());
    }
    group(keys(), order);
}

Words RecipeBook::keys() const {
    std::set<std::string> all;
    const auto take = [&](std::string key) {
        if (recipe::kind_of(key)) all.insert(std::move(key));
    };
    if (own_) {
        for_each_entry(*own_, "read recipes", [&](const cairn_entry &entry) {
            take({static_cast<const char *>(entry.key), entry.key_size});
            return true;
        });
    }
    for (const FoundLayer &layer : layers_) {
        const PackRow &row = layer.part->row();
        std::uint64_t found = 0;
        for (std::uint32_t slot = 0; slot < row.slot_count() && found < row.entry_count; ++slot) {
            auto entry = layer.part->look_at(slot);
            if (!entry.ok() || !entry.value()) continue;
            ++found;
            take(std::move(entry.value()->key));
        }
    }
    return {all.begin(), all.end()};
}

void RecipeBook::group(const Words &keys, const Words &order) {
    std::map<std::string, std::size_t> places;
    for (const std::string &key : order) places.emplace(key, places.size());
    std::map<recipe::Key, RecipeUnit> units;
    Words programs;
    for (const std::string &key : keys) {
        const auto kind = recipe::kind_of(key);
        if (kind == recipe::Kind::program) {
            units[recipe::hash_in(key)].program = recipe::hash_in(key);
            programs.push_back(key);
        }
    }
    for (const std::string &key : keys) {
        if (recipe::kind_of(key) != recipe::Kind::state) continue;
        const auto found = units.find(recipe::hash_in(key));
        if (found == units.end() || found->second.states.size() == kStatesMax) continue;
        found->second.states.push_back(key);
    }
    const auto place_of = [&](const std::string &key) {
        const auto found = places.find(key);
        return found == places.end() ? places.size() : found->second;
    };
    std::ranges::stable_sort(programs, {}, place_of);
    // As the application draws: Mesa's names for machine code depend on what was drawn before.
    for (auto &[program, unit] : units) std::ranges::stable_sort(unit.states, {}, place_of);
    std::map<recipe::ContextKind, std::size_t> contexts;
    for (const std::string &key : programs) {
        const auto bytes = read(key);
        const auto program = bytes ? recipe::decode_program(as_bytes(*bytes)) : std::nullopt;
        if (!program || recipe::hash_of(as_bytes(*bytes)) != recipe::hash_in(key)) {
            ++damaged_;
            continue;
        }
        const auto [place, is_new] = contexts.emplace(program->context, groups_.size());
        if (is_new) groups_.push_back({program->context, {}});
        RecipeUnit &unit = units[recipe::hash_in(key)];
        unit.hash = hash_of(unit);
        groups_[place->second].units.push_back(std::move(unit));
    }
}

std::size_t RecipeBook::size() const {
    std::size_t count = 0;
    for (const RecipeGroup &each : groups_) count += each.units.size();
    return count;
}

std::optional<std::string> RecipeBook::read(const std::string &key) const {
    const std::lock_guard lock(mutex_);
    cairn_blob *found = nullptr;
    if (own_ && cairn_get(own_->get(), key.data(), key.size(), &found) == CAIRN_OK) {
        std::string value(static_cast<const char *>(cairn_blob_data(found)),
                          cairn_blob_size(found));
        cairn_blob_free(found);
        return value;
    }
    for (const FoundLayer &layer : layers_) {
        auto entry = layer.part->find(as_bytes(key));
        if (!entry.ok() || entry->entry.get() == nullptr) continue;
        const Bytes value = entry->entry->value();
        return std::string(reinterpret_cast<const char *>(value.data()), value.size());
    }
    return std::nullopt;
}

// What has another content than its key says is somebody else's, whoever has put it there.
std::optional<RecipeBook::Found> RecipeBook::work(const RecipeUnit &unit) const {
    constexpr std::size_t kNumbers = 4096;  // around what is read here
    std::size_t left = recipe::kMessageMax - kNumbers;
    const auto take = [&](const std::string &key) {
        auto bytes = read(key);
        if (bytes && bytes->size() > left) bytes.reset();
        if (bytes) left -= bytes->size();
        return bytes;
    };
    const auto bytes = take(recipe::key_of_program(unit.program));
    auto program = bytes && recipe::hash_of(as_bytes(*bytes)) == unit.program
                       ? recipe::decode_program(as_bytes(*bytes))
                       : std::nullopt;
    if (!program) return std::nullopt;
    Found found;
    found.work.program = std::move(*program);
    for (const recipe::Stage &stage : found.work.program.stages) {
        const auto text = take(recipe::key_of_source(stage.source));
        auto source = text ? recipe::decode_source(as_bytes(*text)) : std::nullopt;
        if (!source || recipe::hash_of(*source) != stage.source) return std::nullopt;
        found.work.sources.push_back(std::move(*source));
    }
    for (const std::string &key : unit.states) {
        const auto state = take(key);
        auto decoded = state && recipe::key_of_state(unit.program, as_bytes(*state)) == key
                           ? recipe::decode_state(as_bytes(*state))
                           : std::nullopt;
        if (decoded) {
            found.work.states.push_back(std::move(*decoded));
        } else {
            found.is_whole = false;
        }
    }
    return found;
}

recipe::Application RecipeBook::application() const {
    const auto bytes = read(recipe::key_of_application());
    const auto found = bytes ? recipe::decode_application(as_bytes(*bytes)) : std::nullopt;
    return found.value_or(recipe::Application());
}

Words applications_with_recipes(const std::string &root) {
    std::set<std::string> found;
    for (const auto &[identifier, application] : list_applications(root)) {
        if (identifier == identifier_of({application, "", recipe::kIdentity})) {
            found.insert(application_name(application));
        }
    }
    for (const std::string &folder : install_folders(root)) {
        for (const std::string &path : installed_packs(folder)) {
            try {
                for (const OpenPart &part : open_pack(path).parts) {
                    if (!is_of_recipes(part.subject.generation)) continue;
                    found.insert(application_name(part.application));
                }
            } catch (const Failure &) {
                continue;  // applications pass over it, too
            }
        }
    }
    return {found.begin(), found.end()};
}

std::string application_of_pack(const std::string &path) {
    for (const OpenPart &part : open_pack(path).parts) {
        if (is_of_recipes(part.subject.generation)) return application_name(part.application);
    }
    throw Failure(kExitFailure,
                  "{} has no recipes; `cairn pack create --recipes` makes packs with them", path);
}

}  // namespace cairn::cli
