// SPDX-License-Identifier: MIT
// The program cairn-agent: all that Cairn does with the network, in a process of its own. `cairn push`, `cairn pull`
// and `cairn remote` start it, and so does a session.
#include "cache/agent_notice.h"
#include "commands.h"
#include "output.h"

namespace cairn::fleet {
namespace {

constexpr const char *kFooter =
    R"(`cairn push`, `cairn pull` and `cairn remote` are its other commands.

Exit codes: 0 success, 1 failure, 2 wrong usage.)";

constexpr const char *kRemoteFooter =
    R"(Remotes are in ~/.config/cairn/remotes:

  [studio]
  url = s3://shaders/studio
  use = read write
  sign = ci

Examples:
  cairn remote status
  cairn remote gc --dry-run

Exit codes: 0 success, 1 failure, 2 wrong usage.)";

// As people call them: the command `cairn` hands them over.
constexpr const cli::Command *kCommands[] = {&push_command, &pull_command};
constexpr const cli::Command *kOwnCommands[] = {&serve_command};
constexpr const cli::Command *kRemoteCommands[] = {&status_command, &gc_command};

int run(const cli::Words &words) {
    cli::make_signals_errors();
    tell_agent_nothing();
    if (words.empty() || words.front() == serve_command.name || words.front().starts_with('-')) {
        return cli::run_command_group(
            {"cairn-agent", "Share programs with other machines", kFooter, kOwnCommands}, words);
    }
    if (!words.empty() && words.front() == "remote") {
        return cli::run_command_group(
            {"cairn remote", "See and tidy up the storage that machines share", kRemoteFooter,
             kRemoteCommands},
            {words.begin() + 1, words.end()});
    }
    return cli::run_command_group(
        {"cairn", "Share programs with other machines", kFooter, kCommands}, words);
}

}  // namespace
}  // namespace cairn::fleet

int main(int argc, char **argv) {
    return cairn::cli::run_main(argc, argv, cairn::fleet::run);
}
