// SPDX-License-Identifier: MIT
// `cairn top`: what applications look up and compile, live in a terminal.
#include <algorithm>
#include <cstdlib>

#include "caches.h"
#include "command.h"
#include "os/environment.h"
#include "output.h"
#include "top/live.h"
#include "top/screen.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(q, Escape or Ctrl-C ends it. An application is shown from the first program that it links.

Examples:
  cairn top
  cairn top --interval 5
  cairn top --once | head -20

Exit codes: 0 ended; 2 wrong usage, or no terminal.)";

struct Options {
    bool once = false;
    std::optional<std::string> interval;
};

unsigned interval_ms(const Options &options) {
    if (!options.interval) return 1000;
    char *end = nullptr;
    const double seconds = std::strtod(options.interval->c_str(), &end);
    if (end == options.interval->c_str() || *end != '\0' || !(seconds >= 0.1 && seconds <= 3600)) {
        throw Failure(kExitUsage, "--interval `{}` is not from 0.1 to 3600 seconds",
                      *options.interval);
    }
    return static_cast<unsigned>(seconds * 1000);
}

// Rates need two samples.
int print_once(const std::string &root, unsigned milliseconds) {
    LiveView view(root);
    (void)view.sample();
    sleep_us(milliseconds * 1000);
    const LiveSample sample = view.sample();
    const ShownMisses misses(sample.misses.begin(), sample.misses.end());
    for (const ScreenLine &line : lines_of(root, sample, misses, 0, 0)) print_line(line.text);
    return kExitOk;
}

int show(const std::string &root, unsigned milliseconds) {
    constexpr std::size_t kMissesShown = 200;
    Terminal terminal;
    LiveView view(root);
    ShownMisses misses;
    LiveSample sample = view.sample();
    std::uint64_t next_ns = monotonic_ns();
    while (true) {
        terminal.show(lines_of(root, sample, misses, terminal.rows(), terminal.columns()));
        const std::uint64_t now_ns = monotonic_ns();
        const std::uint64_t left_ms = now_ns < next_ns ? (next_ns - now_ns) / 1'000'000 + 1 : 0;
        const auto event = terminal.wait(static_cast<unsigned>(left_ms));
        if (event == Terminal::Event::quit) return kExitOk;
        if (event == Terminal::Event::resized || monotonic_ns() < next_ns) continue;
        next_ns = monotonic_ns() + std::uint64_t{milliseconds} * 1'000'000;
        sample = view.sample();
        misses.insert(misses.begin(), sample.misses.begin(), sample.misses.end());
        if (misses.size() > kMissesShown) misses.resize(kMissesShown);
    }
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.flag("--once", options->once, "Print one sample and end, for pipes");
    take.value("--interval", options->interval, "Seconds between two looks (1)", "SECONDS");
    take.dir();
    return [options] {
        const unsigned milliseconds = interval_ms(*options);
        const std::string root = usable_root();
        return options->once ? print_once(root, milliseconds) : show(root, milliseconds);
    };
}

}  // namespace

const Command top_command = {"top", "Show live what applications look up and compile", kFooter,
                             define};

}  // namespace cairn::cli
