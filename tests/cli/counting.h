// SPDX-License-Identifier: MIT
// Counts as front ends do, and looks into the example of a dashboard.
// Thread safety: none needed. Failure: a failed expectation.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "history/counters.h"
#include "support/process.h"

namespace cairn::cli_test {

using Amounts = std::vector<std::pair<Number, std::uint64_t>>;

// In a process of its own, as of so many days ago.
inline void count(const std::string &root, const std::string &application, std::uint64_t generation,
                  std::uint64_t days_ago, const Amounts &amounts) {
    cairn_test::Child child([&] {
        pretend_day(counters_today() - days_ago);
        if (!open_counters(root)) return 1;
        DayTally tally(application, generation);
        for (const auto &[number, amount] : amounts) tally.add(number, amount);
        return 0;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
}

// What panels and variables of a dashboard ask Prometheus for.
inline std::vector<std::string> expressions_of(const nlohmann::json &json) {
    std::vector<std::string> found;
    if (json.is_object()) {
        for (const char *name : {"expr", "definition"}) {
            if (json.contains(name)) found.push_back(json[name].get<std::string>());
        }
    }
    if (json.is_structured()) {
        for (const auto &each : json) {
            for (std::string &expression : expressions_of(each)) {
                found.push_back(std::move(expression));
            }
        }
    }
    return found;
}

// The names of our metrics in an expression.
inline std::vector<std::string> metrics_in(const std::string &expression) {
    std::vector<std::string> names;
    for (std::size_t at = 0; (at = expression.find("cairn_", at)) != std::string::npos;) {
        const std::size_t end = expression.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
        names.push_back(expression.substr(at, end - at));
        at = std::min(end, expression.size());
    }
    return names;
}

}  // namespace cairn::cli_test
