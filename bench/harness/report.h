// Collects what was measured, round by round; prints tables and writes the JSON list.
// Thread safety: externally synchronised.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// How the rounds of one metric become one value.
enum class Summary { median, worst, sum };

struct Row {
    std::string workload;
    std::string engine;
    std::uint64_t entries;
    std::string metric;  // ends in its unit: _ns, _per_s, _bytes, ...
    Summary summary;
    std::vector<double> rounds;

    double value() const;
};

class Report {
  public:
    void add(const std::string &workload, const std::string &engine, std::uint64_t entries,
             const std::string &metric, double value, Summary summary = Summary::median);

    std::optional<double> value(const std::string &workload, const std::string &engine,
                                std::uint64_t entries, const std::string &metric) const;
    // The median over rounds of engine / rival, each round by itself: what disturbs a round
    // disturbs both.
    std::optional<double> ratio(const std::string &workload, const std::string &engine,
                                const std::string &rival, std::uint64_t entries,
                                const std::string &metric) const;
    // The numbers of entries a workload was measured with, ascending.
    std::vector<std::uint64_t> sizes(const std::string &workload) const;

    // Prints one table per number of entries, with ratios to the two rivals behind `ratio_metric`
    // where it is measured.
    void print(const std::string &workload, const std::string &ratio_metric) const;
    void write_json(const std::filesystem::path &path) const;

    const std::vector<Row> &rows() const { return rows_; }

  private:
    const Row *find(const std::string &workload, const std::string &engine, std::uint64_t entries,
                    const std::string &metric) const;
    void print_size(const std::string &workload, std::uint64_t entries,
                    const std::string &ratio_metric) const;

    std::vector<Row> rows_;
};

// Prints `cells` in aligned columns, as a Markdown table; the first line is the heading.
void print_table(const std::vector<std::vector<std::string>> &cells);

// Three significant digits, in the unit that the metric's name ends in (nanoseconds as
// microseconds).
std::string format_value(const std::string &metric, double value);
std::string format_number(double value);

}  // namespace bench
