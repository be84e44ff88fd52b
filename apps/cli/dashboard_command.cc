// SPDX-License-Identifier: MIT
// `cairn dashboard`: hands over to cairn-dashboard, a program of its own, so that this one needs no library for the
// network.
#include "child.h"
#include "command.h"

namespace cairn::cli {
namespace {

Run define(Arguments &take) {
    const Words &arguments = take.foreign();
    return [&arguments]() -> int {
        become_program(find_program("cairn-dashboard", "dashboard"), arguments,
                       "is libcpp-httplib installed?");
    };
}

}  // namespace

const Command dashboard_command = {"dashboard", "Show the caches in a browser", "", define,
                                   Foreign::all};

}  // namespace cairn::cli
