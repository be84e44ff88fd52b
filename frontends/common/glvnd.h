// Where GLVND, the system's dispatch library, looks for EGL drivers.
// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace cairn
