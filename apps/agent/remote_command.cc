// SPDX-License-Identifier: MIT
// `cairn remote`: what is in the storage that machines share.
#include "commands.h"

namespace cairn::fleet {
namespace {

constexpr const char *kSummary = "See and tidy up the storage that machines share";
constexpr const char *kFooter =
    R"(Remotes are in ~/.config/cairn/remotes:

  [studio]
  url = s3://shaders/studio
  use = read write
  sign = ci

Examples:
  cairn remote status
  cairn remote gc --dry-run

Exit codes: 0 success, 1 failure, 2 wrong usage.)";

constexpr const cli::Command *kCommands[] = {&status_command, &gc_command};

cli::Run define(cli::Arguments &take) {
    const cli::Words &words = take.foreign();
    return [&words] {
        return cli::run_command_group({"cairn remote", kSummary, kFooter, kCommands}, words);
    };
}

}  // namespace

const cli::Command remote_command = {"remote", kSummary, kFooter, define, cli::Foreign::all};

}  // namespace cairn::fleet
