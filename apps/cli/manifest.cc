// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFilenamesEnv = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirsEnv = "__EGL_VENDOR_LIBRARY_DIRS";

// Below the build tree and below the installed data folder. See frontends/egl/CMakeLists.txt.
constexpr const char *kManifestFromBuiltProgram = "../../frontends/egl/" CAIRN_MANIFEST_NAME;

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const size_t end = std::min(list.find(':'), list.size());
        if (end > 0) {
            parts.emplace_back(list.substr(0, end));
        }
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return parts;
}

std::string join(const std::vector<std::string> &parts) {
    return fmt::format("{}", fmt::join(parts, ":"));
}

std::string environment(const char *name) {
    const char *value = getenv(name);
    return value == nullptr ? "" : value;
}

// GLVND reads the manifests of a folder in the order of their names.
std::vector<std::string> manifests_of(const std::vector<std::string> &folders) {
    std::vector<std::string> manifests;
    for (const std::string &folder : folders) {
        std::vector<std::string> here;
        std::error_code error;
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            if (entry->path().extension() == ".json") {
                here.push_back(entry->path().string());
            }
        }
        std::sort(here.begin(), here.end());
        manifests.insert(manifests.end(), here.begin(), here.end());
    }
    return manifests;
}

bool same_file(const std::string &one, const std::string &other) {
    std::error_code error;
    return one == other || fs::equivalent(one, other, error);
}

}  // namespace

std::string executable_path() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    return error ? "" : path.string();
}

Manifest check_manifest(const std::string &path) {
    std::ifstream file(path);
    if (!file) {
        return {"", fmt::format("the EGL front end's manifest {} cannot be read", path)};
    }
    const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    const auto name = nlohmann::json::json_pointer("/ICD/library_path");
    if (json.is_discarded() || !json.contains(name) || !json.at(name).is_string()) {
        return {"", fmt::format("{} is not a manifest of an EGL library", path)};
    }
    const auto library = json.at(name).get<std::string>();
    // A bare name is looked for by the dynamic linker, whose search is not repeated here.
    if (library.find('/') != std::string::npos) {
        const fs::path absolute = fs::absolute(path).parent_path() / library;
        if (access(absolute.c_str(), R_OK) != 0) {
            return {"", fmt::format("the EGL front end {} cannot be read", absolute.string())};
        }
    }
    return {fs::absolute(path).string(), ""};
}

Manifest find_manifest(const std::string &executable) {
    if (const std::string named = environment(kManifestEnv); !named.empty()) {
        return check_manifest(named);
    }
    const fs::path folder = fs::path(executable).parent_path();
    for (const char *candidate : {kManifestFromBuiltProgram, CAIRN_MANIFEST_FROM_BIN}) {
        const std::string path = (folder / candidate).lexically_normal().string();
        if (access(path.c_str(), F_OK) == 0) {
            return check_manifest(path);
        }
    }
    return {"", fmt::format("the EGL front end is not installed beside {} (set {} to its manifest)",
                            executable, kManifestEnv)};
}

std::vector<std::pair<std::string, std::string>> front_end_environment(
    const std::string &manifest) {
    std::vector<std::pair<std::string, std::string>> variables = {{kFilenamesEnv, manifest}};
    // As GLVND does, a list of files goes before a list of folders.
    std::vector<std::string> vendors = split(environment(kFilenamesEnv));
    if (vendors.empty()) {
        vendors = manifests_of(split(environment(kDirsEnv)));
    }
    // Under another `cairn run` what was in force before is what that one wrote down.
    std::erase_if(vendors, [&](const std::string &path) { return same_file(path, manifest); });
    if (!vendors.empty()) {
        variables.emplace_back(kVendorsEnv, join(vendors));
    }
    return variables;
}

}  // namespace cairn::cli
