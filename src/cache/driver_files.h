// The files that Mesa's and NVIDIA's drivers keep compiled programs in: where they are, and
// deleting them.
// SPDX-License-Identifier: MIT
//
// These directories are the drivers', and may hold anything besides. A file is deleted only where
// its own name and the names of all directories down from the cache's are such as the driver gives,
// and it is a regular file of this user. No link is followed on that way; directories that are
// empty then go, but for the cache's own. A driver that is running makes anew what it needs.
//
// Sources: docs.mesa3d.org/envvars.html, "Core Mesa environment variables"; the README of NVIDIA's
// driver, chapter "Specifying OpenGL Environment Variable Settings".
//
// Thread safety: functions without state.
// Failure: what cannot be deleted stays; the first error is returned, and each has a log line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"

namespace cairn {

// How a driver names what it keeps.
enum class DriverLayout {
    mesa_files,     // mesa_shader_cache: a file for each entry
    mesa_single,    // mesa_shader_cache_sf: a file for all, by driver and GPU
    mesa_database,  // mesa_shader_cache_db: two files for all, in parts
    nvidia,         // GLCache
};

struct DriverFolder {
    DriverLayout layout;
    std::string path;
};

// Where they are, whether there is anything or not. Reads the environment.
std::vector<DriverFolder> driver_folders();

// Whether a driver of this layout may call an entry so, by the path below its directory.
bool is_entry_of_driver(DriverLayout layout, std::string_view path);

// Deletes the entries. A missing one is no failure.
Status clear_driver_folder(const DriverFolder &folder, const Log &log);

}  // namespace cairn
