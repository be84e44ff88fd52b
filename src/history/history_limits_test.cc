// SPDX-License-Identifier: MIT
// How many programs and links a history keeps, and how large its file gets.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "history/testing/history_fixture.h"
#include "os/testing/failing_calls.h"
#include "support/process.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;
using testing::context_of;
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

TEST_F(HistoryLimitsTest, AHigherLimitKeepsWhatIsKnownAndMoreLinks) {
    constexpr std::uint64_t kPrograms = 1000, kLinks = 300;
    const auto user = open(63 * kMiB);
    user->note_context(context_of(7, 8), {1, 2, 3, 4, 5, 6});
    user->add(Number::stored, 5);
    for (std::uint64_t i = 0; i < kPrograms; ++i) user->note(program(i), true);
    for (std::uint64_t i = 0; i < kLinks; ++i)
        user->note_link({Outcome::unknown, Detail::none, {}, 0, i});
    EXPECT_EQ(read().links_max, kLinksSmall);
    const auto known = [&](History &history) {
        std::set<std::uint64_t> found;
        for (std::uint64_t i = 0; i < kPrograms; ++i) {
            if (history.find(program(i)).how == How::same) found.insert(i);
        }
        return found;
    };
    const auto before = known(*user);
    EXPECT_GT(before.size(), kPrograms / 2);

    const auto history = open(64 * kMiB);
    EXPECT_FALSE(history->is_first_run());
    EXPECT_EQ(known(*history), before);
    history->note({1, context_of(7, 9), 3, 4}, true);
    history->note_context(context_of(7, 9), {1, 22, 3, 4, 5, 6});
    EXPECT_EQ(history->find({1, context_of(7, 8), 3, 4}).fields,
              1u << static_cast<unsigned>(ContextField::version));
    // Who has the smaller one open comes along.
    user->note_link({Outcome::unknown, Detail::none, {}, 0, kLinks});
    history->note_link({Outcome::unknown, Detail::none, {}, 0, kLinks + 1});
    const HistoryRead found = read();
    EXPECT_EQ(found.links_max, kLinksLarge);
    EXPECT_EQ(found.links.size(), kLinksSmall + 2);
    for (std::size_t i = 0; i < found.links.size(); ++i) {
        EXPECT_EQ(found.links[i].link.other, kLinks - kLinksSmall + i);
    }
    ASSERT_EQ(found.runs.size(), 3u) << "the user has another one, as after a clear";
    EXPECT_EQ(found.runs[0].numbers[Number::stored], 5u);
    EXPECT_LE(size(), 64 * kMiB / 192);
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

TEST_F(HistoryLimitsTest, ProcessesEnlargeItAtOnce) {
    for (std::uint64_t round = 0; round < 20; ++round) {
        {
            const auto small = open(63 * kMiB);
            small->note(program(round), true);
        }
        std::vector<Child> children;
        for (std::uint64_t p = 0; p < 4; ++p) {
            children.emplace_back([&, p] {
                const auto history = open(64 * kMiB);
                if (history == nullptr) return 1;
                history->note(program(1000 + p), true);
                return history->find(program(round)).how == How::same ? 0 : 2;
            });
        }
        for (Child &child : children) {
            EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
        }
        EXPECT_EQ(read().links_max, kLinksLarge);
        EXPECT_EQ(open(64 * kMiB)->find(program(round)).how, How::same);
        forget();
    }
}

TEST_F(HistoryLimitsTest, WhereItCannotBeEnlargedTheSmallerOneIsUsed) {
    testing::FailingCalls calls;
    for (const int error : {ENOSPC, EACCES, EIO}) {
        for (std::uint64_t first = 1;; ++first) {
            forget();
            open(63 * kMiB)->note(program(1), true);
            testing::Fault fault;
            fault.error = error;
            fault.first = first;
            calls.arm(fault);
            (void)open(64 * kMiB);
            const bool is_through = calls.failures() == 0;
            calls.disarm();
            const auto history = open(64 * kMiB);
            ASSERT_NE(history, nullptr);
            EXPECT_EQ(history->find(program(1)).how, How::same) << first;
            EXPECT_EQ(read().links_max, kLinksLarge) << first;
            if (is_through) break;
        }
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
