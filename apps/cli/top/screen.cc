// SPDX-License-Identifier: MIT
#include "top/screen.h"

#include <curses.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <set>

#include "output.h"
#include "top/known_terminal.h"

namespace cairn::cli {
namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile std::sig_atomic_t g_is_asked_to_end = 0;

void note_signal(int) {
    g_is_asked_to_end = 1;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-"
                      : fmt::format("{:.1f} %",
                                    100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string time_of_day(std::uint64_t time_ns) {
    const std::string text = format_time(time_ns / 1'000'000);
    return text.substr(std::min<std::size_t>(text.size(), 11));
}

// Several processes of one, and several caches of a process, have a run each.
std::size_t applications_in(const LiveSample &sample) {
    std::set<std::string_view> names;
    for (const LiveRun &run : sample.runs) names.insert(run.known.application);
    return names.size();
}

std::string run_line(const LiveRun &run) {
    const Numbers &numbers = run.known.run.numbers;
    const std::string now = run.making_for_ns == 0 ? "-" : format_duration_ns(run.making_for_ns);
    return fmt::format("{:<24} {:>7} {:>8.1f} {:>8} {:>9} {:>9} {:>10} {:>8} {:>10} {:>9} {:>8}",
                       fitted(run.known.application, 24), run.known.run.process, run.lookups_per_s,
                       percent(numbers.hits(), numbers.lookups()), numbers.hits(),
                       numbers.lookups() - numbers.hits(), now, run.known.run.queued_entries,
                       format_duration_ns(numbers[Number::saved_ns]), format_bytes(run.disk_bytes),
                       numbers[Number::evicted]);
}

}  // namespace

std::string fitted(std::string_view text, std::size_t columns) {
    const std::string printable = printable_line(text);
    if (columns == 0) return printable;
    // Of characters of several bytes, those that follow the first take no room.
    std::size_t width = 0, end = 0;
    while (end < printable.size()) {
        std::size_t next = end + 1;
        while (next < printable.size() && (printable[next] & 0xc0) == 0x80) ++next;
        if (width == columns) break;
        ++width;
        end = next;
    }
    return printable.substr(0, end);
}

std::vector<ScreenLine> lines_of(const std::string &root, const LiveSample &sample,
                                 const ShownMisses &misses, std::size_t rows, std::size_t columns) {
    using Kind = ScreenLine::Kind;
    std::vector<ScreenLine> lines;
    const auto add = [&](std::string text, Kind kind = Kind::plain) {
        if (rows == 0 || lines.size() < rows) lines.push_back({fitted(text, columns), kind});
    };
    add(fmt::format("cairn top - {}  {} running, {:.1f} look-ups/s, {} from the cache, {} saved",
                    time_of_day(sample.time_ns),
                    format_count(applications_in(sample), "application", "applications"),
                    sample.lookups_per_s, percent(sample.total.hits(), sample.total.lookups()),
                    format_duration_ns(sample.total[Number::saved_ns])),
        Kind::title);
    add(fmt::format("{}{} in {} below {}",
                    sample.queued_entries == 0
                        ? ""
                        : fmt::format("{} ({}) not on disk yet; ",
                                      format_count(sample.queued_entries, "entry", "entries"),
                                      format_bytes(sample.queued_bytes)),
                    format_bytes(sample.disk_bytes), format_count(sample.caches, "cache", "caches"),
                    root));
    add("");
    add(fmt::format("{:<24} {:>7} {:>8} {:>8} {:>9} {:>9} {:>10} {:>8} {:>10} {:>9} {:>8}",
                    "APPLICATION", "PROCESS", "LOOKUP/S", "HITS %", "HITS", "MISSES", "MAKING NOW",
                    "QUEUED", "SAVED", "DISK", "EVICTED"),
        Kind::heading);
    for (const LiveRun &run : sample.runs) add(run_line(run));
    if (sample.runs.empty()) {
        add("No application has linked a program through Cairn and goes on.");
    }
    if (misses.empty()) return lines;
    add("");
    add(fmt::format("{:<8} {:<24} {:>9}  {}", "TIME", "COMPILED BY", "COST", "WHY"), Kind::heading);
    for (const LiveMiss &miss : misses) {
        const Link &link = miss.link.link;
        add(fmt::format("{:<8} {:<24} {:>9}  {}{}{}", time_of_day(miss.link.time_ns),
                        fitted(miss.application, 24), format_cost_ns(link.cost_ns),
                        outcome_words(link.outcome), miss.details.empty() ? "" : ": ",
                        miss.details));
    }
    return lines;
}

Terminal::Terminal() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
        throw Failure(kExitUsage,
                      "standard output is no terminal; `cairn top --once` prints one sample");
    }
    std::setlocale(LC_CTYPE, "");
    for (const int signal : kEndingSignals) std::signal(signal, note_signal);
    // Where it knows no such terminal, initscr() prints and exits by itself, and newterm() loses memory.
    if (!is_known_terminal() || newterm(nullptr, stdout, stdin) == nullptr) {
        const char *name = std::getenv("TERM");
        throw Failure(kExitUsage,
                      "the terminal `{}` is not known here; set TERM, or use `cairn top --once`",
                      name == nullptr ? "" : name);
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
}

Terminal::~Terminal() {
    endwin();
}

std::size_t Terminal::rows() const {
    return static_cast<std::size_t>(std::max(LINES, 1));
}

std::size_t Terminal::columns() const {
    return static_cast<std::size_t>(std::max(COLS, 1));
}

void Terminal::show(const std::vector<ScreenLine> &lines) {
    erase();
    for (std::size_t i = 0; i < std::min(lines.size(), rows()); ++i) {
        const bool is_plain = lines[i].kind == ScreenLine::Kind::plain;
        const attr_t attributes = lines[i].kind == ScreenLine::Kind::heading ? A_REVERSE : A_BOLD;
        if (!is_plain) attron(attributes);
        mvaddstr(static_cast<int>(i), 0, lines[i].text.c_str());
        if (!is_plain) attroff(attributes);
    }
    refresh();
}

Terminal::Event Terminal::wait(unsigned milliseconds) {
    timeout(static_cast<int>(milliseconds));
    const int key = getch();
    if (g_is_asked_to_end != 0) return Event::quit;
    constexpr int kEscape = 27;
    if (key == 'q' || key == 'Q' || key == kEscape) return Event::quit;
    if (key == KEY_RESIZE) return Event::resized;
    // A terminal that is gone answers at once.
    if (key == ERR && (isatty(STDIN_FILENO) == 0 || feof(stdin) != 0)) return Event::quit;
    return Event::none;
}

}  // namespace cairn::cli
