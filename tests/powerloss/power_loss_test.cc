// The power goes at any call of a cache's life, several times. After each start nothing wrong is
// ever found, all that was synced is there, and the cache takes new entries.
// SPDX-License-Identifier: MIT
//
// Longer: CAIRN_POWER_LOSSES=N runs N lives of each kind, CAIRN_SEED=S begins with that one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "powerloss/life.h"

namespace cairn_test {
namespace {

std::uint64_t number_from(const char *variable, std::uint64_t otherwise) {
    const char *text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void live(const LifeOptions &options, std::uint64_t lives) {
    const std::uint64_t first = number_from("CAIRN_SEED", 1);
    lives = number_from("CAIRN_POWER_LOSSES", lives);
    unsigned failed = 0;
    for (std::uint64_t seed = first; seed < first + lives && failed < 5; ++seed) {
        const std::string complaint = Life(options, seed).run();
        if (complaint.empty()) continue;
        ADD_FAILURE() << "CAIRN_SEED=" << seed << " CAIRN_POWER_LOSSES=1: " << complaint;
        ++failed;
    }
}

TEST(PowerLoss, KeepsWhatWasSyncedAndNothingWrong) {
    live({}, 60);
}

TEST(PowerLoss, OfFewKeysThatAreReplacedAllTheTimeKeepsTheLatestSynced) {
    LifeOptions options;
    options.keys = 4;
    options.value_size = 300;
    live(options, 60);
}

TEST(PowerLoss, WhileTheSegmentsAreSearchedGivesNoValueThatNobodyStored) {
    LifeOptions options;
    options.busy = true;
    live(options, 40);
}

TEST(PowerLoss, WhileTheIndexGrowsLosesNothingSynced) {
    LifeOptions options;
    options.many = true;
    options.boots = 3;
    live(options, 6);
}

TEST(PowerLoss, WhileEntriesAreGivenUpLosesNoneThatWasKept) {
    LifeOptions options;
    options.evicts = true;
    options.operations = 400;
    options.keys = 150;
    options.value_size = 6000;
    live(options, 20);
}

}  // namespace
}  // namespace cairn_test
