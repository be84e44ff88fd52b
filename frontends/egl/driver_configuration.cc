// SPDX-License-Identifier: MIT
#include "driver_configuration.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/process_start.h"
#include "key.h"
#include "settings.h"

namespace cairn::egl {
namespace {

constexpr const char *kFolder = "/usr/share/drirc.d";
constexpr const char *kSystemFile = "/etc/drirc";
// Debian's file has 60 KB.
constexpr size_t kFileSizeMax = 4 * 1024 * 1024;

// Whether the file is there; `text` receives its contents.
bool read(const std::string &path, std::string &text) {
    FILE *file = fopen(path.c_str(), "re");
    if (file == nullptr) {
        return false;
    }
    text.clear();
    std::array<char, 16384> part;
    for (size_t size = 1; size > 0 && text.size() < kFileSizeMax;) {
        size = fread(part.data(), 1, part.size(), file);
        text.append(part.data(), size);
    }
    fclose(file);
    return true;
}

std::string hash_of(const std::string &text) {
    KeyBuilder builder("gl-driver-configuration/1");
    builder.add(Tag::arguments, text);
    const Key hash = builder.finish();
    std::string digits;
    for (size_t i = 0; i < 16; ++i) {
        constexpr const char *kDigits = "0123456789abcdef";
        digits.push_back(kDigits[hash[i] >> 4]);
        digits.push_back(kDigits[hash[i] & 15]);
    }
    return digits;
}

bool matches(const std::string &expression, const std::string &name) {
    regex_t compiled;
    if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
        return false;
    }
    const bool found = regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
    regfree(&compiled);
    return found;
}

bool is_of_a_word(char c) {
    return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether the text has the word anywhere, however it is quoted there.
bool has_word(const std::string &text, const std::string &word) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || !is_of_a_word(text[at - 1])) &&
            (end >= text.size() || !is_of_a_word(text[end]))) {
            return true;
        }
    }
    return false;
}

// Whether the attribute whose name goes on at `at` can apply to an executable of this name that the
// text does not have as a word. An attribute that is not written as in Mesa's own files can.
bool attribute_mentions(const std::string &text, size_t at, const std::string &name) {
    constexpr std::string_view kExpression = "_regexp";
    const bool is_expression = text.compare(at, kExpression.size(), kExpression) == 0;
    at += is_expression ? kExpression.size() : 0;
    const size_t sign = text.find_first_not_of(" \t\r\n", at);
    if (sign == std::string::npos || text[sign] != '=') {
        return false;  // of a comment, or a declaration
    }
    if (text.compare(at, 2, "=\"") != 0) {
        return true;
    }
    const size_t begin = at + 2;
    const std::string value = text.substr(begin, text.find('"', begin) - begin);
    return value.find('&') != std::string::npos || (is_expression && matches(value, name));
}

// The executable's file, since some workarounds are for one version of it only.
std::string application_line(const std::string &name) {
    struct stat status = {};
    stat("/proc/self/exe", &status);
    return "application: " + name + " of " + std::to_string(status.st_size) + " bytes and " +
           std::to_string(status.st_mtim.tv_sec) + " seconds\n";
}

}  // namespace

std::vector<std::string> driver_configuration_files() {
    std::vector<std::string> files;
    const std::string folder =
        settings().drirc_folder.empty() ? std::string(kFolder) : settings().drirc_folder;
    if (DIR *directory = opendir(folder.c_str())) {
        while (const dirent *entry = readdir(directory)) {
            if (std::string_view(entry->d_name).ends_with(".conf")) {
                files.push_back(folder + "/" + entry->d_name);
            }
        }
        closedir(directory);
    }
    std::sort(files.begin(), files.end());
    files.emplace_back(kSystemFile);
    if (!settings().home.empty()) {
        files.push_back(settings().home + "/.drirc");
    }
    return files;
}

bool mentions_executable(const std::string &text, const std::string &name) {
    if (has_word(text, name)) {
        return true;
    }
    constexpr std::string_view kAttribute = "executable";
    for (size_t at = text.find(kAttribute); at != std::string::npos;
         at = text.find(kAttribute, at + 1)) {
        if (attribute_mentions(text, at + kAttribute.size(), name)) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> names_for_mesa(const std::string &invocation, const std::string &file) {
    const bool is_file = !file.empty() && invocation.starts_with(file);
    std::vector<std::string> names;
    for (const std::string &path : {is_file ? file : invocation, file}) {
        for (const char separator : {'/', '\\'}) {
            std::string name = path.substr(path.rfind(separator) + 1);
            if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

std::string configuration_lines(const std::vector<std::string> &files,
                                const std::vector<std::string> &names) {
    std::string lines;
    std::string mentioned;
    for (const std::string &path : files) {
        std::string text;
        if (!read(path, text)) {
            continue;
        }
        lines.append("configuration: ").append(path.substr(path.rfind('/') + 1));
        lines.append(" ").append(hash_of(text)).append("\n");
        for (const std::string &name : names) {
            if (mentioned.empty() && mentions_executable(text, name)) {
                mentioned = name;
            }
        }
    }
    return mentioned.empty() ? lines : lines + application_line(mentioned);
}

const std::string &driver_configuration() {
    static const auto *the_lines = new std::string(configuration_lines(
        driver_configuration_files(), names_for_mesa(program_invocation_name, process_file())));
    return *the_lines;
}

}  // namespace cairn::egl
