// SPDX-License-Identifier: MIT
// What a command says to people and programs, and how it gives up. All text goes through here, so
// that nothing that came from a file, a name or an argument can steer the terminal.
// Thread safety: used by main only; Progress has a thread of its own.
// Failure: the work goes on when something cannot be written; finish_output() reports it.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "os/worker.h"

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

// Leaves the command, and becomes a line on standard error and an exit code in run_main().
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

// A line on standard output, shown as printable_line shows it.
void print_line(std::string_view line);
template <typename First, typename... Values>
void print_line(fmt::format_string<First, Values...> line, First &&first, Values &&...values) {
    print_line(fmt::format(line, std::forward<First>(first), std::forward<Values>(values)...));
}

// Lines on standard output that are the program's own, such as a help text.
void print_text(std::string_view text);

// --quiet: from now on say() says nothing, and no Progress is shown.
void be_quiet();
bool is_quiet();

// A line on standard output about what was done.
void say(std::string_view line);

// On standard output, as printable_json shows it.
void print_json(const nlohmann::ordered_json &json);

// A line on standard error, with "cairn: " in front.
void complain(std::string_view line);
template <typename First, typename... Values>
void complain(fmt::format_string<First, Values...> line, First &&first, Values &&...values) {
    complain(fmt::format(line, std::forward<First>(first), std::forward<Values>(values)...));
}

// Lines on standard error that another program said, shown as printable_text shows them.
void pass_on(std::string_view text);

// From now on a closed pipe and a limit on the size of files are errors of writing, and end nothing.
void make_signals_errors();

// Throws a Failure where not all of standard output was written.
void finish_output();

// Asks on standard error for a yes on standard input. Where one of them is no terminal nobody can
// be asked, and that counts as a yes, so that scripts go on.
bool is_confirmed(const std::string &question);

// One line on standard error about work that takes longer than a second, rewritten while it lives
// and gone afterwards. Nothing else may be printed meanwhile.
class Progress {
  public:
    // Of so many parts; 0: it is not known how many.
    explicit Progress(std::string what, uint64_t total = 0);
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void add(uint64_t parts) { done_.fetch_add(parts, std::memory_order_relaxed); }

  private:
    void show();
    std::string line() const;

    // Constant after construction.
    const std::string what_;
    const uint64_t total_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

    std::atomic<uint64_t> done_ = 0;
    Worker worker_{[this] { show(); }};  // never woken where nothing is shown
};

}  // namespace cairn::cli
