// SPDX-License-Identifier: MIT
// What `cairn top` shows, as lines of text, and the terminal that it shows them in.
// Thread safety: used by main only.
// Failure: a Failure where there is no terminal that can be used.
#pragma once

#include <csignal>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "text.h"
#include "top/live.h"

namespace cairn::cli {

struct ScreenLine {
    enum class Kind { plain, title, heading };
    std::string text;
    Kind kind = Kind::plain;
};

// The newest first; those that a screen goes on showing.
using ShownMisses = std::deque<LiveMiss>;

// At most `rows` lines, each at most `columns` wide; 0: as many as there are.
std::vector<ScreenLine> lines_of(const std::string &root, const LiveSample &sample,
                                 const ShownMisses &misses, std::size_t rows, std::size_t columns);

// As wide as a terminal shows it; what does not fit is left out.
std::string fitted(std::string_view text, std::size_t columns);

// Takes the terminal over until it is destroyed, also when a signal asks the program to end.
class Terminal {
  public:
    Terminal();
    ~Terminal();
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;

    std::size_t rows() const;
    std::size_t columns() const;
    void show(const std::vector<ScreenLine> &lines);
    enum class Event { none, resized, quit };
    // Waits for a key or a signal.
    Event wait(unsigned milliseconds);
};

}  // namespace cairn::cli
