// SPDX-License-Identifier: MIT
// What processes have counted over time, for `cairn stats`: docs/formats/counters.md.
// Thread safety: used by main only.
// Failure: a Failure; a root without numbers is none.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/counters.h"

namespace cairn::cli {

// How far back. Days are those of UTC.
enum class Span { today, week, all };

// Throws a Failure where it is none of "today", "week" and "all".
Span span_of(const std::string &text);

enum class ByGeneration { no, yes };

// What those applications are called whose numbers had no room of their own any more.
inline constexpr const char *kOtherApplications = "(others)";

class OverTime {
  public:
    // Reads the numbers of an application, or of all where it is empty.
    OverTime(const std::string &root, std::string application);

    // One line for each span, as a part of `cairn stats`.
    void print_summary() const;
    // All numbers of a span, by application and together.
    void print(Span span, ByGeneration by_generation) const;
    // The member "over_time", see docs/cli.md: of one span, or all of them and the days.
    nlohmann::ordered_json json(std::optional<Span> span, ByGeneration by_generation) const;

  private:
    std::vector<DayRow> rows_of(Span span) const;
    std::string none_yet() const;

    const std::string root_;
    const std::string application_;
    const std::uint64_t today_;
    std::vector<DayRow> rows_;
    std::vector<std::string> others_;  // applications that have numbers, and are not shown
};

// Asks, unless `is_sure`, and forgets the numbers of an application, or of all where it is empty.
void forget_over_time(const std::string &root, const std::string &application, bool is_sure);

}  // namespace cairn::cli
