// Where GLVND, the system's dispatch library, looks for EGL drivers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// The folders of manifests that GLVND is built with: on NixOS, on most systems, and in Flatpak's
// runtimes. A list as GLVND takes it, on whatever system the process is that reads it; folders that
// are not there are passed over.
inline constexpr const char *kGlvndFolders =
    "/run/opengl-driver/share/glvnd/egl_vendor.d:"
    "/etc/glvnd/egl_vendor.d:"
    "/usr/lib/x86_64-linux-gnu/GL/glvnd/egl_vendor.d:"
    "/usr/lib/aarch64-linux-gnu/GL/glvnd/egl_vendor.d:"
    "/usr/lib/i386-linux-gnu/GL/glvnd/egl_vendor.d:"
    "/usr/lib64/GL/glvnd/egl_vendor.d:"
    "/usr/share/glvnd/egl_vendor.d";

// The names in such a list, but for empty ones.
inline std::vector<std::string> split_glvnd_list(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const size_t end = std::min(list.find(':'), list.size());
        if (end > 0) names.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return names;
}

}  // namespace cairn
