// Finds the manifests of the EGL vendor libraries as GLVND would: *.json files that name a library.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions of the file system and the environment. Failure: files that cannot be read or
// understood are left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::egl {

// The value of "library_path" in a manifest's text: the one key that is of interest, found without
// a JSON library, which would bring exceptions or a shared library into the application. Empty when
// there is none.
std::string library_path_in(std::string_view json);

// Where to look; by default as GLVND does by default. Names are separated by colons.
struct VendorLists {
    std::optional<std::string> own;      // manifests for us alone; goes before the others
    std::optional<std::string> files;    // what GLVND is told: manifests; goes before `folders`
    std::optional<std::string> folders;  // what GLVND is told: folders of manifests
};

// As the environment says it: CAIRN_EGL_VENDORS and what GLVND reads, __EGL_VENDOR_LIBRARY_FILENAMES
// and __EGL_VENDOR_LIBRARY_DIRS.
VendorLists vendor_lists();

struct VendorLibraries {
    std::vector<std::string> real;  // what to dlopen, in their order
    bool are_in_glvnd = false;      // GLVND loads them as well, beside us
};

// The libraries that GLVND finds, without Cairn's own; if GLVND was told of this front end alone,
// those of the system's folders. A library path relative to a manifest is made absolute.
VendorLibraries vendor_libraries(const VendorLists &lists);

}  // namespace cairn::egl
