// SPDX-License-Identifier: MIT
// `cairn disable`: undoes `cairn enable`, or switches one application off.
#include <filesystem>

#include "command.h"
#include "os/helper_process.h"
#include "output.h"
#include "session.h"
#include "switches.h"
#include "warm_units.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFooter =
    R"(Without APP it removes what `cairn enable` wrote. Programs that run now, and those that the present
session starts, keep Cairn until the next log-in.

Examples:
  cairn disable
  cairn disable game    run it as without Cairn, however it is started

Exit codes: 0 done, or there was nothing to do; 1 failed, 2 wrong usage.)";

void remove_file(const std::string &path) {
    std::error_code error;
    fs::remove(path, error);
    if (error) {
        throw Failure(kExitFailure, "cannot remove {}: {}", path, error.message());
    }
}

int disable_session() {
    const SessionFiles files = session_files();
    require_own(files.environment);
    const FolderLock lock(own_home());
    const auto environment = read_user_file(files.environment);
    const auto shell = read_user_file(files.shell);
    if (environment && !environment->empty() && !is_environment_text(*environment)) {
        throw Failure(kExitFailure, "{} was not written by `cairn enable`; remove it yourself",
                      files.environment);
    }
    const std::string rest = without_block(shell.value_or(""));
    const bool has_block = shell && rest != *shell;
    if (has_block) {
        // Only a file that `cairn enable` has made begins with the block. A link is the user's.
        const bool is_ours = shell->starts_with(block_in(*shell)) && !fs::is_symlink(files.shell);
        const bool goes = rest.empty() && is_ours;
        goes ? remove_file(files.shell) : write_user_files({{files.shell, rest}});
        say(fmt::format("{}: {}", files.shell, goes ? "removed" : "our block is removed"));
    }
    if (environment) {
        remove_file(files.environment);
        say(fmt::format("{}: removed", files.environment));
    }
    const WarmUnits units(own_home(), canonical_path("/proc/self/exe"));
    const bool had_units = units.disable();
    if (had_units) {
        say(fmt::format("{}: cairn-warm.path and cairn-warm.timer are disabled", units.folder()));
    }
    say(environment || has_block || had_units
            ? "From the next log-in, programs run as without Cairn."
            : "It was not enabled for your sessions.");
    return kExitOk;
}

Run define(Arguments &take) {
    auto applications = std::make_shared<Words>();
    take.values("APP", *applications, "Applications, by the names of their programs");
    take.quiet();
    return [applications] {
        if (applications->empty()) return disable_session();
        switch_applications(*applications, Switch::off);
        return kExitOk;
    };
}

}  // namespace

const Command disable_command = {"disable", "Undo `cairn enable`, or switch an application off",
                                 kFooter, define};

}  // namespace cairn::cli
