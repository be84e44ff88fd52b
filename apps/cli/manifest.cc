// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/glvnd.h"
#include "common/words.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/text_file.h"
#include "text.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFilenamesEnv = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirsEnv = "__EGL_VENDOR_LIBRARY_DIRS";
constexpr const char *kLibraryPathEnv = "LD_LIBRARY_PATH";

// Below the build tree and below the installed data folder. See frontends/egl/CMakeLists.txt.
constexpr const char *kManifestFromBuiltProgram = "../../frontends/egl/" CAIRN_MANIFEST_NAME;

// Below the folder of the front end's manifest: that of the front end for 32-bit programs, where one
// is installed. It has a last one of its own. A process passes over libraries of the other kind.
constexpr const char *kManifest32 = "i386/" CAIRN_MANIFEST_NAME;

constexpr std::size_t kManifestMax = 64 << 10;

bool same_file(const std::string &one, const std::string &other) {
    std::error_code error;
    return one == other || fs::equivalent(one, other, error);
}

// Whether a manifest, or a folder with manifests, is of some Cairn and of nothing else.
bool is_of_cairn(const std::string &part) {
    std::error_code error;
    const std::vector<std::string> manifests =
        fs::is_directory(part, error) ? paths_in(part, ".json") : std::vector<std::string>{part};
    return !manifests.empty() && std::ranges::all_of(manifests, [](const std::string &manifest) {
        return fs::path(library_of(manifest)).filename().string().starts_with("libEGL_cairn");
    });
}

// The manifest, and that for 32-bit programs where one is installed.
std::vector<fs::path> with_32_bit(const fs::path &manifest) {
    std::vector<fs::path> manifests = {manifest};
    const fs::path other = manifest.parent_path() / kManifest32;
    if (check_manifest(other).problem.empty()) manifests.push_back(other);
    return manifests;
}

// `list` between `first` and `last`. These stand in it already within another `cairn run`, and so
// may those of a Cairn that lies elsewhere, as after `cairn enable` before a move.
std::string enclosed(const Words &first, const std::string &list, const Words &last) {
    Words parts = split(list, ':');
    std::erase_if(parts, [&](const std::string &part) {
        const auto is_part = [&](const std::string &own) { return same_file(part, own); };
        return std::ranges::any_of(first, is_part) || std::ranges::any_of(last, is_part) ||
               is_of_cairn(part);
    });
    parts.insert(parts.begin(), first.begin(), first.end());
    parts.insert(parts.end(), last.begin(), last.end());
    return fmt::format("{}", fmt::join(parts, ":"));
}

// Whether the loader looks there without being told.
bool is_searched(const fs::path &folder) {
    return std::ranges::find(kLoaderFolders, folder.string()) != kLoaderFolders.end();
}

}  // namespace

std::string library_of(const std::string &manifest) {
    // A fifo of such a name would have us wait.
    const auto text = read_text_file(manifest, kManifestMax);
    const auto json = nlohmann::json::parse(text.ok() ? text.value() : std::string(), nullptr,
                                            /*allow_exceptions=*/false);
    const auto name = nlohmann::json::json_pointer("/ICD/library_path");
    if (json.is_discarded() || !json.contains(name) || !json.at(name).is_string()) return "";
    const auto library = json.at(name).get<std::string>();
    const bool is_relative = !library.starts_with('/') && library.find('/') != std::string::npos;
    return is_relative ? (fs::absolute(manifest).parent_path() / library).string() : library;
}

Manifest check_manifest(const std::string &path) {
    if (access(path.c_str(), R_OK) != 0)
        return {"", fmt::format("the EGL front end's manifest {} cannot be read", path)};
    const std::string library = library_of(path);
    if (library.empty()) return {"", fmt::format("{} is not a manifest of an EGL library", path)};
    // A bare name is looked for by the dynamic linker, whose search is not repeated here.
    if (library.find('/') != std::string::npos) {
        if (access(library.c_str(), R_OK) != 0) {
            return {"", fmt::format("the EGL front end {} cannot be read", library)};
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
    Words first, last, first_folders, last_folders;
    for (const fs::path &each : with_32_bit(manifest)) {
        const fs::path last_of_each = each.parent_path() / kLastManifest;
        first.push_back(each);
        last.push_back(last_of_each);
        first_folders.push_back(each.parent_path());
        last_folders.push_back(last_of_each.parent_path());
    }
    // As GLVND does, a list of files goes before a list of folders. A variable that is set and
    // empty is a list of nothing.
    if (const auto files = environment_variable(kFilenamesEnv)) {
        return {kFilenamesEnv, enclosed(first, *files, last)};
    }
    const std::string folders = environment_variable(kDirsEnv).value_or(kGlvndFolders);
    return {kDirsEnv, enclosed(first_folders, folders, last_folders)};
}

std::string glx_library_of(const std::string &manifest) {
    const std::string egl_library = library_of(manifest);
    if (!egl_library.empty() && egl_library.find('/') == std::string::npos) {
        // Both lie where the loader looks by itself.
        for (const char *folder : kLoaderFolders) {
            const std::string library = fmt::format("{}/{}", folder, kGlxLibrary);
            if (access(library.c_str(), R_OK) == 0) return library;
        }
        return {};
    }
    const fs::path folder = fs::path(egl_library).parent_path();
    // Where the loader looks; in a folder of its own, so that nothing else is found there; and in the
    // build tree.
    for (const char *place : {".", "cairn", "../glx"}) {
        const fs::path library = (folder / place / kGlxLibrary).lexically_normal();
        const bool is_named = place != std::string_view(".") || is_searched(folder);
        if (folder.is_absolute() && is_named && access(library.c_str(), R_OK) == 0 &&
            library.string().find_first_of(":;$") == std::string::npos) {
            return library;
        }
    }
    return {};
}

std::vector<std::pair<std::string, std::string>> glx_environment(const std::string &manifest) {
    std::vector<std::pair<std::string, std::string>> variables = {{kGlxVendorEnv, kGlxVendor}};
    const std::string before = environment_variable(kGlxVendorEnv).value_or("");
    if (!before.empty() && before != kGlxVendor) {
        variables.emplace_back(kGlxRealVendorEnv, before);
    }
    Words folders;
    for (const fs::path &each : with_32_bit(manifest)) {
        const fs::path folder = fs::path(glx_library_of(each)).parent_path();
        if (!folder.empty() && !is_searched(folder)) folders.push_back(folder);
    }
    if (!folders.empty()) {
        const std::string own = fmt::format("{}", fmt::join(folders, ":"));
        const std::string paths = environment_variable(kLibraryPathEnv).value_or("");
        const bool is_first = paths == own || paths.starts_with(own + ":");
        const std::string rest = paths.empty() ? "" : ":" + paths;
        variables.emplace_back(kLibraryPathEnv, is_first ? paths : own + rest);
    }
    return variables;
}

}  // namespace cairn::cli
