// SPDX-License-Identifier: MIT
#include "bench/link/tables.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/harness/report.h"
#include "bench/harness/stats.h"

namespace bench {
namespace {

using Round = std::array<PlayedFamily, kConditions>;

constexpr auto kPlain = static_cast<std::size_t>(Condition::plain);
constexpr auto kCold = static_cast<std::size_t>(Condition::cold);
constexpr auto kWarm = static_cast<std::size_t>(Condition::warm);
constexpr auto kDriver = static_cast<std::size_t>(Condition::driver);

std::string number(int digits, double value) {
    std::array<char, 40> text = {};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

double median_of(const FamilyResult &result, const std::function<double(const Round &)> &value) {
    std::vector<double> values;
    for (const Round &round : result.rounds) values.push_back(value(round));
    return median(values);
}

// The build times of all programs in all rounds but the first of each process, in milliseconds.
std::vector<double> build_times(const FamilyResult &result, std::size_t condition) {
    std::vector<double> times;
    for (const Round &round : result.rounds) {
        const auto &programs = round[condition].programs;
        for (std::size_t i = 1; i < programs.size(); ++i) {
            times.push_back(static_cast<double>(build_ns(programs[i].spent.cpu_ns)) * 1e-6);
        }
    }
    return times;
}

// The median over programs and rounds of the ratio of two times from the same round; without the
// first program of each process.
double ratio(const FamilyResult &result, std::size_t one, std::size_t other) {
    std::vector<double> ones = build_times(result, one);
    const std::vector<double> others = build_times(result, other);
    for (std::size_t i = 0; i < ones.size(); ++i) ones[i] /= others[i];
    return median(ones);
}

// The same of each program's fastest round, summed over the programs: other programs on the machine
// disturb that least.
double fastest_ratio(const FamilyResult &result, std::size_t one, std::size_t other) {
    std::array<double, 2> sums = {};
    for (std::size_t i = 1; i < result.programs; ++i) {
        for (const std::size_t side : {0u, 1u}) {
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (const Round &round : result.rounds) {
                const PlayedFamily &played = round[side == 0 ? one : other];
                least = std::min(least, build_ns(played.programs[i].spent.cpu_ns));
            }
            sums[side] += static_cast<double>(least);
        }
    }
    return sums[0] / sums[1];
}

double first_ms(const PlayedFamily &played) {
    return static_cast<double>(build_ns(played.programs.front().spent.cpu_ns)) * 1e-6;
}

void print_times(const std::vector<FamilyResult> &results) {
    std::vector<std::vector<std::string>> cells = {{"family", "programs", "left out", "KB each",
                                                    "without", "p99", "cold", "p99", "warm", "p99",
                                                    "driver", "p99"}};
    for (const FamilyResult &result : results) {
        if (!result.is_measured) continue;
        auto &line = cells.emplace_back();
        line = {result.name, std::to_string(result.programs), std::to_string(result.left_out),
                number(1, result.source_bytes * 1e-3)};
        for (std::size_t condition = 0; condition < kConditions; ++condition) {
            std::vector<double> times = build_times(result, condition);
            line.push_back(number(3, percentile(times, 50)));
            line.push_back(number(3, percentile(times, 99)));
        }
    }
    std::printf(
        "\nFrom the sources to a linked program: ms of the calling thread's processor time "
        "for one program\n\n");
    print_table(cells);
}

// What the driver takes to give the binaries, of the time without Cairn.
double binary_percent(const FamilyResult &result) {
    std::int64_t binaries = 0, all = 0;
    for (const PlayedProgram &one : result.rounds.front()[kPlain].programs) {
        binaries += one.spent.cpu_ns[static_cast<std::size_t>(Phase::binary)];
        all += build_ns(one.spent.cpu_ns);
    }
    return 100 * static_cast<double>(binaries) / static_cast<double>(all);
}

void print_ratios(const std::vector<FamilyResult> &results) {
    std::vector<std::vector<std::string>> cells = {
        {"family", "warm / driver", "fastest", "warm / without, %", "cold overhead, %",
         "fastest, %", "with the first, %", "counted, %", "binary, %", "first link: cold +ms",
         "warm +ms", "other threads, cold +ms", "driver links warm", "differences"}};
    for (const FamilyResult &result : results) {
        auto &line = cells.emplace_back();
        line = {result.name};
        if (result.is_measured) {
            line.push_back(number(2, ratio(result, kWarm, kDriver)));
            line.push_back(number(2, fastest_ratio(result, kWarm, kDriver)));
            line.push_back(number(2, 100 * ratio(result, kWarm, kPlain)));
            line.push_back(number(1, 100 * (ratio(result, kCold, kPlain) - 1)));
            line.push_back(number(1, 100 * (fastest_ratio(result, kCold, kPlain) - 1)));
            line.push_back(number(1, median_of(result, [](const Round &r) {
                                      return 100 * (build_ms(r[kCold]) / build_ms(r[kPlain]) - 1);
                                  })));
            line.push_back(number(1, median_of(result, [](const Round &r) {
                                      return static_cast<double>(r[kCold].counters.overhead_ns) *
                                             1e-4 / build_ms(r[kPlain]);
                                  })));
            line.push_back(number(1, binary_percent(result)));
            line.push_back(number(2, median_of(result, [](const Round &r) {
                                      return first_ms(r[kCold]) - first_ms(r[kPlain]);
                                  })));
            line.push_back(number(2, median_of(result, [](const Round &r) {
                                      return first_ms(r[kWarm]) - first_ms(r[kDriver]);
                                  })));
            line.push_back(number(1, median_of(result, [](const Round &r) {
                                      return static_cast<double>(r[kCold].other_threads_ns -
                                                                 r[kPlain].other_threads_ns) *
                                             1e-6;
                                  })));
        } else {
            line.insert(line.end(), 11, "");
        }
        line.push_back(number(0, median_of(result, [](const Round &r) {
                                  return static_cast<double>(r[kWarm].counters.driver_links);
                              })));
        line.push_back(std::to_string(result.differences));
    }
    std::printf("\nRatios within each round, and of the fastest rounds\n\n");
    print_table(cells);
}

// Microseconds of one program on average; programs are drawn in the first round only.
double phase_us(const FamilyResult &result, std::size_t condition, std::size_t phase) {
    const auto mean_us = [&](const Round &round) {
        const auto &programs = round[condition].programs;
        double sum = 0;
        for (const PlayedProgram &one : programs) {
            sum += static_cast<double>(one.spent.cpu_ns[phase]) * 1e-3;
        }
        return sum / static_cast<double>(programs.size());
    };
    return phase >= static_cast<std::size_t>(Phase::draw) ? mean_us(result.rounds.front())
                                                          : median_of(result, mean_us);
}

void print_phases(const std::vector<FamilyResult> &results) {
    std::vector<std::vector<std::string>> cells = {{"family", "condition"}};
    cells[0].insert(cells[0].end(), kPhaseNames.begin(), kPhaseNames.end());
    for (const FamilyResult &result : results) {
        if (!result.is_measured) continue;
        for (std::size_t condition = 0; condition < kConditions; ++condition) {
            auto &line = cells.emplace_back();
            line = {result.name, kConditionNames[condition]};
            for (std::size_t phase = 0; phase < kPhases; ++phase) {
                line.push_back(number(1, phase_us(result, condition, phase)));
            }
        }
    }
    std::printf(
        "\nWhere the time goes: us of the calling thread's processor time for one program, "
        "on average over all\n\n");
    print_table(cells);
}

nlohmann::json round_json(const Round &round) {
    nlohmann::json json;
    for (std::size_t condition = 0; condition < kConditions; ++condition) {
        const PlayedFamily &played = round[condition];
        auto &one = json[kConditionNames[condition]];
        one["context_ns"] = played.context_ns;
        one["other_threads_ns"] = played.other_threads_ns;
        one["overhead_ns"] = played.counters.overhead_ns;
        one["driver_links"] = played.counters.driver_links;
        for (const PlayedProgram &program : played.programs) {
            one["programs"].push_back({{"name", program.name},
                                       {"cpu_ns", program.spent.cpu_ns},
                                       {"wall_ns", program.spent.wall_ns}});
        }
    }
    return json;
}

}  // namespace

void print_results(const std::vector<FamilyResult> &results) {
    print_times(results);
    print_ratios(results);
    print_phases(results);
    for (const FamilyResult &result : results) {
        if (result.differences > 0)
            std::printf("\nDIFFERENT: %s\n", result.first_difference.c_str());
    }
}

void write_results(const std::filesystem::path &path, const std::vector<FamilyResult> &results) {
    nlohmann::json json;
    json["phases"] = kPhaseNames;
    for (const FamilyResult &result : results) {
        auto &family = json["families"][result.name];
        family["programs"] = result.programs;
        family["left_out"] = result.left_out;
        family["differences"] = result.differences;
        for (const Round &round : result.rounds) family["rounds"].push_back(round_json(round));
    }
    std::ofstream file(path);
    file << json.dump(1) << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace bench
