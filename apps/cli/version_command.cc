// SPDX-License-Identifier: MIT
// `cairn version`: which Cairn this is.
#include <cairn/cairn.h>

#include "command.h"
#include "output.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    "Example:\n  cairn version\n\nExit codes: 0 printed, 2 wrong usage.";

Run define(Arguments &) {
    return [] {
        print_line(std::string("cairn ") + cairn_version_string());
        return kExitOk;
    };
}

}  // namespace

const Command version_command = {"version", "Print the version", kFooter, define};

}  // namespace cairn::cli
