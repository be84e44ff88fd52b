// SPDX-License-Identifier: MIT
#include "bench/harness/budget.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr const char *kOurs = "cairn";

enum class Bound { at_most, at_least, below };

// A ratio to a rival's figure, or the figure itself where there is no rival.
struct Check {
    const char *row;
    const char *workload;
    const char *metric;
    const char *rival;
    Bound bound;
    double limit;
    double scale = 1;  // of the figure, for showing it
    const char *unit = "";
};

constexpr Check kChecks[] = {
    {"open + first hit", "open", "total_ns", "lmdb", Bound::at_most, 0.6},
    {"cold gets p50", "cold", "p50_ns", "lmdb", Bound::at_most, 0.6},
    {"cold gets p99", "cold", "p99_ns", "lmdb", Bound::at_most, 0.6},
    {"hot get p50", "get_copy", "p50_ns", "lmdb", Bound::at_most, 1.0},
    {"hot get mean", "get_copy", "mean_ns", "lmdb", Bound::at_most, 1.0},
    {"hot get Zipf mean", "get_copy", "zipf_mean_ns", "lmdb", Bound::at_most, 1.0},
    {"hot get p50", "get_copy", "p50_ns", "limit-mmap-xxh3", Bound::at_most, 1.3},
    {"hot get mean", "get_copy", "mean_ns", "limit-mmap-xxh3", Bound::at_most, 1.3},
    {"view mean", "get_view", "mean_ns", "lmdb", Bound::at_most, 0.3},
    {"view Zipf mean", "get_view", "zipf_mean_ns", "lmdb", Bound::at_most, 0.3},
    {"miss mean", "miss", "mean_ns", "lmdb", Bound::at_most, 0.2},
    {"put p50", "put", "p50_ns", "lmdb", Bound::at_most, 0.8},
    {"put p99", "put", "p99_ns", "lmdb", Bound::at_most, 0.8},
    {"put max, own work, worst round", "put", "own_max_worst_ns", nullptr, Bound::at_most, 5, 1e-6,
     " ms"},
    {"put into 100k p50", "put_full", "p50_ns", "lmdb", Bound::at_most, 0.8},
    {"put into 100k p99", "put_full", "p99_ns", "lmdb", Bound::at_most, 0.8},
    {"put into 100k max, own work", "put_full", "own_max_worst_ns", nullptr, Bound::at_most, 5,
     1e-6, " ms"},
    {"2 writers, writes/s", "processes", "w2_writes_per_s", "lmdb", Bound::at_least, 2},
    {"2 writers + 2 readers, writes/s", "processes", "r2w2_writes_per_s", "lmdb", Bound::at_least,
     2},
    {"reader's loss beside a writer", "processes", "reader_loss_percent", nullptr, Bound::below, 10,
     1, " %"},
    {"disk / payload", "disk", "disk_per_payload", nullptr, Bound::at_most, 1.05},
    {"50 flips: silently wrong", "damage", "flip_silently_wrong", nullptr, Bound::at_most, 0},
    {"50 flips: undamaged lost", "damage", "flip_undamaged_lost", nullptr, Bound::at_most, 0},
    {"50 flips: died", "damage", "flip_died", nullptr, Bound::at_most, 0},
    {"50 zeroed pages: silently wrong", "damage", "zero_silently_wrong", nullptr, Bound::at_most,
     0},
    {"50 zeroed pages: undamaged lost", "damage", "zero_undamaged_lost", nullptr, Bound::at_most,
     0},
    {"50 zeroed pages: died", "damage", "zero_died", nullptr, Bound::at_most, 0},
    {"cap 64 MiB: disk peak", "cap", "peak_bytes", nullptr, Bound::at_most, 64, 1.0 / (1 << 20),
     " MiB"},
    {"cap: hot kept", "cap", "hot_kept_percent", nullptr, Bound::at_least, 100, 1, " %"},
    {"cap: newest eighth kept", "cap", "newest_kept_percent", nullptr, Bound::at_least, 100, 1,
     " %"},
    {"cap: put max, own work, worst round", "cap", "put_own_max_worst_ns", nullptr, Bound::at_most,
     5, 1e-6, " ms"},
    {"kill -9: acknowledged lost", "kill", "lost", nullptr, Bound::at_most, 0},
};

// Noise of the medians of opening, as seen between runs of one engine and size.
constexpr double kFlatWithin = 1.3;

bool holds(Bound bound, double value, double limit) {
    switch (bound) {
        case Bound::at_least:
            return value >= limit;
        case Bound::below:
            return value < limit;
        case Bound::at_most:
            break;
    }
    return value <= limit;
}

std::string budget_text(const Check &check) {
    const char *sign = check.bound == Bound::at_least ? ">= "
                       : check.bound == Bound::below  ? "< "
                                                      : "<= ";
    std::string text = sign + format_number(check.limit);
    return check.rival != nullptr ? text + " x " + check.rival : text + check.unit;
}

std::optional<double> measure(const Report &report, const Check &check, std::uint64_t entries) {
    auto found = check.rival != nullptr
                     ? report.ratio(check.workload, kOurs, check.rival, entries, check.metric)
                     : report.value(check.workload, kOurs, entries, check.metric);
    return found ? std::optional(*found * check.scale) : std::nullopt;
}

class Verdicts {
  public:
    explicit Verdicts(Report &report) : report_(report) {}

    void add(const std::string &row, std::uint64_t entries, const std::string &budget,
             const std::string &metric, double value, bool met, const char *unit) {
        unmet_ += met ? 0 : 1;
        cells_.push_back({row, std::to_string(entries), budget, format_number(value) + unit,
                          met ? "met" : "NOT MET"});
        report_.add("budget", kOurs, entries, metric, value);
    }

    unsigned print() const {
        if (cells_.size() > 1) {
            std::printf("\n### budget, engine %s\n\n", kOurs);
            print_table(cells_);
        }
        return unmet_;
    }

  private:
    Report &report_;
    unsigned unmet_ = 0;
    std::vector<std::vector<std::string>> cells_{
        {"row", "entries", "budget", "measured", "verdict"}};
};

// Opening takes the same at every number of entries: the slowest median against the fastest.
void judge_flatness(const Report &report, Verdicts &verdicts) {
    std::vector<double> totals;
    auto sizes = report.sizes("open");
    for (std::uint64_t entries : sizes) {
        if (auto total = report.value("open", kOurs, entries, "total_ns")) {
            totals.push_back(*total);
        }
    }
    if (totals.size() > 1) {
        auto [least, most] = std::minmax_element(totals.begin(), totals.end());
        const double spread = *most / *least;
        verdicts.add("open: slowest size / fastest", sizes.back(),
                     "<= " + format_number(kFlatWithin), "open_spread", spread,
                     spread <= kFlatWithin, "");
    }
}

}  // namespace

unsigned judge_budget(Report &report) {
    Verdicts verdicts(report);
    for (const Check &check : kChecks) {
        for (std::uint64_t entries : report.sizes(check.workload)) {
            if (auto value = measure(report, check, entries)) {
                std::string metric = std::string(check.workload) + "_" + check.metric;
                if (check.rival != nullptr) {
                    metric += std::string("_x_") + check.rival;
                }
                verdicts.add(check.row, entries, budget_text(check), metric, *value,
                             holds(check.bound, *value, check.limit), check.unit);
            }
        }
    }
    judge_flatness(report, verdicts);
    return verdicts.print();
}

double cairn_failures(const Report &report) {
    double failures = 0;
    for (const Row &row : report.rows()) {
        const bool ours = row.engine.starts_with(kOurs);
        const bool failure = row.metric == "wrong" || row.metric.ends_with("_silently_wrong") ||
                             row.metric.ends_with("_died") || row.metric == "failed_reopen" ||
                             (row.workload == "kill" && row.metric == "lost");
        failures += ours && failure && row.workload != "budget" ? row.value() : 0;
    }
    return failures;
}

}  // namespace bench
