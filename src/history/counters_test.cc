// SPDX-License-Identifier: MIT
#include "history/counters.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "history/testing/counters_fixture.h"
#include "os/deadline.h"
#include "support/process.h"

namespace cairn {
namespace {

using cairn_test::Child;
using cairn_test::describe_status;
using testing::kDay;
using testing::kHits;
using testing::kRows;

class CountersTest : public testing::CountersFixture {};

TEST_F(CountersTest, WhatOneProcessCountsAnotherReads) {
    EXPECT_TRUE(read_counters(root_).empty());
    ASSERT_EQ(in_process([] {
                  DayTally game("game", 0x0123456789abcdef);
                  game.add(kHits, 3);
                  game.add(ns_of(Outcome::never_seen), 5'000'000);
                  DayTally("other", 0).add(Number::evicted, 2);
                  return true;
              }),
              "");
    const auto rows = read_counters(root_);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].application, "game");
    EXPECT_EQ(rows[0].day, kDay);
    EXPECT_EQ(rows[0].generation, 0x0123456789abcdef);
    EXPECT_EQ(rows[0].numbers.count(Outcome::hit_disk), 3u);
    EXPECT_EQ(rows[0].numbers.ns(Outcome::never_seen), 5'000'000u);
    EXPECT_EQ(rows[1].application, "other");
    EXPECT_EQ(rows[1].numbers[Number::evicted], 2u);
    EXPECT_EQ(cairn_test::file_size(file_), kCounterChunkBytes);
}

TEST_F(CountersTest, AGenerationIsTheEndOfAnIdentifier) {
    EXPECT_EQ(generation_number("gl-game-0123456789abcdef"), 0x0123456789abcdefu);
    EXPECT_EQ(generation_number("gl-a-b-00000000000000ff"), 0xffu);
    for (const char *other : {"", "gl-game", "0123456789abcdef", "gl-game-0123456789abcdeg",
                              "gl-game0123456789abcdef", "gl-game-0123456789ABCDEF"}) {
        EXPECT_EQ(generation_number(other), 0u) << other;
        EXPECT_EQ(generation_end_size(other), 0u) << other;
    }
    EXPECT_EQ(generation_end_size("gl-game-0123456789abcdef"), 17u);
}

TEST_F(CountersTest, ASessionOfD3D12IsAGenerationWhereItIsBoundToADriver) {
    const std::string session = "d3d12-game-01234567-89ab-cdef-0123-456789abcdef";
    EXPECT_EQ(generation_number(session), 0u);
    const std::string bound = session + "-111111111111-222222222222";
    EXPECT_EQ(generation_end_size(bound), 26u);
    EXPECT_NE(generation_number(bound), 0u);
    EXPECT_NE(generation_number(bound), generation_number(session + "-111111111111-333333333333"));
    EXPECT_NE(generation_number(bound), generation_number(session + "-333333333333-222222222222"));
}

TEST_F(CountersTest, ALongNameIsCut) {
    ASSERT_EQ(count(std::string(100, 'n'), 1), "");
    ASSERT_EQ(count(std::string(64, 'n'), 1), "");
    EXPECT_EQ(hits().at({std::string(64, 'n'), kDay}), 2u);
}

TEST_F(CountersTest, ThreadsAndProcessesLoseNothing) {
    std::vector<Child> children;
    for (int i = 0; i < 8; ++i) {
        children.emplace_back([&] {
            be_patient(1000);
            pretend_day(kDay);
            if (!open_counters(root_)) return 1;
            DayTally tally(i % 2 == 0 ? "even" : "odd", 1);
            std::vector<std::thread> threads;
            for (int t = 0; t < 4; ++t) {
                threads.emplace_back([&] {
                    for (int n = 0; n < 5000; ++n) tally.add(kHits, 1);
                });
            }
            for (std::thread &thread : threads) thread.join();
            return 0;
        });
    }
    for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
    EXPECT_EQ(hits().at({"even", kDay}), 80'000u);
    EXPECT_EQ(hits().at({"odd", kDay}), 80'000u);
    EXPECT_EQ(read_counters(root_).size(), 2u) << "they found one another's rows";
}

TEST_F(CountersTest, AnotherDayIsAnotherRow) {
    ASSERT_EQ(in_process([] {
                  DayTally game("game", 0);
                  for (std::uint64_t day = kDay; day < kDay + 3; ++day) {
                      pretend_day(day);
                      game.add(kHits, day - kDay + 1);
                  }
                  pretend_day(kDay);
                  game.add(kHits, 10);
                  return true;
              }),
              "");
    EXPECT_EQ(hits().at({"game", kDay}), 11u);
    EXPECT_EQ(hits().at({"game", kDay + 1}), 2u);
    EXPECT_EQ(hits().at({"game", kDay + 2}), 3u);
}

TEST_F(CountersTest, WhatIsTooLongAgoIsOfNoDay) {
    for (std::uint64_t day = kDay; day < kDay + 5; ++day) ASSERT_EQ(count("game", 1, day), "");
    ASSERT_EQ(count("game", 10, kDay + 92), "");
    const std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> expected = {
        {{"game", kEarlierDay}, 3},
        {{"game", kDay + 3}, 1},
        {{"game", kDay + 4}, 1},
        {{"game", kDay + 92}, 10}};
    EXPECT_EQ(hits(), expected);
    ASSERT_EQ(count("game", 10, kDay + 1000), "");
    EXPECT_EQ(hits().at({"game", kEarlierDay}), 15u);
}

TEST_F(CountersTest, AClockThatWasWrongCostsNothing) {
    ASSERT_EQ(count("game", 1), "");
    ASSERT_EQ(count("game", 2, 3), "") << "1970";
    ASSERT_EQ(count("game", 4, kDay * 2), "");
    ASSERT_EQ(count("game", 8), "");
    EXPECT_EQ(all_hits(), 15u);
}

TEST_F(CountersTest, AFullFileGivesUpItsOldestDay) {
    std::vector<CounterRow> rows;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        rows.push_back(row_of("game " + std::to_string(i % 64), kDay - 1 - i / 64, 1));
    }
    write_full_file(rows);
    ASSERT_EQ(all_hits(), kRows);
    ASSERT_EQ(count("new", 1), "");
    EXPECT_EQ(all_hits(), kRows + 1);
    EXPECT_EQ(hits().at({"new", kDay}), 1u);
    EXPECT_EQ(cairn_test::file_size(file_), kCounterSlotsMax * kCounterSlotBytes);
    std::uint64_t oldest = kDay;
    for (const auto &[key, sum] : hits()) {
        if (key.second != kEarlierDay) oldest = std::min(oldest, key.second);
    }
    EXPECT_EQ(oldest, kDay - 1 - (kRows - 1) / 64 + 2)
        << "two: the first one left its earlier rows";
}

TEST_F(CountersTest, WhereNobodyHasRoomApplicationsShareTheirEarlierRow) {
    std::vector<CounterRow> rows;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        rows.push_back(row_of("game " + std::to_string(i), kDay - 50, 1));
    }
    write_full_file(rows);
    ASSERT_EQ(count("new", 1), "");
    EXPECT_EQ(all_hits(), kRows + 1);
    EXPECT_EQ(hits().at({"new", kDay}), 1u);
    EXPECT_EQ(hits().at({"", kEarlierDay}), 2u);
}

TEST_F(CountersTest, WhereAllRowsAreOfTodayNothingMoreIsCounted) {
    std::vector<CounterRow> rows;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        rows.push_back(row_of("game " + std::to_string(i), kDay - i % 2, 1));
    }
    write_full_file(rows);
    ASSERT_EQ(count("new", 1), "");
    EXPECT_EQ(all_hits(), kRows);
}

TEST_F(CountersTest, ARowThatIsReusedIsLeftAloneByTheProcessThatHadIt) {
    ASSERT_EQ(in_process([&] {
                  DayTally game("game", 0);
                  game.add(kHits, 1);
                  // As if the row had been damaged and then claimed.
                  write_rows({row_of("other", kDay, 100)});
                  game.add(kHits, 10);
                  return true;
              }),
              "");
    EXPECT_EQ(hits().at({"other", kDay}), 100u);
    EXPECT_EQ(hits().at({"game", kDay}), 10u);
}

TEST_F(CountersTest, ForgettingLeavesProcessesTheirRows) {
    ASSERT_EQ(count("game", 5, kDay - 40), "");
    ASSERT_EQ(count("other", 7), "");
    pretend_day(kDay);
    ASSERT_EQ(in_process([&] {
                  DayTally game("game", 0);
                  game.add(kHits, 1);
                  Child other([&] { return forget_counters(root_, "game").ok() ? 0 : 1; });
                  if (other.wait() != 0) return false;
                  game.add(kHits, 2);
                  DayTally("third", 0).add(kHits, 4);
                  return true;
              }),
              "");
    const std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> expected = {
        {{"game", kDay}, 2}, {{"other", kDay}, 7}, {{"third", kDay}, 4}};
    EXPECT_EQ(hits(), expected);
    EXPECT_TRUE(forget_counters(root_, "").ok());
    EXPECT_TRUE(read_counters(root_).empty());
    EXPECT_TRUE(forget_counters(directory_ / "nowhere", "").ok());
    pretend_day(0);
}

TEST_F(CountersTest, AForkedChildCountsOn) {
    ASSERT_EQ(in_process([] {
                  be_patient(1000);
                  DayTally game("game", 0);
                  game.add(kHits, 1);
                  std::vector<Child> children;
                  for (int i = 0; i < 6; ++i) {
                      children.emplace_back([&] {
                          game.add(kHits, 10);
                          // They need new rows at once, by the open file that they share.
                          DayTally("child", static_cast<std::uint64_t>(i)).add(kHits, 100);
                          return 0;
                      });
                  }
                  DayTally("parent", 0).add(kHits, 1000);
                  bool is_well = true;
                  for (Child &child : children) is_well = child.wait() == 0 && is_well;
                  return is_well;
              }),
              "");
    const std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> expected = {
        {{"game", kDay}, 61}, {{"child", kDay}, 600}, {{"parent", kDay}, 1000}};
    EXPECT_EQ(hits(), expected);
}

}  // namespace
}  // namespace cairn
