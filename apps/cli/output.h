// SPDX-License-Identifier: MIT
// The output of a command, for people and programs. All text goes through here, so that nothing
// that came from a file, a name or an argument can steer the terminal.
// Thread safety: used by main only.
// Failure: the work goes on when something cannot be written; finish_output() reports it.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace cairn::cli {

// A line on standard output, shown as printable_line shows it.
void print_line(std::string_view line);
template <typename First, typename... Values>
void print_line(fmt::format_string<First, Values...> line, First &&first, Values &&...values) {
    print_line(fmt::format(line, std::forward<First>(first), std::forward<Values>(values)...));
}

// Lines on standard output that are the program's own, such as a help text.
void print_text(std::string_view text);

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

}  // namespace cairn::cli
