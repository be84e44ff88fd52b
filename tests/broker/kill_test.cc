// Broker and clients are killed at random instants. The long form is a part of `make torture`.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "broker/torture.h"

namespace cairn_test {
namespace {

TEST(BrokerKill, LosesNothingThatWasConfirmedAndSpoilsNothing) {
    BrokerTortureOptions options;
    options.kills = 30;
    options.seed = 5;
    const BrokerTortureResult result = run_broker_torture(options);
    EXPECT_EQ(result.kills, options.kills);
    EXPECT_GT(result.confirmed, 0u);
    EXPECT_EQ(result.lost, 0u);
    EXPECT_EQ(result.wrong, 0u);
}

}  // namespace
}  // namespace cairn_test
