// SPDX-License-Identifier: MIT
#include "over_time.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "caches.h"
#include "os/root.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr std::uint64_t kWeek = 7;
constexpr std::array<std::pair<const char *, Span>, 3> kSpans = {
    {{"today", Span::today}, {"week", Span::week}, {"all", Span::all}}};

const char *words_for(Span span) {
    constexpr std::array kWords = {"today", "in the last 7 days", "since counting began"};
    return kWords[static_cast<std::size_t>(span)];
}

// By application, sorted, and there by generation.
struct Sums {
    Numbers total;
    std::map<std::uint64_t, Numbers> by_generation;
    Numbers earlier;  // of days that are too long ago, whose generations are not known any more
};

std::map<std::string, Sums> sums_of(const std::vector<DayRow> &rows) {
    std::map<std::string, Sums> sums;
    for (const DayRow &row : rows) {
        Sums &sum = sums[row.application];
        sum.total += row.numbers;
        (row.day == kEarlierDay ? sum.earlier : sum.by_generation[row.generation]) += row.numbers;
    }
    return sums;
}

Numbers total_of(const std::vector<DayRow> &rows) {
    Numbers total;
    for (const DayRow &row : rows) total += row.numbers;
    return total;
}

std::uint64_t compile_ns(const Numbers &numbers) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (!is_hit(outcome)) sum += numbers.ns(outcome);
    }
    return sum;
}

// "12 of 16 programs from the cache (75.0 %)"
std::string rate_text(const Numbers &numbers) {
    const std::uint64_t lookups = numbers.lookups();
    std::string text = fmt::format("{} of {} from the cache", numbers.hits(),
                                   format_count(lookups, "program", "programs"));
    if (lookups > 0) {
        text += fmt::format(" ({:.1f} %)", 100.0 * static_cast<double>(numbers.hits()) /
                                               static_cast<double>(lookups));
    }
    return text;
}

// Not those that nobody had.
std::string outcomes_text(const Numbers &numbers, bool hits) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (is_hit(outcome) != hits || numbers.count(outcome) == 0) continue;
        parts.push_back(fmt::format("{} {}", numbers.count(outcome), outcome_words(outcome)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string time_text(const Numbers &numbers) {
    return fmt::format("about {} saved; compiling took {}",
                       format_duration_ns(numbers[Number::saved_ns]),
                       format_duration_ns(compile_ns(numbers)));
}

std::string stored_text(const Numbers &numbers) {
    std::string text =
        fmt::format("{} stored ({})", format_count(numbers[Number::stored], "entry", "entries"),
                    format_bytes(numbers[Number::bytes_written]));
    if (numbers[Number::store_failed] != 0) {
        text += fmt::format(", {} could not be", numbers[Number::store_failed]);
    }
    text += fmt::format("; {} evicted; {} read", numbers[Number::evicted],
                        format_bytes(numbers[Number::bytes_read]));
    if (numbers[Number::starts] != 0) {
        text +=
            fmt::format("; by {}", format_count(numbers[Number::starts], "process", "processes"));
    }
    return text;
}

void print_numbers(const Numbers &numbers) {
    print_line("    {}", rate_text(numbers));
    if (numbers.hits() > 0) print_line("    found: {}", outcomes_text(numbers, true));
    if (numbers.lookups() > numbers.hits()) {
        print_line("    compiled: {}", outcomes_text(numbers, false));
    }
    print_line("    {}", time_text(numbers));
    print_line("    {}", stored_text(numbers));
}

std::string shown(const std::string &application) {
    return application.empty() ? kOtherApplications : application;
}

std::string generation_text(std::uint64_t generation) {
    return fmt::format("{:016x}", generation);
}

void print_generations(const Sums &sums) {
    const auto print = [](const std::string &what, const Numbers &numbers) {
        print_line("    {}: {}; {}", what, rate_text(numbers), time_text(numbers));
    };
    for (const auto &[generation, numbers] : sums.by_generation) {
        print(generation == 0 ? "of no generation" : "generation " + generation_text(generation),
              numbers);
    }
    if (sums.earlier.values != Numbers().values) print("earlier", sums.earlier);
}

nlohmann::ordered_json json_of(const Numbers &numbers) {
    nlohmann::ordered_json outcomes = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (numbers.count(outcome) == 0 && numbers.ns(outcome) == 0) continue;
        outcomes[outcome_name(outcome)] = {{"programs", numbers.count(outcome)},
                                           {"spent_ns", numbers.ns(outcome)}};
    }
    return {{"lookups", numbers.lookups()},
            {"hits", numbers.hits()},
            {"outcomes", outcomes},
            {"saved_ns", numbers[Number::saved_ns]},
            {"compile_ns", compile_ns(numbers)},
            {"stored", numbers[Number::stored]},
            {"store_failed", numbers[Number::store_failed]},
            {"bytes_read", numbers[Number::bytes_read]},
            {"bytes_written", numbers[Number::bytes_written]},
            {"evicted", numbers[Number::evicted]},
            {"starts", numbers[Number::starts]}};
}

nlohmann::ordered_json json_of_generations(const Sums &sums) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    const auto add = [&](const nlohmann::ordered_json &name, const Numbers &numbers) {
        nlohmann::ordered_json &made = json.emplace_back();
        made["generation"] = name;
        made.update(json_of(numbers));
    };
    for (const auto &[generation, numbers] : sums.by_generation) {
        const nlohmann::ordered_json name = generation_text(generation);
        add(generation == 0 ? nlohmann::ordered_json() : name, numbers);
    }
    if (sums.earlier.values != Numbers().values) add("earlier", sums.earlier);
    return json;
}

nlohmann::ordered_json json_of(const std::vector<DayRow> &rows, ByGeneration by_generation) {
    nlohmann::ordered_json json;
    json["applications"] = nlohmann::ordered_json::array();
    for (const auto &[application, sums] : sums_of(rows)) {
        nlohmann::ordered_json &made = json["applications"].emplace_back();
        made["application"] =
            application.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(application);
        made.update(json_of(sums.total));
        if (by_generation == ByGeneration::yes) made["generations"] = json_of_generations(sums);
    }
    json["total"] = json_of(total_of(rows));
    return json;
}

// "2026-01-31"
std::string date_of(std::uint64_t day) {
    constexpr std::uint64_t kDayMax = 2'932'896;  // of the year 9999
    const auto seconds = static_cast<std::time_t>(std::min(day, kDayMax) * 86400);
    std::tm date = {};
    if (gmtime_r(&seconds, &date) == nullptr) return std::to_string(day);
    return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

}  // namespace

Span span_of(const std::string &text) {
    Words known;
    for (const auto &[name, span] : kSpans) {
        if (text == name) return span;
        known.emplace_back(name);
    }
    throw Failure(kExitUsage,
                  "`{}`: no such time; write today, week or all{}; see "
                  "`cairn stats --help`",
                  text, did_you_mean(text, known));
}

OverTime::OverTime(const std::string &root, std::string application)
    : root_(root), application_(std::move(application)), today_(counters_today()) {
    std::set<std::string> others;
    for (DayRow &row : read_counters(root)) {
        if (application_.empty() || row.application == application_ ||
            row.application == cli::application_name(application_)) {
            // As it will be when a process folds it.
            if (row.day + kCounterDays <= today_) row.day = kEarlierDay;
            rows_.push_back(std::move(row));
        } else if (!row.application.empty()) {
            others.insert(row.application);
        }
    }
    others_.assign(others.begin(), others.end());
}

std::vector<DayRow> OverTime::rows_of(Span span) const {
    if (span == Span::all) return rows_;
    const std::uint64_t days = span == Span::week ? kWeek : 1;
    std::vector<DayRow> rows;
    std::ranges::copy_if(rows_, std::back_inserter(rows), [&](const DayRow &row) {
        return row.day <= today_ && row.day + days > today_;
    });
    return rows;
}

std::string OverTime::none_yet() const {
    if (application_.empty()) {
        return fmt::format(
            "No numbers yet: no application has looked up a program with Cairn in {}.", root_);
    }
    return fmt::format(
        "No numbers yet of `{}`{}; {}.", application_, did_you_mean(application_, others_),
        others_.empty() ? "there are none of any application"
                        : fmt::format("there are numbers of {}", fmt::join(others_, ", ")));
}

void OverTime::print_summary() const {
    if (rows_.empty()) {
        print_line(none_yet());
        return;
    }
    for (const auto &[name, span] : kSpans) {
        const Numbers total = total_of(rows_of(span));
        print_line("{:<6} {}; {}", fmt::format("{}:", name), rate_text(total), time_text(total));
    }
}

void OverTime::print(Span span, ByGeneration by_generation) const {
    if (rows_.empty()) {
        print_line(none_yet());
        return;
    }
    const std::vector<DayRow> rows = rows_of(span);
    if (rows.empty()) {
        print_line("No program was looked up {}.", words_for(span));
        return;
    }
    const auto all = sums_of(rows);
    for (const auto &[application, sums] : all) {
        print_line(shown(application));
        print_numbers(sums.total);
        if (by_generation == ByGeneration::yes) print_generations(sums);
    }
    print_line("{} {}", format_count(all.size(), "application", "applications"), words_for(span));
    if (all.size() > 1) print_numbers(total_of(rows));
}

nlohmann::ordered_json OverTime::json(std::optional<Span> span, ByGeneration by_generation) const {
    nlohmann::ordered_json json;
    for (const auto &[name, each] : kSpans) {
        if (!span || *span == each) json[name] = json_of(rows_of(each), by_generation);
    }
    if (span) return json;
    std::map<std::uint64_t, std::vector<DayRow>> days;
    for (const DayRow &row : rows_) {
        if (row.day != kEarlierDay) days[row.day].push_back(row);
    }
    json["days"] = nlohmann::ordered_json::array();
    for (const auto &[day, rows] : days) {
        nlohmann::ordered_json &made = json["days"].emplace_back();
        made["day"] = date_of(day);
        made.update(json_of(rows, by_generation));
    }
    return json;
}

void forget_over_time(const std::string &root, const std::string &application, bool is_sure) {
    const std::string whose =
        application.empty() ? "all applications" : fmt::format("`{}`", application);
    if (!is_sure && !is_confirmed(fmt::format("Forget the numbers of {} in {}?", whose, root))) {
        throw Failure(kExitFailure, "nothing was changed");
    }
    const Status status = forget_counters(root, application_name(application));
    if (!status.ok()) {
        throw Failure(kExitFailure, "cannot forget the numbers in {}/{}: {}", root, kCountersName,
                      error_name(status.error()));
    }
    say(fmt::format("Forgot the numbers of {}", whose));
}

}  // namespace cairn::cli
