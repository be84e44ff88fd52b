// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <algorithm>
#include <utility>

#include "common/glvnd.h"
#include "common/words.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/text_file.h"

namespace cairn::egl {
namespace {

// A manifest has a hundred bytes; a file far beyond that is none.
constexpr size_t kManifestSizeMax = 64 * 1024;

size_t skip_spaces(std::string_view text, size_t at) {
    const size_t next = text.find_first_not_of(" \t\r\n", at);
    return next == std::string_view::npos ? text.size() : next;
}

// The string literal that begins at `at` (a quote). Knows only the escapes that a path can need.
std::string string_at(std::string_view text, size_t at) {
    std::string value;
    for (size_t i = at + 1; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && ++i < text.size() && text[i] != '\\' && text[i] != '/' &&
            text[i] != '"') {
            return {};
        }
        if (i < text.size()) {
            value.push_back(text[i]);
        }
    }
    return value;
}

std::vector<std::string> manifests_in_all(const std::string &folders) {
    std::vector<std::string> all;
    for (const std::string &folder : split(folders, ':')) {
        const std::vector<std::string> here = paths_in(folder, ".json");
        all.insert(all.end(), here.begin(), here.end());
    }
    return all;
}

std::vector<std::string> manifests(const VendorLists &lists) {
    if (lists.files) return split(*lists.files, ':');
    return manifests_in_all(lists.folders.value_or(kGlvndFolders));
}

std::string library_of(const std::string &manifest) {
    const auto text = read_text_file(manifest, kManifestSizeMax);
    std::string library = library_path_in(text.ok() ? text.value() : "");
    if (library.find('/') != std::string::npos && library.front() != '/') {
        library = manifest.substr(0, manifest.rfind('/') + 1) + library;
    }
    return library;
}

// Each once.
std::vector<std::string> libraries_of(const std::vector<std::string> &manifests) {
    std::vector<std::string> found;
    for (const std::string &manifest : manifests) {
        std::string library = library_of(manifest);
        if (!library.empty() && std::ranges::find(found, library) == found.end()) {
            found.push_back(std::move(library));
        }
    }
    return found;
}

// Removes the library of this name, wherever it lies. Whether it was there.
bool take_out(std::vector<std::string> &libraries, std::string_view name) {
    return std::erase_if(libraries, [name](const std::string &library) {
               return library.substr(library.rfind('/') + 1) == name;
           }) != 0;
}

}  // namespace

std::string library_path_in(std::string_view json) {
    constexpr std::string_view kKey = "\"library_path\"";
    const size_t key = json.find(kKey);
    if (key == std::string_view::npos) return {};
    const size_t colon = skip_spaces(json, key + kKey.size());
    if (colon >= json.size() || json[colon] != ':') return {};
    const size_t quote = skip_spaces(json, colon + 1);
    return quote < json.size() && json[quote] == '"' ? string_at(json, quote) : std::string();
}

VendorLists vendor_lists() {
    VendorLists lists = {environment_variable("CAIRN_EGL_VENDORS"),
                         environment_variable("__EGL_VENDOR_LIBRARY_FILENAMES"),
                         environment_variable("__EGL_VENDOR_LIBRARY_DIRS")};
    if (lists.own && lists.own->empty()) lists.own.reset();
    return lists;
}

VendorLibraries vendor_libraries(const VendorLists &lists) {
    VendorLibraries found = {libraries_of(lists.own ? split(*lists.own, ':') : manifests(lists)),
                             !lists.own};
    const bool has_front_end = take_out(found.real, CAIRN_EGL_FRONT_END);
    const bool has_last = take_out(found.real, CAIRN_EGL_LAST);
    // With the last vendor in the list, the list has all real vendors, even if these are none.
    if (found.are_in_glvnd && found.real.empty() && has_front_end && !has_last) {
        found = {libraries_of(manifests_in_all(kGlvndFolders)), false};
        take_out(found.real, CAIRN_EGL_FRONT_END);
        take_out(found.real, CAIRN_EGL_LAST);
    }
    return found;
}

}  // namespace cairn::egl
