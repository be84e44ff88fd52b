// SPDX-License-Identifier: MIT
#include "bench/harness/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>

#include "bench/harness/stats.h"

namespace bench {
namespace {

constexpr const char *kRivals[] = {"lmdb", "limit-mmap"};

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// "p50_ns" is shown in microseconds, "disk_bytes" in megabytes.
std::string heading(const std::string &metric) {
    if (ends_with(metric, "_ns")) {
        return metric.substr(0, metric.size() - 3) + " us";
    }
    if (ends_with(metric, "_bytes")) {
        return metric.substr(0, metric.size() - 6) + " MB";
    }
    if (ends_with(metric, "_per_s")) {
        return metric.substr(0, metric.size() - 6) + "/s";
    }
    return metric;
}

template <typename Value>
void add_once(std::vector<Value> &list, const Value &value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) {
        list.push_back(value);
    }
}

}  // namespace

std::string format_number(double value) {
    char text[48];
    double size = std::fabs(value);
    if (value == std::floor(value) && size < 1e4) {
        std::snprintf(text, sizeof(text), "%.0f", value);
    } else if (size >= 1e6) {
        std::snprintf(text, sizeof(text), "%.2fM", value / 1e6);
    } else if (size >= 1e4) {
        std::snprintf(text, sizeof(text), "%.1fk", value / 1e3);
    } else {
        int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
        std::snprintf(text, sizeof(text), "%.*f", decimals, value);
    }
    return text;
}

std::string format_value(const std::string &metric, double value) {
    if (ends_with(metric, "_ns")) {
        return format_number(value / 1e3);
    }
    if (ends_with(metric, "_bytes")) {
        return format_number(value / 1e6);
    }
    return format_number(value);
}

double Row::value() const {
    switch (summary) {
        case Summary::worst:
            return *std::max_element(rounds.begin(), rounds.end());
        case Summary::sum:
            return std::accumulate(rounds.begin(), rounds.end(), 0.0);
        case Summary::median:
            break;
    }
    return median(rounds);
}

void Report::add(const std::string &workload, const std::string &engine, std::uint64_t entries,
                 const std::string &metric, double value, Summary summary) {
    for (Row &row : rows_) {
        if (row.workload == workload && row.engine == engine && row.entries == entries &&
            row.metric == metric) {
            row.rounds.push_back(value);
            return;
        }
    }
    rows_.push_back({workload, engine, entries, metric, summary, {value}});
}

const Row *Report::find(const std::string &workload, const std::string &engine,
                        std::uint64_t entries, const std::string &metric) const {
    for (const Row &row : rows_) {
        if (row.workload == workload && row.engine == engine && row.entries == entries &&
            row.metric == metric) {
            return &row;
        }
    }
    return nullptr;
}

std::optional<double> Report::value(const std::string &workload, const std::string &engine,
                                    std::uint64_t entries, const std::string &metric) const {
    const Row *row = find(workload, engine, entries, metric);
    return row == nullptr ? std::nullopt : std::optional(row->value());
}

std::optional<double> Report::ratio(const std::string &workload, const std::string &engine,
                                    const std::string &rival, std::uint64_t entries,
                                    const std::string &metric) const {
    const Row *ours = find(workload, engine, entries, metric);
    const Row *theirs = find(workload, rival, entries, metric);
    if (ours == nullptr || theirs == nullptr) {
        return std::nullopt;
    }
    if (ours->rounds.size() != theirs->rounds.size()) {
        return ours->value() / theirs->value();
    }
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours->rounds.size(); ++i) {
        if (theirs->rounds[i] != 0) {
            ratios.push_back(ours->rounds[i] / theirs->rounds[i]);
        }
    }
    return ratios.empty() ? std::nullopt : std::optional(median(ratios));
}

std::vector<std::uint64_t> Report::sizes(const std::string &workload) const {
    std::set<std::uint64_t> sizes;
    for (const Row &row : rows_) {
        if (row.workload == workload) {
            sizes.insert(row.entries);
        }
    }
    return {sizes.begin(), sizes.end()};
}

void Report::print(const std::string &workload, const std::string &ratio_metric) const {
    for (std::uint64_t entries : sizes(workload)) {
        print_size(workload, entries, ratio_metric);
    }
    std::fflush(stdout);
}

void Report::print_size(const std::string &workload, std::uint64_t entries,
                        const std::string &ratio_metric) const {
    std::vector<std::string> engines;
    std::vector<std::string> metrics;
    for (const Row &row : rows_) {
        if (row.workload == workload && row.entries == entries) {
            add_once(engines, row.engine);
            add_once(metrics, row.metric);
        }
    }
    std::vector<std::vector<std::string>> cells(1, {"engine"});
    for (const std::string &metric : metrics) {
        cells[0].push_back(heading(metric));
    }
    std::vector<std::string> rivals;
    for (const char *rival : kRivals) {
        if (find(workload, rival, entries, ratio_metric) != nullptr) {
            rivals.emplace_back(rival);
            cells[0].push_back(ratio_metric + " x " + rival);
        }
    }
    for (const std::string &engine : engines) {
        std::vector<std::string> line{engine};
        for (const std::string &metric : metrics) {
            auto found = value(workload, engine, entries, metric);
            line.push_back(found ? format_value(metric, *found) : "-");
        }
        for (const std::string &rival : rivals) {
            auto found = ratio(workload, engine, rival, entries, ratio_metric);
            line.push_back(found ? format_number(*found) : "-");
        }
        cells.push_back(std::move(line));
    }
    std::printf("\n%s, %llu entries\n\n", workload.c_str(),
                static_cast<unsigned long long>(entries));
    print_table(cells);
}

void Report::write_json(const std::filesystem::path &path) const {
    auto list = nlohmann::json::array();
    for (const Row &row : rows_) {
        list.push_back({{"workload", row.workload},
                        {"engine", row.engine},
                        {"entries", row.entries},
                        {"metric", row.metric},
                        {"value", row.value()},
                        {"rounds", row.rounds.size()}});
    }
    std::ofstream file(path);
    file << list.dump(1) << '\n';
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

void print_table(const std::vector<std::vector<std::string>> &cells) {
    std::vector<std::size_t> widths(cells.front().size(), 3);
    for (const auto &line : cells) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], line[i].size());
        }
    }
    for (std::size_t row = 0; row < cells.size(); ++row) {
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const int width = static_cast<int>(widths[i]);
            std::printf(i == 0 ? "| %-*s |" : " %*s |", width, cells[row][i].c_str());
        }
        std::printf("\n");
        for (std::size_t i = 0; row == 0 && i < widths.size(); ++i) {
            std::string rule(widths[i], '-');
            std::printf(i == 0 ? "|-%s-|" : "-%s:|", rule.c_str());
        }
        if (row == 0) {
            std::printf("\n");
        }
    }
}

}  // namespace bench
