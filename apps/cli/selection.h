// SPDX-License-Identifier: MIT
// The arguments of all commands that change caches: `cairn VERB CACHE...`, `--application NAME` and
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

// Whether the command asks before it changes all caches, and has --yes.
enum class Asks { no, yes };

struct Selection {
    std::string dir;
    Words names;
    std::string application;
    bool all = false;
    Asks asks = Asks::no;
    bool yes = false;
    Quiet quiet = Quiet::no;
};

// `about_names` explains the names.
void add_selection(Arguments &take, Selection &selection, const char *about_names, Asks asks);

// Changes a cache, and returns what to say of it; throws a Failure if it cannot.
using Change = std::function<std::string(const std::string &root, const std::string &name)>;

// Returns the exit code. `verb`: "clear".
int change_selected(const Selection &selection, const char *verb, const Change &change);

}  // namespace cairn::cli
