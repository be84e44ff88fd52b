// Processes that share a cache are killed at random instants. The long form is `make torture
// KILLS=1000`.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "crash/torture.h"

namespace cairn_test {
namespace {

class KilledProcesses : public testing::TestWithParam<Scenario> {};

TEST_P(KilledProcesses, LoseNothingAndSpoilNothing) {
    TortureOptions options;
    options.only = GetParam();
    options.kills = 40;
    options.kills_per_round = 20;
    options.seed = 7;
    const TortureResult result = run_torture(options);
    EXPECT_EQ(result.kills, options.kills);
    EXPECT_EQ(result.lost, 0u);
    EXPECT_EQ(result.wrong, 0u);
    EXPECT_EQ(result.failed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, KilledProcesses,
                         testing::Values(Scenario::mixed, Scenario::short_lived, Scenario::growth,
                                         Scenario::clear, Scenario::wipe, Scenario::rebuild,
                                         Scenario::full, Scenario::remember),
                         [](const auto &scenario) {
                             return std::string(scenario_name(scenario.param));
                         });

}  // namespace
}  // namespace cairn_test
