// Plans of what this machine has: its caches, and the machine code that drivers keep for applications.
// SPDX-License-Identifier: MIT
//
// Thread safety: used by main only.
// Failure: a Failure where a cache cannot be read. What goes, or changes its size, before it is read by
// the plan is left out then.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/layers.h"
#include "pack/plan.h"

namespace cairn::cli {

// What is wanted of a cache.
struct CacheChoice {
    std::optional<unsigned>
        starts;            // only what so many recorded starts used last; never of recipes
    bool programs = true;  // all that is no recipe
    bool recipes = false;  // of this version: others may name paths of this machine
};

// The part says what the cache is in any case. It has no entries where it is not wanted. It keeps the
// cache open, which is only read.
PlannedPart plan_cache(const std::string &root, const std::string &identifier,
                       const CacheChoice &choice = {});

// The drivers whose files there are: of those that the parts' caches are of, the one that has used an
// application's directory last.
std::vector<LayeredSubject> drivers_of(const std::string &root,
                                       const std::vector<PlannedPart> &parts);

// The driver's files, within the limits that directories of them have.
PlannedPart plan_driver_part(const std::string &root, const LayeredSubject &driver);

}  // namespace cairn::cli
