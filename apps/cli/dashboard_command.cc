// SPDX-License-Identifier: MIT
// `cairn dashboard`: hands over to cairn-dashboard, a program of its own, so that this one needs no library for the
// network.
#include <filesystem>

#include "child.h"
#include "command.h"
#include "os/helper_process.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kProgram = "cairn-dashboard";

// Beside this program where both are installed, or in a build tree.
std::string find_dashboard() {
    const fs::path folder = fs::path(canonical_path("/proc/self/exe")).parent_path();
    for (const fs::path &place : {folder / kProgram, folder / "../dashboard" / kProgram}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) return place.lexically_normal().string();
    }
    throw Failure(kExitFailure, "{} is not installed: it is not in {}", kProgram, folder.string());
}

Run define(Arguments &take) {
    const Words &arguments = take.foreign();
    return [&arguments]() -> int {
        become_program(find_dashboard(), arguments, "is libcpp-httplib installed?");
    };
}

}  // namespace

const Command dashboard_command = {"dashboard", "Show the caches in a browser", "", define,
                                   Foreign::all};

}  // namespace cairn::cli
