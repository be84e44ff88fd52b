// SPDX-License-Identifier: MIT
#include "common/application.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace cairn {
namespace {

constexpr size_t kApplicationSizeMax = 64;

bool may_be_in_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

}  // namespace

std::vector<std::string> application_names(const std::string &invocation, const std::string &file) {
    std::vector<std::string> names;
    for (const std::string &path : {invocation, file}) {
        for (const char separator : {'/', '\\'}) {
            std::string name = path.substr(path.rfind(separator) + 1);
            if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

std::string cache_application(const std::string &invocation, const std::string &file) {
    for (const std::string &path : {invocation, file}) {
        std::string name = path.substr(path.find_last_of("/\\") + 1);
        if (name.empty()) continue;
        std::replace_if(
            name.begin(), name.end(), [](char c) { return !may_be_in_identifier(c); }, '_');
        return ("egl-" + name).substr(0, kApplicationSizeMax);
    }
    return "egl";
}

std::string process_file() {
    std::array<char, 4096> path = {};
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return {path.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

const std::string &own_application() {
    static const auto *application =
        new std::string(cache_application(program_invocation_name, process_file()));
    return *application;
}

}  // namespace cairn
