// SPDX-License-Identifier: MIT
// Several processes of an application that start at once, with CAIRN_EGL_LEASE: each program is
// linked by one of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "runner.h"
#include "support/process.h"
#include "support/shared.h"

namespace gl_test {
namespace {

constexpr unsigned kProcesses = 3;
constexpr const char *kScenario = "uniforms_and_blocks";
const Environment kWaiting = {{"CAIRN_EGL_LEASE", "60000"}};

struct Board {
    std::atomic<unsigned> ready;
    std::array<cairn::RunReport, kProcesses> reports;
};

class LeaseTest : public testing::TestWithParam<WindowSystem> {};

TEST_P(LeaseTest, ProcessesThatStartAtOnceLinkEachProgramOnce) {
    SKIP_WITHOUT(GetParam());
    Stage alone(GetParam());
    const std::string transcript = alone.plain(kScenario).transcript;
    const Played cold = alone.cached(kScenario, kWaiting);
    const Played warm = alone.cached(kScenario, kWaiting);
    EXPECT_EQ(cold.transcript, transcript);
    ASSERT_GT(cold.report.misses, warm.report.misses);

    const Stage shared(GetParam());
    const cairn_test::Shared<Board> board;
    std::vector<cairn_test::Child> children;
    for (unsigned i = 0; i < kProcesses; ++i) {
        children.emplace_back([&, i] {
            Stage own(GetParam());
            Environment environment = kWaiting;
            environment["CAIRN_DIR"] = shared.cache_root();
            ++board->ready;
            while (board->ready < kProcesses) usleep(100);
            const Played played = own.cached(kScenario, environment);
            board->reports[i] = played.report;
            return played.status.empty() && played.transcript == transcript ? 0 : 1;
        });
    }
    cairn::RunReport sum = {};
    for (unsigned i = 0; i < kProcesses; ++i) {
        EXPECT_EQ(cairn_test::describe_status(children[i].wait()), "");
        sum.misses += board->reports[i].misses;
        sum.hits += board->reports[i].hits;
    }
    // Each process links by itself the programs that even a full cache does not have.
    EXPECT_EQ(sum.misses, cold.report.misses + (kProcesses - 1) * warm.report.misses);
    EXPECT_EQ(sum.hits, cold.report.hits + (kProcesses - 1) * warm.report.hits);
}

INSTANTIATE_TEST_SUITE_P(Both, LeaseTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
