// SPDX-License-Identifier: MIT
// `cairn version`: which Cairn this is.
#include <cairn/cairn.h>
#include <fmt/format.h>

#include "command_line.h"
#include "failure.h"
#include "output.h"

namespace cairn::cli {

void add_version_command(CLI::App &app, int &exit_code) {
    CLI::App *command = app.add_subcommand("version", "Print the version");
    command->footer("Example:\n  cairn version\n\nExit codes: 0 printed, 2 wrong usage.");
    command->callback([&exit_code] {
        print_line(fmt::format("cairn {}", cairn_version_string()));
        exit_code = kExitOk;
    });
    app.set_version_flag(
        "-V,--version", [] { return std::string("cairn ") + cairn_version_string(); },
        "Print the version and exit");
}

}  // namespace cairn::cli
