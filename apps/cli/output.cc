// SPDX-License-Identifier: MIT
#include "output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "os/text_file.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kFirstAfterMs = 1000;
constexpr uint64_t kNextAfterMs = 200;
constexpr std::string_view kErase = "\r\x1b[K";

int output_error = 0;  // the first, as errno
bool quiet = false;

void note_error(bool is_written) {
    if (!is_written && output_error == 0) output_error = errno;
}

bool is_terminal(int fd) {
    return isatty(fd) == 1;
}

// Where a line can be rewritten.
bool is_capable_terminal() {
    const char *name = getenv("TERM");
    return is_terminal(STDERR_FILENO) && name != nullptr && std::string_view(name) != "dumb";
}

// A job in the background would write into what the person does now.
bool is_in_background() {
    const pid_t foreground = tcgetpgrp(STDERR_FILENO);
    return foreground > 0 && foreground != getpgrp();
}

// A line that is broken by the terminal's edge could not be erased.
size_t columns() {
    winsize size = {};
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return is_known ? size.ws_col - 1u : 79u;
}

}  // namespace

void print_line(std::string_view line) {
    print_text(printable_line(line) + "\n");
}

void print_text(std::string_view text) {
    note_error(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void be_quiet() {
    quiet = true;
}

bool is_quiet() {
    return quiet;
}

void say(std::string_view line) {
    if (!quiet) print_line(line);
}

void print_json(const nlohmann::ordered_json &json) {
    print_text(printable_json(json) + "\n");
}

void complain(std::string_view line) {
    std::fputs(("cairn: " + printable_line(line) + "\n").c_str(), stderr);
}

void pass_on(std::string_view text) {
    std::fputs(printable_text(text).c_str(), stderr);
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

bool is_confirmed(const std::string &question) {
    if (!is_terminal(STDIN_FILENO) || !is_terminal(STDERR_FILENO)) return true;
    write_to_standard_error(printable_line(question) + " [y/N] ");
    std::string answer;
    for (int next = std::getchar(); next != EOF && next != '\n'; next = std::getchar()) {
        answer += static_cast<char>(next);
    }
    return answer == "y" || answer == "Y" || answer == "yes";
}

Progress::Progress(std::string what, uint64_t total) : what_(std::move(what)), total_(total) {
    if (!quiet && is_capable_terminal()) (void)worker_.wake();
}

void Progress::show() {
    bool is_shown = false;
    for (uint64_t pause_ms = kFirstAfterMs; worker_.wait_until(Deadline::in_ms(pause_ms));
         pause_ms = kNextAfterMs) {
        if (!is_in_background()) {
            write_to_standard_error(std::string(kErase) + line());
            is_shown = true;
        }
    }
    if (is_shown) write_to_standard_error(kErase);
}

std::string Progress::line() const {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
    const uint64_t done = std::min(done_.load(std::memory_order_relaxed), total_);
    const std::string share = total_ == 0
                                  ? ""
                                  : fmt::format(", {:.0f} %", 100 * static_cast<double>(done) /
                                                                  static_cast<double>(total_));
    const std::string text = fmt::format("{}: {} s{}", what_, seconds.count(), share);
    return printable_line(text.substr(0, columns()));
}

}  // namespace cairn::cli
