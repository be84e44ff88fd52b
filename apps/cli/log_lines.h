// What the library says in lines of a log, each once.
// SPDX-License-Identifier: MIT
// Thread safety: one thread. Lifetime: a Lines outlives the Log that writes to it.
#pragma once

#include <algorithm>

#include "text.h"

namespace cairn::cli {

// For a Log: Log(Lines::keep, &lines).
struct Lines {
    Words lines;
    static void keep(void *user, int, const char *line) {
        auto &lines = static_cast<Lines *>(user)->lines;
        if (std::ranges::find(lines, line) == lines.end()) lines.emplace_back(line);
    }
};

}  // namespace cairn::cli
