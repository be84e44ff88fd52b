// SPDX-License-Identifier: MIT
// How many programs and links a history keeps, and how large its file gets.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "history/testing/history_fixture.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using testing::kMiB;
using testing::kOwn;
using testing::program;
using How = Seen::How;

class HistoryLimitsTest : public testing::HistoryFixture {};

TEST_F(HistoryLimitsTest, TheTableGrowsAndAllProgramsAreFoundAgain) {
    constexpr std::uint64_t kLimit = 1024 * kMiB;
    constexpr std::uint64_t kPrograms = 30'000;
    const auto history = open(kLimit);
    const auto reader = open(kLimit);
    std::set<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < kPrograms; ++i) {
        history->note(program(i), true);
        if (i % 100 == 0) sizes.insert(size());
        if (i % 1000 == 0) {
            EXPECT_EQ(reader->find(program(i)).how, How::same);
        }
    }
    EXPECT_EQ(sizes.size(), kLevelsMax);
    EXPECT_EQ(size(), programs_offset(kLinksLarge, kLevelsMax));
    EXPECT_LE(size(), kLimit / 128);
    const auto again = open(kLimit);
    std::size_t lost = 0;
    for (std::uint64_t i = 0; i < kPrograms; ++i) {
        if (again->find(program(i)).how != How::same) ++lost;
    }
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(again->find(program(kPrograms)).how, How::never);
}

TEST_F(HistoryLimitsTest, ItNeverTakesMoreThanItsPart) {
    for (const std::uint64_t limit : {3 * kMiB, 20 * kMiB, 64 * kMiB, 256 * kMiB}) {
        forget();
        const auto history = open(limit);
        ASSERT_NE(history, nullptr);
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            history->note(program(i), true);
            history->keep_sources({static_cast<std::uint8_t>(i)}, std::string(1000, 's'));
        }
        EXPECT_LE(size(), limit / 120);
        EXPECT_LE(cairn_test::file_size(root_ + "/" + kOwn + "/sources"), limit / 2048);
        // The latest are there, but for those that share a bucket with more that are as new.
        std::size_t found = 0;
        for (std::uint64_t i = 9'900; i < 10'000; ++i) {
            if (history->find(program(i)).how == How::same) ++found;
        }
        EXPECT_GT(found, 60u) << limit;
    }
}

TEST_F(HistoryLimitsTest, ALimitThatIsTooSmallMakesNothing) {
    EXPECT_EQ(open(120 * 24576 - 1), nullptr);
    EXPECT_EQ(open(0), nullptr);
    EXPECT_FALSE(fs::exists(file_));
    EXPECT_NE(open(3 * kMiB), nullptr);
    EXPECT_EQ(size(), 3 * kMiB / 128);
}

TEST_F(HistoryLimitsTest, ALowerLimitReplacesALargerFile) {
    {
        const auto history = open(256 * kMiB);
        for (std::uint64_t i = 0; i < 3000; ++i) history->note(program(i), true);
    }
    const auto user = open(256 * kMiB);
    const auto history = open(3 * kMiB);
    ASSERT_NE(history, nullptr);
    EXPECT_EQ(size(), 3 * kMiB / 128);
    EXPECT_EQ(history->find(program(1)).how, How::never);
    user->note(program(2), true);  // who has the larger one open comes along
    EXPECT_EQ(history->find(program(2)).how, How::same);
}

// Each of these would replace the file of the other for ever.
TEST_F(HistoryLimitsTest, ProcessesWithALowerAndAHigherLimitAgree) {
    const auto low = open(3 * kMiB);
    const auto high = open(64 * kMiB);
    for (std::uint64_t i = 0; i < 20; ++i) {
        low->note(program(2 * i), true);
        high->note(program(2 * i + 1), true);
    }
    for (std::uint64_t i = 2; i < 40; ++i) {
        EXPECT_EQ(low->find(program(i)).how, How::same) << i;
        EXPECT_EQ(high->find(program(i)).how, How::same) << i;
    }
}

TEST_F(HistoryLimitsTest, ManyProgramsOfTheSameSourcesReplaceEachOther) {
    const auto history = open();
    for (std::uint32_t i = 0; i < 5000; ++i) history->note({1, 2, i, i}, true);
    EXPECT_EQ(size(), programs_offset(kLinksLarge, 1));
    EXPECT_EQ(history->find({1, 2, 4999, 4999}).how, How::same);
    EXPECT_EQ(history->find({1, 2, 7000, 7000}).how, How::other_settings);
    for (std::uint64_t i = 0; i < 100; ++i) history->note(program(i), true);
    for (std::uint32_t i = 0; i < 5000; ++i) history->note({1, 2, i, i}, true);
    EXPECT_LE(size(), programs_offset(kLinksLarge, 2));
}

TEST_F(HistoryLimitsTest, TheOldestProgramOfAFullBucketGoes) {
    const auto history = open(3 * kMiB);
    // Written as if a minute later each time.
    for (std::uint32_t i = 0; i < kBucketRecords; ++i) history->note({1, 2, i, i}, true);
    auto bytes = cairn_test::read_file(file_);
    std::uint32_t oldest = 0;
    for (std::size_t at = programs_offset(kLinksSmall, 0), n = 0; at < bytes.size();
         at += sizeof(ProgramRecord)) {
        ProgramRecord record = {};
        std::memcpy(&record, bytes.data() + at, sizeof record);
        const auto state = read_program_state(record);
        if (!state.is_whole) continue;
        if (n == 5) oldest = static_cast<std::uint32_t>(record.settings_and_key);
        record.state = program_state(record, n == 5 ? 100 : 1000, true);
        cairn_test::overwrite(file_, at, {reinterpret_cast<const std::uint8_t *>(&record), 32});
        ++n;
    }
    history->note({1, 2, 100, 100}, true);
    for (std::uint32_t i = 0; i < kBucketRecords; ++i) {
        EXPECT_EQ(history->knows(1, i), i != oldest) << i;
    }
    EXPECT_TRUE(history->knows(1, 100));
}

}  // namespace
}  // namespace cairn
