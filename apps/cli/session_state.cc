// SPDX-License-Identifier: MIT
#include "session_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "common/glvnd.h"
#include "common/words.h"
#include "manifest.h"
#include "os/environment.h"
#include "os/text_file.h"
#include "output.h"
#include "session.h"
#include "text.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFilenamesEnv = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirsEnv = "__EGL_VENDOR_LIBRARY_DIRS";
constexpr std::string_view kEglLibrary = "libEGL_cairn.so";  // not libEGL_cairn_last.so

bool is_readable(const std::string &path) {
    return ::access(path.c_str(), R_OK) == 0;
}

// The library that a manifest names, if it is ours.
std::string our_library(const std::string &manifest) {
    std::string library = library_of(manifest);
    return fs::path(library).filename().string().starts_with(kEglLibrary) ? library : "";
}

// As GLVND looks: the files of one list, else those in the folders of the other.
Words manifests_in(const std::optional<std::string> &files, const std::string &folders) {
    if (files) return split(*files, ':');
    Words manifests;
    for (const std::string &folder : split(folders, ':')) {
        for (const std::string &path : paths_in(folder, ".json")) manifests.push_back(path);
    }
    return manifests;
}

// Whether one of them is ours, and its library is there.
bool serves_egl(const Words &manifests) {
    return std::ranges::any_of(manifests, [](const std::string &manifest) {
        const std::string library = our_library(manifest);
        return library.starts_with('/') ? is_readable(library) : !library.empty();
    });
}

// What stands in a line between this beginning and a `'` or the line's end; nullopt: the line does
// not have the beginning.
std::optional<std::string> text_behind(const std::string &line, const std::string &beginning) {
    const size_t at = line.find(beginning);
    if (at == std::string::npos) return std::nullopt;
    std::string text = line.substr(at + beginning.size());
    if (text.starts_with('\'')) text.erase(0, 1);
    return text.substr(0, text.find('\''));
}

// Of the lines that `cairn enable` writes: `NAME=value`, and for the shell
// `if [ -r 'FILE' ]; then NAME='value'; export NAME; fi`.
Source source_of(const std::string &file, const std::string &text) {
    Source source;
    source.file = file;
    for (const std::string &line : split(text, '\n')) {
        const auto needed = text_behind(line, "[ -r ");
        const bool is_set = !needed || is_readable(*needed);
        const auto files = text_behind(line, std::string(kFilenamesEnv) + "=");
        const auto folders = text_behind(line, std::string(kDirsEnv) + "=");
        if (files || folders) {
            source.has_egl = is_set && serves_egl(manifests_in(files, folders.value_or("")));
            if (!source.has_egl) source.problem = "it names files for EGL that are gone";
        }
        if (text_behind(line, std::string(kGlxVendorEnv) + "=")) {
            source.has_glx = is_set && !find_glx_library().empty();
            if (source.has_glx) continue;
            source.problem += source.problem.empty() ? "" : ", and ";
            source.problem += fmt::format("the loader does not find {}", kGlxLibrary);
        }
    }
    return source;
}

Source not_known(const std::string &file, const Failure &failure) {
    return {file, false, false, std::string("not known: ") + failure.what(), false};
}

// Of the files that `cairn enable` writes.
void add_own_sources(std::vector<Source> &sources) {
    SessionFiles files;
    try {
        files = session_files();
    } catch (const Failure &failure) {
        sources.push_back(not_known("~", failure));
        return;
    }
    for (const std::string &file : {files.environment, files.shell}) {
        try {
            std::string text = read_user_file(file).value_or("");
            if (file == files.shell) text = block_in(text);
            const bool is_ours = file == files.shell || is_environment_text(text);
            Source source = is_ours ? source_of(file, text) : Source();
            if (source.is_on() || !source.problem.empty()) sources.push_back(std::move(source));
        } catch (const Failure &failure) {
            sources.push_back(not_known(file, failure));
        }
    }
}

}  // namespace

Interface find_egl() {
    const auto files = environment_variable(kFilenamesEnv);
    const auto folders = environment_variable(kDirsEnv);
    Interface egl;
    for (const std::string &manifest : manifests_in(files, folders.value_or(kGlvndFolders))) {
        egl.library = our_library(manifest);
        if (egl.library.empty()) continue;
        egl.by = files     ? fmt::format("{} names {}", kFilenamesEnv, manifest)
                 : folders ? fmt::format("{} names {}", kDirsEnv,
                                         fs::path(manifest).parent_path().string())
                           : fmt::format("{}, for all users", manifest);
        egl.problem = load_problem(egl.library);
        break;
    }
    return egl;
}

Interface find_glx() {
    Interface glx;
    if (environment_variable(kGlxVendorEnv) != kGlxVendor) return glx;
    glx.by = fmt::format("{}={}", kGlxVendorEnv, kGlxVendor);
    glx.library = kGlxLibrary;
    glx.problem = load_problem(kGlxLibrary);
    return glx;
}

std::vector<Source> find_sources() {
    std::vector<Source> sources;
    add_own_sources(sources);
    for (const std::string &path : manifests_in(std::nullopt, kGlvndFolders)) {
        if (our_library(path).empty()) continue;
        const bool is_there = serves_egl({path});
        sources.push_back(
            {path, is_there, false, is_there ? "" : "it names a library that is gone"});
    }
    return sources;
}

}  // namespace cairn::cli
