// SPDX-License-Identifier: MIT
// The program cairn-convert: what `cairn convert` starts, and what converts for cairn_convert.h.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <sstream>

#include "command.h"
#include "command_line.h"
#include "conversions/worker.h"
#include "failure.h"
#include "output.h"

namespace {

int finished() {
    cairn::cli::finish_output();
    return cairn::cli::kExitOk;
}

int run(int argc, const char *const *argv) {
    CLI::App app("Converts a shader into another language, once.", "cairn convert");
    app.get_formatter()->column_width(cairn::cli::kHelpColumn);
    cairn::convert::add_convert_options(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            std::ostringstream text;  // --help
            app.exit(error, text);
            cairn::cli::print_text(text.str());
            return finished();
        }
        cairn::cli::complain(fmt::format("{}; `cairn convert --help` tells more",
                                         cairn::cli::usage_problem(app, error)));
        return cairn::cli::kExitUsage;
    }
    return finished();
}

}  // namespace

int main(int argc, char **argv) {
    struct stat output = {};
    const bool is_asked = fstat(STDOUT_FILENO, &output) == 0 && S_ISSOCK(output.st_mode);
    if (is_asked && cairn::conversions::is_for_worker(argc, argv)) {
        return cairn::conversions::run_worker(cairn::conversions::converters(), argc, argv);
    }
    std::signal(SIGPIPE, SIG_IGN);  // an error of ours
    try {
        return run(argc, argv);
    } catch (const cairn::cli::Failure &failure) {
        cairn::cli::complain(failure.what());
        return failure.exit_code();
    } catch (const std::exception &error) {
        cairn::cli::complain(error.what());
        return cairn::cli::kExitFailure;
    }
}
