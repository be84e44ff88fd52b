// SPDX-License-Identifier: MIT
// The report of `cairn run` at exit: a few lines for people, JSON for programs.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/run_report.h"
#include "text.h"
#include "witness.h"

namespace cairn::cli {

struct RunResult {
    Words command;
    int exit_code = 0;                    // of `cairn run`
    std::optional<int> signal;            // that ended the application
    uint64_t wall_ns = 0;                 // from start to end of the application
    Seen seen;                            // of its processes, while none used the front end
    std::string root;                     // directory that holds the caches
    std::optional<std::string> manifest;  // of the front end; none: ran uncached
    std::string problem;  // why it ran uncached, or was not started; empty: it ran cached
    RunReport report = {};
};

// Lines without the line end and without "cairn: " in front; at least one.
Words report_lines(const RunResult &result);

// The object that docs/cli.md describes.
nlohmann::ordered_json report_json(const RunResult &result);

}  // namespace cairn::cli
