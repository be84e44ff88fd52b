// SPDX-License-Identifier: MIT
#include "driver_caches.h"

#include <filesystem>
#include <system_error>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// No cache has such a name.
constexpr const char *kFolder = ".no-driver-cache";

// The folder, or nothing where it cannot be made.
std::string folder_without_cache(const std::string &root) {
    const fs::path folder = fs::path(root) / kFolder;
    const fs::path index = folder / "mesa_shader_cache" / "index";
    std::error_code error;
    fs::create_directories(index, error);
    return fs::symlink_status(index, error).type() == fs::file_type::directory ? folder.string()
                                                                               : std::string();
}

}  // namespace

Variables without_driver_caches(const std::string &root, bool keeps_binaries) {
    Variables variables = {{"__GL_SHADER_DISK_CACHE", "0"}};
    const std::string folder = keeps_binaries ? folder_without_cache(root) : std::string();
    if (folder.empty()) {
        variables.emplace_back("MESA_SHADER_CACHE_DISABLE", "true");
    } else {
        variables.emplace_back("MESA_SHADER_CACHE_DIR", folder);
        // What the directory is made for; newer versions of Mesa have a database by default.
        variables.emplace_back("MESA_DISK_CACHE_MULTI_FILE", "true");
        variables.emplace_back("MESA_DISK_CACHE_SINGLE_FILE", "false");
        variables.emplace_back("MESA_DISK_CACHE_DATABASE", "false");
    }
    return variables;
}

}  // namespace cairn::cli
