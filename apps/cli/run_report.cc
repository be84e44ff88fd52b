// SPDX-License-Identifier: MIT
#include "run_report.h"

#include <fmt/format.h>

#include "text.h"

namespace cairn::cli {
namespace {

// Why there is nothing to tell; empty when there is.
std::string nothing_passed(const RunResult &result) {
    const cairn_report &report = result.report;
    if (!result.problem.empty()) {
        return fmt::format("ran uncached: {}", result.problem);
    }
    if (report.processes == 0) {
        return "no GL program passed through: the application did not use EGL "
               "(GLX, Vulkan and set-user-id programs are not covered)";
    }
    if (report.contexts == 0) {
        return "no GL program passed through: EGL was used, but no context was created";
    }
    if (report.link_calls == 0) {
        return fmt::format("no GL program passed through: {} created, but nothing was linked",
                           format_count(report.contexts, "context was", "contexts were"));
    }
    return "";
}

// The sum can be a little below zero where hits were slower than compiling; in the counter that is
// a huge number.
uint64_t saved_ns(const cairn_report &report) {
    return static_cast<int64_t>(report.saved_ns) < 0 ? 0 : report.saved_ns;
}

std::string outcome_line(const cairn_report &report) {
    std::string line = fmt::format("{} of {} from the cache", report.hits,
                                   format_count(report.link_calls, "program", "programs"));
    const auto add = [&line](uint64_t count, const char *what) {
        if (count > 0) {
            line += fmt::format(", {} {}", count, what);
        }
    };
    add(report.misses, "not found");
    add(report.rejected, "refused by the driver");
    add(report.bypassed, "of a kind that is not cached");
    if (report.stored > 0) {
        line += fmt::format("; {} stored", format_count(report.stored, "entry", "entries"));
    }
    return line;
}

std::string time_line(const cairn_report &report) {
    std::string line =
        fmt::format("{} and {} took {}", format_count(report.compile_calls, "compile", "compiles"),
                    format_count(report.link_calls, "link", "links"),
                    format_duration_ns(report.compile_ns + report.link_ns));
    if (report.hits > 0) {
        line += fmt::format("; about {} saved", format_duration_ns(saved_ns(report)));
    }
    return line;
}

nlohmann::ordered_json counters_json(const cairn_report &report) {
    return {{"processes", report.processes},
            {"contexts", report.contexts},
            {"compile_calls", report.compile_calls},
            {"compile_ns", report.compile_ns},
            {"link_calls", report.link_calls},
            {"link_ns", report.link_ns},
            {"driver_compiles", report.driver_compiles},
            {"driver_links", report.driver_links},
            {"hits", report.hits},
            {"misses", report.misses},
            {"rejected", report.rejected},
            {"stored", report.stored},
            {"store_failed", report.store_failed},
            {"bypassed", report.bypassed},
            {"saved_ns", saved_ns(report)},
            {"bytes_read", report.bytes_read},
            {"bytes_written", report.bytes_written},
            {"overhead_ns", report.overhead_ns}};
}

}  // namespace

std::vector<std::string> report_lines(const RunResult &result) {
    if (std::string reason = nothing_passed(result); !reason.empty()) {
        return {reason};
    }
    std::vector<std::string> lines = {outcome_line(result.report), time_line(result.report)};
    if (result.report.store_failed > 0) {
        lines.push_back(fmt::format(
            "{} could not be stored: the cache is full or cannot be written; see `cairn stats`",
            format_count(result.report.store_failed, "entry", "entries")));
    }
    return lines;
}

nlohmann::ordered_json report_json(const RunResult &result) {
    nlohmann::ordered_json json;
    json["cairn"] = cairn_version_string();
    json["command"] = result.command;
    json["exit_code"] = result.exit_code;
    json["signal"] = result.signal ? nlohmann::ordered_json(*result.signal) : nullptr;
    json["wall_ns"] = result.wall_ns;
    json["root"] = result.root;
    json["manifest"] = result.manifest ? nlohmann::ordered_json(*result.manifest) : nullptr;
    json["problem"] = result.problem.empty() ? nlohmann::ordered_json(nullptr)
                                             : nlohmann::ordered_json(result.problem);
    json["report"] = counters_json(result.report);
    return json;
}

}  // namespace cairn::cli
