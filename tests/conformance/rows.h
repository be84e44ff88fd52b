// SPDX-License-Identifier: MIT
// Shared by the suites: collects what a row finds, chooses the rows, prints and counts them.
// Thread safety: externally synchronised.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

// Collects what does not hold. Each suite's Verdict adds checks of its own.
class Findings {
  public:
    void expect(bool holds, const std::string &what) {
        if (!holds) {
            failures_.append(failures_.empty() ? "" : "; ").append(what);
        }
    }
    const std::string &failures() const { return failures_; }

  private:
    std::string failures_;
};

enum class Outcome { right, departure, differs, absent, wrong, count };

struct Judged {
    Outcome outcome;
    std::string why;
};

template <typename Row>
std::vector<Row> joined(std::initializer_list<std::span<const Row>> groups) {
    std::vector<Row> all;
    for (const auto rows : groups) {
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

template <typename Row>
int list_rows(const std::vector<Row> &rows) {
    for (const Row &row : rows) {
        std::puts(row.name);
    }
    return 0;
}

// Judges the rows of these names, or all without any; one line a row, and one with the counts.
// `judge` gives a Judged for a row. Returns the exit code.
template <typename Row, typename Judge>
int judge_rows(const std::vector<Row> &rows, std::span<char *> names, const char *suite,
               const std::string &subject, Judge judge) {
    constexpr const char *kWords[] = {"right", "departure", "differs", "absent", "WRONG"};
    std::array<int, size_t(Outcome::count)> counts = {};
    const auto count = [&](Outcome outcome) -> int & { return counts[size_t(outcome)]; };
    for (const Row &row : rows) {
        const auto is_it = [&](const char *name) { return std::string_view(name) == row.name; };
        if (!names.empty() && std::none_of(names.begin(), names.end(), is_it)) {
            continue;
        }
        const Judged judged = judge(row);
        ++count(judged.outcome);
        std::printf("row %-9s %s %s%s%s\n", kWords[size_t(judged.outcome)], suite, row.name,
                    judged.why.empty() ? "" : ": ", judged.why.c_str());
        std::fflush(stdout);
    }
    std::printf("rows %s%s: %d right, %d decided departures, %d absent, %d wrong\n", suite,
                subject.c_str(), count(Outcome::right),
                count(Outcome::departure) + count(Outcome::differs), count(Outcome::absent),
                count(Outcome::wrong));
    return count(Outcome::wrong) == 0 && count(Outcome::right) > 0 ? 0 : 1;
}

}  // namespace conformance
