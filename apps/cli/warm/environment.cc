// SPDX-License-Identifier: MIT
#include "warm/environment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "manifest.h"
#include "os/environment.h"
#include "os/helper_process.h"
#include "output.h"
#include "recipe/player.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// The file of an application of this name: beside a pack that it ships in cairn-packs/, or where a shell
// finds it; "" where that is no program, such as a script.
std::string find_executable(const std::string &application, const Words &packs) {
    std::vector<fs::path> places;
    for (const std::string &pack : packs) {
        places.push_back(fs::path(pack).parent_path().parent_path() / application);
    }
    const std::string path = environment_variable("PATH").value_or("");
    for (std::string_view rest = path; !rest.empty();) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
        places.push_back(fs::path(folder) / application);
    }
    for (const fs::path &place : places) {
        if (is_program(place.string())) return canonical_path(place.string());
    }
    return "";
}

}  // namespace

bool is_program(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 4> magic = {};
    file.read(magic.data(), magic.size());
    return file && std::string_view(magic.data(), magic.size()) ==
                       "\x7f"
                       "ELF";
}

recipe::Application complete_application(recipe::Application known, const std::string &application,
                                         const Words &packs) {
    if (known.executable.empty()) known.executable = find_executable(application, packs);
    if (known.invocation.empty()) known.invocation = application;
    return known;
}

Words player_environment(const std::string &application, const recipe::Application &executable,
                         const std::string &root) {
    const Manifest manifest = find_manifest(canonical_path("/proc/self/exe"));
    if (manifest.path.empty()) {
        throw Failure(kExitFailure, "nothing would be kept: {}", manifest.problem);
    }
    std::vector<std::pair<std::string, std::string>> ours = {
        front_end_environment(manifest.path),
        {recipe::kWarmVariable, application},
        {recipe::kWarmExecutableVariable, executable.executable},
        {recipe::kWarmInvocationVariable, executable.invocation},
        // A player is not recorded, and in no report.
        {"CAIRN_RECORD", ""},
        {"CAIRN_REPORT", ""},
    };
    if (!root.empty()) ours.emplace_back("CAIRN_DIR", root);
    Words environment;
    for (const std::string_view text : environment_variables()) {
        const std::string_view name = text.substr(0, text.find('='));
        if (std::ranges::none_of(ours, [&](const auto &each) { return each.first == name; })) {
            environment.emplace_back(text);
        }
    }
    for (const auto &[name, value] : ours) environment.push_back(name + "=" + value);
    return environment;
}

}  // namespace cairn::cli
