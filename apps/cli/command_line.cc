// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "suggestion.h"

namespace cairn::cli {
namespace {

std::string unknown_option(const CLI::App &command, const std::string &name) {
    const std::vector<std::string> known = option_names(command);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        return fmt::format("`{}` goes behind the command", name);
    }
    return fmt::format("there is no option `{}`{}", name, did_you_mean(name, known));
}

}  // namespace

CommandLine split_command_line(int argc, const char *const *argv) {
    CommandLine line;
    line.own.assign(argv + std::min(argc, 1), argv + argc);
    if (line.own.empty() || line.own.front() != "run") {
        return line;
    }
    const auto mark = std::find(line.own.begin(), line.own.end(), "--");
    if (mark == line.own.end()) {
        return line;
    }
    line.after.assign(mark, line.own.end());
    line.own.erase(mark, line.own.end());
    return line;
}

std::vector<std::string> option_names(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::Option *option : app.get_options()) {
        for (const std::string &name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::vector<std::string> subcommand_names(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::App *command : app.get_subcommands(nullptr)) {
        names.push_back(command->get_name());
    }
    return names;
}

std::string usage_problem(const CLI::App &app, const CLI::ParseError &error) {
    const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
    const auto named = app.get_subcommands();
    const int code = error.get_exit_code();
    const bool is_unknown = code == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                            code == static_cast<int>(CLI::ExitCodes::RequiredError);
    if (unknown.empty() || !is_unknown) {
        const bool needs_command = named.empty() && !subcommand_names(app).empty();
        return is_unknown && needs_command ? "no command was named" : error.what();
    }
    const std::string &word = unknown.front();
    if (word.starts_with('-')) {
        return unknown_option(named.empty() ? app : *named.front(), word.substr(0, word.find('=')));
    }
    // The program itself takes nothing but commands, cairn-convert has none.
    if (named.empty() && !subcommand_names(app).empty()) {
        return fmt::format("there is no command `{}`{}", word,
                           did_you_mean(word, subcommand_names(app)));
    }
    return fmt::format("`{}` is one argument too many", word);
}

void add_dir_option(CLI::App &command, std::string &dir) {
    command
        .add_option("--dir", dir,
                    "The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn")
        ->type_name("DIR");
}

void add_quiet_option(CLI::App &command, Quiet &quiet, const char *about) {
    command.add_flag_callback(
        "-q,--quiet", [&quiet] { quiet = Quiet::yes; }, about);
}

}  // namespace cairn::cli
