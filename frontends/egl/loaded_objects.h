// The shared libraries that are loaded in this process: what each needs, and its build-id.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread; the dynamic linker's list is copied while it is locked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::egl {

struct LoadedObject {
    std::string path;
    std::string name;                 // the last part of the path
    std::string build_id;             // in hexadecimal; empty when it has none
    std::vector<std::string> needed;  // names of the libraries that it was linked with
    uintptr_t begin = 0;              // the addresses that it occupies
    uintptr_t end = 0;
};

std::vector<LoadedObject> loaded_objects();

}  // namespace cairn::egl
