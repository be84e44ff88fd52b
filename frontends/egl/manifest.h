// Finds the manifests of the EGL vendor libraries as GLVND would: *.json files that name a library.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions of the file system. Failure: what cannot be read or understood is
// left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::egl {

// The value of "library_path" in a manifest's text: the one key that is of interest, found without
// a JSON library, which would bring exceptions or a shared library into the application. Empty when
// there is none.
std::string library_path_in(std::string_view json);

// What to dlopen for the manifests in `list` (separated by colons), or where that is empty for all
// manifests of the system's folders in GLVND's order. A library path relative to a manifest is made
// absolute.
std::vector<std::string> vendor_libraries(const std::string &list);

}  // namespace cairn::egl
