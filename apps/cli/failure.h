// SPDX-License-Identifier: MIT
// How a subcommand gives up: one exception type that carries what to tell the user and the exit
// code, and the exit codes.
// Thread safety: values. Failure: the exception leaves the subcommand and is turned into a line on
// standard error in main.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <system_error>

namespace cairn::cli {

// Documented in docs/cli.md and in every --help; never change their meaning.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
// `cairn run` has the application's exit codes, and these of its own, as shells and env(1) use
// them.
inline constexpr int kExitRunFailed = 125;
inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

class Failure : public std::runtime_error {
  public:
    // `message` says what is wrong and what to do about it, without a line end.
    Failure(int exit_code, const std::string &message)
        : std::runtime_error(message), exit_code_(exit_code) {}
    template <typename... Values>
    Failure(int exit_code, fmt::format_string<Values...> message, Values &&...values)
        : Failure(exit_code, fmt::format(message, std::forward<Values>(values)...)) {}

    int exit_code() const { return exit_code_; }

  private:
    int exit_code_;
};

// "permission denied" and the like for an errno value.
inline std::string error_text(int error_number) {
    return std::generic_category().message(error_number);
}

}  // namespace cairn::cli
