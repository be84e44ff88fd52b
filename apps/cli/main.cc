// SPDX-License-Identifier: MIT
// The program `cairn`: picks the subcommand and turns every failure into one line and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <sstream>
#include <string_view>

#include "command_line.h"
#include "failure.h"
#include "output.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter = R"(Examples:
  cairn run -- glmark2-es2            the same pictures; from the second start on, no recompiles
  cairn run --json saved.json -- APP  also write what was saved to a file
  cairn stats                         what the caches hold
  cairn clear --all                   forget everything
  cairn export CACHE warm.set         programs to be shipped with an application

Exit codes: 0 success, 1 failure, 2 wrong usage. `cairn run` ends with the application's own
exit code; see `cairn run --help`.

Environment: CAIRN_DIR names the directory that holds the caches (default: $XDG_CACHE_HOME/cairn,
else ~/.cache/cairn).)";

// A wrong option in front of an application must not be mistaken for the application's own exit
// code.
int usage_exit_code(const CommandLine &line) {
    return !line.own.empty() && line.own.front() == "run" ? kExitRunFailed : kExitUsage;
}

int report_usage_error(const CLI::App &app, const CLI::ParseError &error, const CommandLine &line) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
        std::ostringstream text;  // --help and --version
        app.exit(error, text);
        print_text(text.str());
        return kExitOk;
    }
    const auto named = app.get_subcommands();
    const std::string command = named.empty() ? "cairn" : "cairn " + named.front()->get_name();
    complain(fmt::format("{}; `{} --help` tells more", usage_problem(app, error), command));
    return usage_exit_code(line);
}

int run_program(int argc, const char *const *argv) {
    const CommandLine line = split_command_line(argc, argv);
    if (!line.own.empty() && line.own.front() == "convert") {
        run_convert_command({line.own.begin() + 1, line.own.end()});
    }
    int exit_code = kExitOk;
    CLI::App app("Remembers compiled GPU programs, so that none is compiled twice.", "cairn");
    app.footer(kFooter);
    app.require_subcommand(1);
    app.get_formatter()->column_width(kHelpColumn);
    add_run_command(app, line.after, exit_code);
    add_stats_command(app, exit_code);
    add_ls_command(app, exit_code);
    add_clear_command(app, exit_code);
    add_rm_command(app, exit_code);
    add_compress_command(app, exit_code);
    add_control_command(app, exit_code);
    add_convert_command(app);
    add_export_command(app);
    add_import_command(app);
    add_path_command(app, exit_code);
    add_version_command(app, exit_code);
    add_help_command(app);
    try {
        // The parser takes its arguments in reverse.
        app.parse(std::vector<std::string>(line.own.rbegin(), line.own.rend()));
    } catch (const CLI::ParseError &error) {
        return report_usage_error(app, error, line);
    }
    return exit_code;
}

// As main, but failures leave as exceptions.
int run_and_flush(int argc, const char *const *argv) {
    const int exit_code = run_program(argc, argv);
    // A full disk or a closed pipe behind a redirection must not look like success.
    if (exit_code == kExitOk) {
        finish_output();
    }
    return exit_code;
}

// A file that is opened where standard output or standard error is closed would take its place, and
// receive what is meant for it.
void fill_standard_descriptors() {
    for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
    }
}

}  // namespace
}  // namespace cairn::cli

int main(int argc, char **argv) {
    cairn::cli::fill_standard_descriptors();
    // A pipe that nobody reads any more is an error of ours. What `cairn run` starts inherits this.
    if (argc < 2 || std::string_view(argv[1]) != "run") {
        std::signal(SIGPIPE, SIG_IGN);
    }
    try {
        return cairn::cli::run_and_flush(argc, argv);
    } catch (const cairn::cli::Failure &failure) {
        cairn::cli::complain(failure.what());
        return failure.exit_code();
    } catch (const std::exception &error) {
        cairn::cli::complain(error.what());
        return cairn::cli::kExitFailure;
    }
}
