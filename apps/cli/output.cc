// SPDX-License-Identifier: MIT
#include "output.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "failure.h"
#include "text.h"

namespace cairn::cli {
namespace {

int output_error = 0;  // the first, as errno

void note_error(bool is_written) {
    if (!is_written && output_error == 0) output_error = errno;
}

// Where nobody hears it, there is nobody to tell.
void print_error(const std::string &text) {
    [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void print_line(std::string_view line) {
    print_text(printable_line(line) + "\n");
}

void print_text(std::string_view text) {
    note_error(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void print_json(const nlohmann::ordered_json &json) {
    print_text(printable_json(json) + "\n");
}

void complain(std::string_view line) {
    print_error("cairn: " + printable_line(line) + "\n");
}

void pass_on(std::string_view text) {
    print_error(printable_text(text));
}

void make_signals_errors() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void finish_output() {
    note_error(std::fflush(stdout) == 0);
    if (output_error != 0) {
        throw Failure(kExitFailure, "cannot write to standard output: {}",
                      error_text(output_error));
    }
}

}  // namespace cairn::cli
