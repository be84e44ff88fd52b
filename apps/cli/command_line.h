// SPDX-License-Identifier: MIT
// The arguments of the program, taken apart, and the subcommands that they can name.
// Thread safety: used by main only.
// Failure: a Failure with the exit code for the user, or a CLI::Error, which main reports as a
// usage error.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "terminal.h"

namespace cairn::cli {

// Where the explanations begin in a help text.
inline constexpr size_t kHelpColumn = 30;

// Arguments of `cairn run` contain another program's arguments, which are none of our parser's
// business: what follows the first
// "--" is kept apart from the rest before the parser sees it.
struct CommandLine {
    std::vector<std::string> own;    // without the program's name
    std::vector<std::string> after;  // the first "--" of `cairn run` and what follows it
};

CommandLine split_command_line(int argc, const char *const *argv);

// Each adds one subcommand to `app`. When it is the one that was named, it does its work while the
// parser runs, and leaves its exit code in `exit_code`. `app`, `exit_code` and `after` must live
// until the parser is done.
void add_run_command(CLI::App &app, const std::vector<std::string> &after, int &exit_code);
void add_stats_command(CLI::App &app, int &exit_code);
void add_ls_command(CLI::App &app, int &exit_code);
void add_clear_command(CLI::App &app, int &exit_code);
void add_rm_command(CLI::App &app, int &exit_code);
void add_compress_command(CLI::App &app, int &exit_code);
void add_control_command(CLI::App &app, int &exit_code);
void add_convert_command(CLI::App &app);
void add_export_command(CLI::App &app);
void add_import_command(CLI::App &app);
void add_path_command(CLI::App &app, int &exit_code);
void add_version_command(CLI::App &app, int &exit_code);
void add_help_command(CLI::App &app);

// Does what follows `cairn convert`, and does not return: another program does it.
// add_convert_command is for the list of subcommands only.
void run_convert_command(const std::vector<std::string> &arguments);

std::vector<std::string> subcommand_names(const CLI::App &app);
// With their dashes.
std::vector<std::string> option_names(const CLI::App &app);

// Why the parser refused the arguments, with what may have been meant. `app` is the one that parsed
// them.
std::string usage_problem(const CLI::App &app, const CLI::ParseError &error);

// Adds `--dir DIR` to a subcommand.
void add_dir_option(CLI::App &command, std::string &dir);

// Adds `--quiet` to a subcommand.
void add_quiet_option(CLI::App &command, Quiet &quiet, const char *about);

}  // namespace cairn::cli
