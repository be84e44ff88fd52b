// SPDX-License-Identifier: MIT
#include "applications.h"

#include <string_view>

#include "cache/generations.h"

namespace cairn::cli {

std::string application_name(const std::string &application) {
    constexpr std::string_view kFrontEnd = "egl-";
    return application.starts_with(kFrontEnd) ? application.substr(kFrontEnd.size()) : application;
}

std::map<std::string, std::string> list_applications(const std::string &root) {
    std::map<std::string, std::string> applications;
    const auto directory = Directory::open(root);
    if (directory.ok()) {
        for (const KnownGeneration &each : list_generations(directory.value())) {
            applications.emplace(each.identifier, each.application);
        }
    }
    return applications;
}

}  // namespace cairn::cli
