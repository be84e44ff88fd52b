// SPDX-License-Identifier: MIT
// Pushes, pulls and tidying are killed at any of their system calls: nothing is listed that is not there whole, and the
// next one makes up for it.
#include <gmock/gmock.h>

#include <cstdint>

#include "cli/watched_program.h"
#include "fleet_fixture.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

constexpr const char *kDriver = "driver 1";
#ifdef __SANITIZE_ADDRESS__  // each start takes fifty times as long
constexpr std::uint64_t kStep = 61;
#else
constexpr std::uint64_t kStep = 5;
#endif

class KillTest : public FleetTest {
  protected:
    void SetUp() override {
        if (!cli_test::can_watch()) GTEST_SKIP() << "no process can be watched here";
    }
};

TEST_F(KillTest, APushThatIsKilledListsNothingThatIsNotThere) {
    first_.put_programs(kDriver, 0, 20);
    push(first_);
    first_.put_programs(kDriver, 20, 40);
    std::uint64_t kills = 0;
    for (std::uint64_t at = 1; cli_test::is_killed_at(at, push_words(), first_.environment());
         at += kStep) {
        ++kills;
        expect_whole(url_);
    }
    EXPECT_GT(kills, 5u);
    push(first_);
    expect_whole(url_);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 40), 40);
}

TEST_F(KillTest, APullThatIsKilledLeavesTheOldPackOrTheNewOne) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.start(kDriver);
    pull(second_);
    first_.put_programs(kDriver, 10, 20);
    push(first_);
    std::uint64_t kills = 0;
    for (std::uint64_t at = 1; cli_test::is_killed_at(at, pull_words(), second_.environment());
         at += kStep) {
        ++kills;
        const int found = second_.programs_found(kDriver, 0, 20);
        EXPECT_TRUE(found == 10 || found == 20) << found;
        if (found == 20) break;
    }
    EXPECT_GT(kills, 5u);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 20), 20);
}

}  // namespace
}  // namespace cairn::fleet_test
