// SPDX-License-Identifier: MIT
// `cairn path`: where the caches are.
#include <unistd.h>

#include "caches.h"
#include "command.h"
#include "output.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    "Example:\n"
    "  du -sh \"$(cairn path)\"\n\n"
    "Exit codes: 0 printed, 1 there is no such place (no home directory), 2 wrong usage.";

Run define(Arguments &take) {
    take.dir();
    return [] {
        const std::string root = resolve_root();
        // A program is given the very bytes.
        isatty(STDOUT_FILENO) == 1 ? print_line(root) : print_text(root + "\n");
        return kExitOk;
    };
}

}  // namespace

const Command path_command = {"path", "Print the directory that holds the caches", kFooter, define};

}  // namespace cairn::cli
