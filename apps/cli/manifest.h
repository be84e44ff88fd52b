// SPDX-License-Identifier: MIT
// Puts our EGL front end in front of an application: which manifest names it, and the environment
// that makes the dispatch library of the system (GLVND) load it.
// Thread safety: pure functions of the environment and the file system.
// Failure: a missing front end is an outcome with a reason, never an error: the application then
// runs uncached.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::cli {

// Replaces the search for the manifest; for people who build or move the front end themselves.
inline constexpr const char *kManifestEnv = "CAIRN_EGL_MANIFEST";

// Below the folder of the front end's manifest: the manifest of the library that GLVND loads after
// all others.
inline constexpr const char *kLastManifest = "last/cairn_egl_last.json";

// The GLX front end: its library, which GLVND finds by the dynamic loader only; the variable in which
// GLVND is told its name; and the variable for the vendor that the user had named there.
inline constexpr const char *kGlxLibrary = "libGLX_cairn.so.0";
inline constexpr const char *kGlxVendorEnv = "__GLX_VENDOR_LIBRARY_NAME";
inline constexpr const char *kGlxVendor = "cairn";  // of which GLVND makes the library's name
inline constexpr const char *kGlxRealVendorEnv = "CAIRN_GLX_VENDOR";

// The folders in which the dynamic loader of some system looks without being told.
inline constexpr std::array kLoaderFolders = {"/lib",
                                              "/usr/lib",
                                              "/lib64",
                                              "/usr/lib64",
                                              "/usr/lib/x86_64-linux-gnu",
                                              "/usr/lib/i386-linux-gnu",
                                              "/usr/lib/aarch64-linux-gnu"};

struct Manifest {
    std::string path;     // empty when there is none to use
    std::string problem;  // why not, when `path` is empty: one line without a line end
};

// The manifest to use: $CAIRN_EGL_MANIFEST; else that of the build tree `executable` lies in; else
// that installed with it.
Manifest find_manifest(const std::string &executable);

// The manifest `path` if it is alone in its folder and it, and the library that it names by a path,
// can be read; else the reason.
Manifest check_manifest(const std::string &path);

// The library that a manifest names: a path from the manifest's folder, or a bare name; empty where
// it names none.
std::string library_of(const std::string &manifest);

// A variable's name and value. In the application's environment it makes GLVND load `manifest`, or
// that for 32-bit programs, before all others, and the last one after them. GLVND passes over them in
// a process that cannot see or load our files.
std::pair<std::string, std::string> front_end_environment(const std::string &manifest);

// The front end's library for GLX that belongs to the manifest: absolute, or empty where there is
// none to use.
std::string glx_library_of(const std::string &manifest);

// Variables that make GLVND load the manifest's library for GLX, or that for 32-bit programs: its
// name, the vendor that the user had set, and where the loader finds it, which GLVND cannot be told.
std::vector<std::pair<std::string, std::string>> glx_environment(const std::string &manifest);

}  // namespace cairn::cli
