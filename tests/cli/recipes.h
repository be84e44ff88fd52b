// Recipes of an application, as a front end stores them.
// SPDX-License-Identifier: MIT
// Thread safety: externally synchronised. Failure: a failed test.
#pragma once

#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "recipe/recipe.h"

namespace cairn::cli_test {

inline cairn_cache *open_recipes(const std::string &root,
                                 std::uint32_t flags = CAIRN_OPEN_NO_LAYERS,
                                 const std::string &application = "gl-game") {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.application = application.c_str();
    options.identity = recipe::kIdentity;
    options.version = recipe::kVersion;
    options.flags = flags;
    cairn_cache *cache = nullptr;
    EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
    return cache;
}

// A thread stores it: other processes surely have it after flush() or cairn_close().
inline void put(cairn_cache *cache, const std::string &key, const std::string &value) {
    EXPECT_EQ(cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr),
              CAIRN_OK);
}

inline void flush(cairn_cache *cache) {
    EXPECT_EQ(cairn_flush(cache, 60'000), CAIRN_OK);
}

// Stores a program with these sources; the hash of it.
inline recipe::Key put_recipe(cairn_cache *cache, const std::vector<recipe::Source> &sources,
                              const recipe::ContextKind &context = {}) {
    recipe::Program program;
    program.context = context;
    for (const recipe::Source &each : sources) {
        const recipe::Key hash = recipe::hash_of(each);
        put(cache, recipe::key_of_source(hash), recipe::encode(each));
        program.stages.push_back({0x8B31, hash});
    }
    const std::string encoded = recipe::encode(program);
    const recipe::Key hash = recipe::hash_of(as_bytes(encoded));
    put(cache, recipe::key_of_program(hash), encoded);
    return hash;
}

inline void put_state(cairn_cache *cache, const recipe::Key &program, std::uint32_t mode) {
    recipe::DrawState state;
    state.mode = mode;
    const std::string drawn = recipe::encode(state);
    put(cache, recipe::key_of_state(program, as_bytes(drawn)), drawn);
}

}  // namespace cairn::cli_test
