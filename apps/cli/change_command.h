// SPDX-License-Identifier: MIT
// What commands have in common that change one cache, or all of them: `cairn VERB CACHE` and
// `cairn VERB --all`. Thread safety: used by main only. Failure: a Failure; with --all each one is
// reported, and the others are changed all the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cairn::cli {

struct ChangeCommand {
    const char *verb;  // "clear"
    const char *description;
    const char *footer;
    // Does it, says so on standard output, and throws a Failure if it cannot.
    void (*change)(const std::string &root, const std::string &identifier);
};

// Adds the subcommand to `app`; as those of command_line.h.
void add_change_command(CLI::App &app, const ChangeCommand &kind, int &exit_code);

}  // namespace cairn::cli
