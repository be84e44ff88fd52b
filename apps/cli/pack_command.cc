// SPDX-License-Identifier: MIT
// `cairn pack`: programs of one machine for the first start on others.
#include "pack/commands.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(A pack is one file with the compiled programs of applications. Where it is installed, or lies in `cairn-packs/` beside
an application's executable, the first start is as warm as the one that it was made from, on the same driver.

A pack holds code that drivers run as the user: install packs of those only whose programs you would run.

Examples:
  cairn pack create game.pack --application game    on one machine, after some starts of the game
  cairn pack install --unsigned game.pack           on another one
  cairn pack inspect game.pack

Exit codes: 0 success, 1 failure, 2 wrong usage.)";

#define CAIRN_LIST_COMMAND(name) &pack_##name##_command,
constexpr const Command *kCommands[] = {CAIRN_PACK_COMMANDS(CAIRN_LIST_COMMAND)};
#undef CAIRN_LIST_COMMAND

constexpr const char *kSummary = "Pack programs for other machines, and install such packs";

Run define(Arguments &take) {
    const Words &words = take.foreign();
    return [&words] {
        return run_command_group({"cairn pack", kSummary, kFooter, kCommands}, words);
    };
}

}  // namespace

const Command pack_command = {"pack", kSummary, kFooter, define, Foreign::all};

}  // namespace cairn::cli
