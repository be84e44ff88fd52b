// SPDX-License-Identifier: MIT
// `cairn push`, `cairn pull` and `cairn remote`: hand over to cairn-agent, a program of its own, so that this one needs
// no library for the network: `cairn run` stands before each start of an application.
#include <filesystem>

#include "child.h"
#include "command.h"
#include "os/helper_process.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// Beside this program where both are installed, or in a build tree.
std::string find_agent() {
    const fs::path folder = fs::path(canonical_path("/proc/self/exe")).parent_path();
    for (const fs::path &place : {folder / "cairn-agent", folder / "../agent/cairn-agent"}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) return place.lexically_normal().string();
    }
    throw Failure(kExitFailure, "cairn-agent is not installed: it is not in {}", folder.string());
}

template <const char *kName>
Run define(Arguments &take) {
    const Words &arguments = take.foreign();
    return [&arguments]() -> int {
        Words words = {kName};
        words.insert(words.end(), arguments.begin(), arguments.end());
        become_program(find_agent(), words, "are libcurl and libhiredis installed?");
    };
}

constexpr char kPush[] = "push", kPull[] = "pull", kRemote[] = "remote";

}  // namespace

const Command push_command = {kPush, "Publish what this machine has compiled", "", define<kPush>,
                              Foreign::all};
const Command pull_command = {kPull, "Fetch what other machines have compiled", "", define<kPull>,
                              Foreign::all};
const Command remote_command = {kRemote, "See and tidy up the storage that machines share", "",
                                define<kRemote>, Foreign::all};

}  // namespace cairn::cli
