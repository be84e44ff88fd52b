// What a part of recipes has, and which drivers it was recorded with: for `cairn pack inspect`.
// SPDX-License-Identifier: MIT
//
// Thread safety: used by main only.
// Failure: entries that cannot be read are not counted.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pack/files.h"

namespace cairn::cli {

struct RecipeCounts {
    struct Driver {
        std::string name;
        std::uint64_t programs = 0;  // that it has linked where it recorded
    };

    std::uint64_t programs = 0, states = 0, sources = 0;
    std::vector<Driver> drivers;  // the one with most programs first
    // Programs that were recorded with each of the drivers, and with one only.
    std::uint64_t by_all = 0, by_one = 0;
};

// REQUIRES: the part is of recipes.
RecipeCounts count_recipes(const OpenPart &part);

nlohmann::ordered_json json_of(const RecipeCounts &counts);
// Lines for people.
Words lines_of(const RecipeCounts &counts);

}  // namespace cairn::cli
