// SPDX-License-Identifier: MIT
// `cairn path`: where the caches are.
#include <unistd.h>

#include <memory>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "output.h"

namespace cairn::cli {

void add_path_command(CLI::App &app, int &exit_code) {
    CLI::App *command = app.add_subcommand("path", "Print the directory that holds the caches");
    auto dir = std::make_shared<std::string>();
    command->footer(
        "Example:\n"
        "  du -sh \"$(cairn path)\"\n\n"
        "Exit codes: 0 printed, 1 there is no such place (no home directory), 2 wrong usage.");
    add_dir_option(*command, *dir);
    command->callback([dir, &exit_code] {
        const std::string root = resolve_root(*dir);
        // A program is given the very bytes.
        isatty(STDOUT_FILENO) == 1 ? print_line(root) : print_text(root + "\n");
        exit_code = kExitOk;
    });
}

}  // namespace cairn::cli
