// Random calls on sessions, compared with a reference. `CAIRN_MODEL_SEED=n` repeats one seed.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "d3d12/sequence.h"
#include "support/random.h"

namespace d3d12_test {
namespace {

void run_seed(std::uint64_t seed) {
    std::vector<std::uint8_t> input(4000);
    cairn_test::Random(seed).fill(input);
    const SequenceResult result = play_sequence(input);
    EXPECT_EQ(result.difference, "") << "seed " << seed;
    EXPECT_GT(result.calls, 300u);
}

TEST(Model, SessionsAgreeWithTheReference) {
    if (const char *seed = std::getenv("CAIRN_MODEL_SEED")) {
        return run_seed(std::strtoull(seed, nullptr, 0));
    }
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        run_seed(seed);
    }
}

}  // namespace
}  // namespace d3d12_test
