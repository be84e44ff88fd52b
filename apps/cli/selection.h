// SPDX-License-Identifier: MIT
// What commands have in common that change caches: `cairn VERB CACHE...`, `--application NAME` and
// `--all`.
// Thread safety: used by main only.
// Failure: a Failure; where several caches are changed each one is reported, and the others are
// changed all the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.h"

namespace cairn::cli {

struct Selection {
    std::string dir;
    Words names;
    std::string application;
    bool all = false;
    bool yes = false;
    Quiet quiet = Quiet::no;
};

// Adds the arguments to a subcommand. `about_names` explains the names.
void add_selection(Arguments &take, Selection &selection, const char *about_names);

// Adds `--yes` to one that asks before it changes everything.
void add_yes_option(Arguments &take, Selection &selection);

struct Change {
    const char *verb;  // "clear"
    enum class Asks { never, about_all } asks;
    // Changes the cache of this name, and returns what to say of it; throws a Failure if it cannot.
    std::function<std::string(const std::string &root, const std::string &name)> change;
};

// Returns the exit code.
int change_selected(const Selection &selection, const Change &change);

}  // namespace cairn::cli
