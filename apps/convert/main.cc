// SPDX-License-Identifier: MIT
// The program cairn-convert: what `cairn convert` starts, and what converts for cairn_convert.h.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "command.h"
#include "command_line.h"
#include "conversions/worker.h"
#include "failure.h"

namespace {

int run(int argc, const char *const *argv) {
    CLI::App app("Converts a shader into another language, once.", "cairn convert");
    app.get_formatter()->column_width(cairn::cli::kHelpColumn);
    cairn::convert::add_convert_options(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            return app.exit(error);
        }
        fmt::print(stderr, "cairn: {}; `cairn convert --help` tells more\n", error.what());
        return cairn::cli::kExitUsage;
    }
    if (std::fflush(stdout) != 0) {
        throw cairn::cli::Failure(cairn::cli::kExitFailure, "cannot write to standard output");
    }
    return cairn::cli::kExitOk;
}

}  // namespace

int main(int argc, char **argv) {
    if (cairn::conversions::is_for_worker(argc, argv)) {
        return cairn::conversions::run_worker(cairn::conversions::converters(), argc, argv);
    }
    try {
        return run(argc, argv);
    } catch (const cairn::cli::Failure &failure) {
        fmt::print(stderr, "cairn: {}\n", failure.what());
        return failure.exit_code();
    } catch (const std::exception &error) {
        fmt::print(stderr, "cairn: {}\n", error.what());
        return cairn::cli::kExitFailure;
    }
}
