// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/glvnd.h"
#include "common/words.h"
#include "os/environment.h"
#include "os/file.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFilenamesEnv = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirsEnv = "__EGL_VENDOR_LIBRARY_DIRS";

// Below the build tree and below the installed data folder. See frontends/egl/CMakeLists.txt.
constexpr const char *kManifestFromBuiltProgram = "../../frontends/egl/" CAIRN_MANIFEST_NAME;

bool same_file(const std::string &one, const std::string &other) {
    std::error_code error;
    return one == other || fs::equivalent(one, other, error);
}

// `list` between `first` and `last`, which stand in it already within another `cairn run`.
std::string enclosed(const std::string &first, const std::string &list, const std::string &last) {
    std::vector<std::string> parts = split(list, ':');
    std::erase_if(parts, [&](const std::string &part) {
        return same_file(part, first) || same_file(part, last);
    });
    parts.insert(parts.begin(), first);
    parts.push_back(last);
    return fmt::format("{}", fmt::join(parts, ":"));
}

}  // namespace

Manifest check_manifest(const std::string &path) {
    std::ifstream file(path);
    if (!file) return {"", fmt::format("the EGL front end's manifest {} cannot be read", path)};
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
    if (fs::absolute(path).string().find(':') != std::string::npos) {
        return {"", fmt::format("the colon in {} would end its name in a list of folders", path)};
    }
    // GLVND is told of the folder, and would load what else is in it.
    const fs::path folder = fs::absolute(path).parent_path();
    if (!path.ends_with(".json") || paths_in(folder, ".json").size() != 1) {
        return {"", fmt::format("{} is not the only file *.json in its folder, which the system's "
                                "EGL library is told of",
                                path)};
    }
    return {fs::absolute(path).string(), ""};
}

Manifest find_manifest(const std::string &executable) {
    if (const auto named = environment_variable(kManifestEnv); named && !named->empty()) {
        return check_manifest(*named);
    }
    const fs::path folder = fs::path(executable).parent_path();
    for (const char *candidate : {kManifestFromBuiltProgram, CAIRN_MANIFEST_FROM_BIN}) {
        const std::string path = (folder / candidate).lexically_normal().string();
        if (access(path.c_str(), F_OK) == 0) return check_manifest(path);
    }
    return {"", fmt::format("the EGL front end is not installed beside {} (set {} to its manifest)",
                            executable, kManifestEnv)};
}

std::pair<std::string, std::string> front_end_environment(const std::string &manifest) {
    const fs::path folder = fs::path(manifest).parent_path();
    const fs::path last = folder / kLastManifest;
    // As GLVND does, a list of files goes before a list of folders. A variable that is set and
    // empty is a list of nothing.
    if (const auto files = environment_variable(kFilenamesEnv)) {
        return {kFilenamesEnv, enclosed(manifest, *files, last)};
    }
    return {kDirsEnv, enclosed(folder, environment_variable(kDirsEnv).value_or(kGlvndFolders),
                               last.parent_path())};
}

}  // namespace cairn::cli
