// The libraries that the dynamic linker has loaded into this process, and the program itself.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread; the dynamic linker's list is copied while it is locked.
// Failure: throws where there is no memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn {

struct LoadedObject {
    std::string path;                 // empty: the program itself
    std::string name;                 // the last part of the path
    std::string build_id;             // in hexadecimal; empty when it has none
    std::vector<std::string> needed;  // names of the libraries that it was linked with
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>>
        parts;  // each begins there and ends there

    bool has(std::uintptr_t address) const;
};

std::vector<LoadedObject> loaded_objects();

}  // namespace cairn
