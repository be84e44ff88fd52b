// SPDX-License-Identifier: MIT
// The program cairn-agent: all that Cairn does with the network, in a process of its own. `cairn push`, `cairn pull`
// and `cairn remote` start it, and so does a session (`serve`).
#include "commands.h"
#include "output.h"

namespace cairn::fleet {
namespace {

// As people call them: the command `cairn` hands them over.
constexpr const cli::Command *kCommands[] = {&push_command, &pull_command, &remote_command};

int run(const cli::Words &words) {
    cli::make_signals_errors();
    // A group has its own words, which only it knows.
    if (!words.empty() && words.front() == remote_command.name) {
        const cli::Words rest(words.begin() + 1, words.end());
        cli::Run command;
        return cli::run_foreign_command(remote_command, rest);
    }
    return cli::run_command_group({"cairn", "Programs that machines share", "", kCommands}, words);
}

}  // namespace
}  // namespace cairn::fleet

int main(int argc, char **argv) {
    return cairn::cli::run_main(argc, argv, cairn::fleet::run);
}
