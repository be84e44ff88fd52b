// SPDX-License-Identifier: MIT
// What `cairn` says of itself: `cairn path`, `version` and `help`.
#include <cairn/cairn.h>
#include <unistd.h>

#include <algorithm>

#include "caches.h"
#include "command.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kPathFooter =
    "Example:\n"
    "  du -sh \"$(cairn path)\"\n\n"
    "Exit codes: 0 printed, 1 there is no such place (no home directory), 2 wrong usage.";

Run define_path(Arguments &take) {
    take.dir();
    return [] {
        const std::string root = resolve_root();
        // A program is given the very bytes.
        isatty(STDOUT_FILENO) == 1 ? print_line(root) : print_text(root + "\n");
        return kExitOk;
    };
}

constexpr const char *kVersionFooter =
    "Example:\n  cairn version\n\nExit codes: 0 printed, 2 wrong usage.";

Run define_version(Arguments &) {
    return [] { return run_command_line({"--version"}); };
}

constexpr const char *kHelpFooter =
    "The same as `cairn COMMAND --help`.\n\n"
    "Example:\n  cairn help run\n\nExit codes: 0 printed, 2 wrong usage.";

int print_help(const Words &words) {
    if (words.empty()) return run_command_line({"--help"});
    const std::string &name = words.front();
    const Words known = command_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw Failure(kExitUsage, "there is no command `{}`{}", name, did_you_mean(name, known));
    }
    // Only groups have commands of a second word.
    const bool is_group = name == pack_command.name || name == key_command.name;
    if (words.size() > (is_group ? 2u : 1u)) {
        throw Failure(kExitUsage, "`{}` is one argument too many; `cairn help --help` tells more",
                      words.back());
    }
    Words command = words;
    command.emplace_back("--help");
    return run_command_line(command);
}

Run define_help(Arguments &take) {
    auto words = std::make_shared<Words>();
    take.values("COMMAND", *words, "The command, such as run, or pack create");
    return [words] { return print_help(*words); };
}

}  // namespace

const Command path_command = {"path", "Print the directory that holds the caches", kPathFooter,
                              define_path};
const Command version_command = {"version", "Print the version", kVersionFooter, define_version};
const Command help_command = {"help", "Explain a command, or the program", kHelpFooter,
                              define_help};

}  // namespace cairn::cli
