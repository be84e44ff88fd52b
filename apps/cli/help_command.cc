// SPDX-License-Identifier: MIT
// `cairn help`: what --help prints, of the program or of a subcommand.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command_line.h"
#include "failure.h"
#include "output.h"
#include "suggestion.h"

namespace cairn::cli {
namespace {

void print_help(const CLI::App &app, const std::string &name) {
    if (name == "convert") {
        run_convert_command({"--help"});
    }
    const std::vector<std::string> known = subcommand_names(app);
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
        throw Failure(kExitUsage,
                      fmt::format("there is no command `{}`{}", name, did_you_mean(name, known)));
    }
    print_text(name.empty() ? app.get_formatter()->make_help(&app, app.get_name(),
                                                             CLI::AppFormatMode::Normal)
                            : app.get_subcommand(name)->help(app.get_name()));
}

}  // namespace

void add_help_command(CLI::App &app) {
    CLI::App *command = app.add_subcommand("help", "Explain a command, or the program");
    auto name = std::make_shared<std::string>();
    command->footer(
        "The same as `cairn COMMAND --help`.\n\n"
        "Example:\n  cairn help run\n\nExit codes: 0 printed, 2 wrong usage.");
    command->add_option("COMMAND", *name, "The command")->type_name("");
    command->callback([&app, name] { print_help(app, *name); });
}

}  // namespace cairn::cli
