// SPDX-License-Identifier: MIT
// `cairn help`: what --help prints, of the program or of a command.
#include <algorithm>

#include "command.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    "The same as `cairn COMMAND --help`.\n\n"
    "Example:\n  cairn help run\n\nExit codes: 0 printed, 2 wrong usage.";

int print_help(const std::string &name) {
    if (name.empty()) return run_command_line({"--help"});
    const Words known = command_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw Failure(kExitUsage, "there is no command `{}`{}", name, did_you_mean(name, known));
    }
    return run_command_line({name, "--help"});
}

Run define(Arguments &take) {
    auto name = std::make_shared<std::string>();
    take.value("COMMAND", *name, "The command");
    return [name] { return print_help(*name); };
}

}  // namespace

const Command help_command = {"help", "Explain a command, or the program", kFooter, define};

}  // namespace cairn::cli
