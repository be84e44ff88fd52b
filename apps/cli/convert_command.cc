// SPDX-License-Identifier: MIT
// `cairn convert`: hands over to cairn-convert, a program of its own, so that this one needs none
// of the converters' libraries.
#include <filesystem>

#include "child.h"
#include "command.h"
#include "os/helper_process.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// Beside this program: in a build tree, or where both are installed.
std::string find_program() {
    const fs::path folder = fs::path(canonical_path("/proc/self/exe")).parent_path();
    const fs::path installed = (folder / CAIRN_CONVERT_FROM_BIN).lexically_normal();
    for (const fs::path &place : {folder / "../convert/cairn-convert", installed}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) return place.lexically_normal().string();
    }
    throw Failure(kExitFailure, "cairn-convert is not installed: it is not in {}",
                  installed.parent_path().string());
}

Run define(Arguments &take) {
    const Words &arguments = take.foreign();
    return [&arguments]() -> int {
        become_program(find_program(), arguments, "are the converters' libraries installed?");
    };
}

}  // namespace

const Command convert_command = {"convert", "Convert a shader into another language, once", "",
                                 define, Foreign::all};

}  // namespace cairn::cli
