// SPDX-License-Identifier: MIT
// An application's recipes: those that were recorded here, and those of packs (docs/recipes.md).
// Thread safety: work() from any thread; the rest by one.
// Failure: cli::Failure where a pack of the caller's is not used; what cannot be read or is not whole
// is left out and counted.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/layers.h"
#include "caches.h"
#include "recipe/player.h"
#include "text.h"

namespace cairn::cli {

// A program to make.
struct RecipeUnit {
    recipe::Key program = {};
    Words states;  // keys
    // Of the program's key and those of its states: one that is drawn in more states is another one.
    recipe::Key hash = {};
};

// Those that need one kind of context.
struct RecipeGroup {
    recipe::ContextKind context;
    std::vector<RecipeUnit> units;  // in the order of a start
};

class RecipeBook {
  public:
    // `application` without "gl-". `packs` are paths of packs that are not installed.
    RecipeBook(const std::string &root, const std::string &application, const Words &packs);

    const std::vector<RecipeGroup> &groups() const { return groups_; }
    std::size_t size() const;
    std::size_t damaged() const { return damaged_; }
    // What the library says of installed packs that it does not take.
    const Words &refused() const { return refused_; }
    // What a player gets; nullopt: a part of it is gone or damaged, or it is more than a player takes.
    struct Found {
        recipe::Work work;
        bool is_whole = true;  // false: a state of it is gone or damaged
    };
    std::optional<Found> work(const RecipeUnit &unit) const;
    // Of the cache that holds the application's own recipes.
    const std::string &identifier() const { return identifier_; }
    // Of this machine; empty where nobody knows.
    recipe::Application application() const;

  private:
    std::optional<std::string> read(const std::string &key) const;
    Words keys() const;
    void group(const Words &keys, const Words &order);

    const std::string identifier_;
    mutable std::mutex mutex_;  // of reading
    std::optional<CacheHandle> own_;
    std::vector<FoundLayer> layers_;
    Words refused_;
    std::vector<RecipeGroup> groups_;
    std::size_t damaged_ = 0;
};

// Applications that have recipes below the root or in installed packs, as people call them; sorted.
Words applications_with_recipes(const std::string &root);
// The application whose recipes are in a pack that is not installed. A Failure where there are none.
std::string application_of_pack(const std::string &path);

}  // namespace cairn::cli
