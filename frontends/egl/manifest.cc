// SPDX-License-Identifier: MIT
#include "manifest.h"

#include <dirent.h>
#include <stdio.h>

#include <algorithm>
#include <array>

namespace cairn::egl {
namespace {

// The folders and their order are those that GLVND is built with.
constexpr std::array<const char *, 2> kFolders = {"/etc/glvnd/egl_vendor.d",
                                                  "/usr/share/glvnd/egl_vendor.d"};
// A manifest has a hundred bytes; a file far beyond that is none.
constexpr size_t kManifestSizeMax = 64 * 1024;

std::string contents(const std::string &path) {
    std::string text(kManifestSizeMax, '\0');
    FILE *file = fopen(path.c_str(), "re");
    if (file == nullptr) {
        return {};
    }
    text.resize(fread(text.data(), 1, text.size(), file));
    fclose(file);
    return text;
}

size_t skip_spaces(std::string_view text, size_t at) {
    const size_t next = text.find_first_not_of(" \t\r\n", at);
    return next == std::string_view::npos ? text.size() : next;
}

// The string literal that begins at `at` (a quote). Of the escapes only those that a path can need
// are known.
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

std::vector<std::string> manifests_in(const std::string &folder) {
    std::vector<std::string> names;
    DIR *directory = opendir(folder.c_str());
    if (directory == nullptr) {
        return names;
    }
    while (const dirent *entry = readdir(directory)) {
        const std::string_view name = entry->d_name;
        if (name.ends_with(".json")) {
            names.push_back(folder + "/" + std::string(name));
        }
    }
    closedir(directory);
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> split(const std::string &list) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < list.size();) {
        const size_t end = std::min(list.find(':', begin), list.size());
        if (end > begin) {
            parts.push_back(list.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return parts;
}

std::vector<std::string> manifests(const std::string &list) {
    if (!list.empty()) {
        return split(list);
    }
    std::vector<std::string> all;
    for (const char *folder : kFolders) {
        const std::vector<std::string> here = manifests_in(folder);
        all.insert(all.end(), here.begin(), here.end());
    }
    return all;
}

}  // namespace

std::string library_path_in(std::string_view json) {
    constexpr std::string_view kKey = "\"library_path\"";
    const size_t key = json.find(kKey);
    if (key == std::string_view::npos) {
        return {};
    }
    const size_t colon = skip_spaces(json, key + kKey.size());
    if (colon >= json.size() || json[colon] != ':') {
        return {};
    }
    const size_t quote = skip_spaces(json, colon + 1);
    return quote < json.size() && json[quote] == '"' ? string_at(json, quote) : std::string();
}

std::vector<std::string> vendor_libraries(const std::string &list) {
    std::vector<std::string> libraries;
    for (const std::string &manifest : manifests(list)) {
        std::string library = library_path_in(contents(manifest));
        if (library.find('/') != std::string::npos && library.front() != '/') {
            library = manifest.substr(0, manifest.rfind('/') + 1) + library;
        }
        const bool known =
            std::find(libraries.begin(), libraries.end(), library) != libraries.end();
        if (!library.empty() && !known) {
            libraries.push_back(library);
        }
    }
    return libraries;
}

}  // namespace cairn::egl
