// SPDX-License-Identifier: MIT
#include "history/history.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "history/testing/history_fixture.h"
#include "support/process.h"

namespace cairn {
namespace {

using cairn_test::Child;
using cairn_test::mix;
using testing::context_of;
using testing::kLookUs;
using testing::kMiB;
using testing::program;
using How = Seen::How;

class HistoryTest : public testing::HistoryFixture {};

TEST_F(HistoryTest, AProgramIsFoundByWhatItHasInCommonWithOthers) {
    const auto history = open();
    const std::uint64_t context = context_of(7, 8);
    EXPECT_EQ(history->find({1, context, 3, 4}).how, How::never);
    history->note({1, context, 3, 4}, true);
    const Seen same = history->find({1, context, 3, 4});
    EXPECT_EQ(same.how, How::same);
    EXPECT_TRUE(same.was_stored);
    EXPECT_GT(same.when_s, 1'600'000'000u);
    EXPECT_EQ(history->find({1, context, 33, 44}).how, How::other_settings);
    EXPECT_EQ(history->find({1, context_of(7, 9), 3, 5}).how, How::other_context);
    EXPECT_EQ(history->find({1, context_of(7, 9), 33, 5}).how, How::other_context);
    EXPECT_EQ(history->find({2, context, 3, 4}).how, How::never);

    history->note({1, context_of(7, 9), 3, 5}, false);
    const Seen second = history->find({1, context_of(7, 9), 3, 5});
    EXPECT_EQ(second.how, How::same);
    EXPECT_FALSE(second.was_stored);
    // Other settings in this context say more than these in another one.
    EXPECT_EQ(history->find({1, context_of(7, 9), 4, 5}).how, How::other_settings);
}

TEST_F(HistoryTest, AProgramIsKnownByItsKeyOnceItWasStored) {
    const auto history = open();
    EXPECT_FALSE(history->knows(1, 4));
    history->note({1, 2, 3, 4}, false);
    EXPECT_FALSE(history->knows(1, 4));
    history->note({1, 2, 3, 4}, true);
    EXPECT_TRUE(history->knows(1, 4));
    EXPECT_FALSE(history->knows(1, 5));
    EXPECT_FALSE(history->knows(2, 4));
    EXPECT_TRUE(open()->knows(1, 4));
}

TEST_F(HistoryTest, TheFieldsOfAnotherContextThatDifferAreNamed) {
    const auto history = open();
    const std::uint64_t here = context_of(7, 1);
    const std::uint64_t there = context_of(7, 2);
    history->note({1, there, 3, 4}, true);
    EXPECT_EQ(history->find({1, here, 3, 4}).fields, 0u);
    history->note_context(here, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(history->find({1, here, 3, 4}).fields, 0u);
    history->note_context(there, {1, 2, 3, 44, 5, 66});
    const Seen seen = history->find({1, here, 3, 4});
    EXPECT_EQ(seen.how, How::other_context);
    EXPECT_EQ(seen.fields, 1u << static_cast<unsigned>(ContextField::extensions) |
                               1u << static_cast<unsigned>(ContextField::profile));
    EXPECT_STREQ(context_field_name(ContextField::extensions), "GL_EXTENSIONS");
    // Of several contexts, one with the same settings.
    history->note({1, context_of(7, 3), 9, 5}, true);
    history->note_context(context_of(7, 3), {9, 9, 9, 9, 9, 9});
    EXPECT_EQ(history->find({1, here, 3, 4}).fields, seen.fields);
}

TEST_F(HistoryTest, MoreContextsThanThereIsRoomForReplaceOthers) {
    const auto history = open();
    for (std::uint32_t i = 1; i <= 500; ++i) {
        history->note_context(mix(i), {i, 0, 0, 0, 0, 0});
        history->note_context(mix(i + 1000), {i, 1, 0, 0, 0, 0});
        history->note({i, mix(i + 1000), 0, 0}, true);
        const Seen seen = history->find({i, mix(i), 0, 1});
        EXPECT_EQ(seen.how, How::other_context);
        EXPECT_TRUE(seen.fields == 0b10 || seen.fields == 0) << seen.fields;
    }
}

TEST_F(HistoryTest, AnotherGenerationOfAnotherDriverIsNamed) {
    make_cache("gl-app-00000000000000aa", 10);
    const std::uint64_t context = context_of(7, 8);
    {
        const auto other = open(256 * kMiB, "gl-app-00000000000000aa", 2);
        other->note({1, context, 3, 4}, true);
        other->note({2, context, 3, 4}, true);
    }
    const auto history = open();
    const Seen exact = history->find({1, context_of(7, 99), 3, 44});
    EXPECT_EQ(exact.how, How::other_driver);
    EXPECT_EQ(exact.generation, 0xaau);
    // With other settings, where there is nothing closer.
    EXPECT_EQ(history->find({1, context, 4, 4}).how, How::other_driver);
    EXPECT_EQ(history->find({5, context, 3, 4}).how, How::never);
    // Exactly this from another driver says more than other settings with this one.
    history->note({1, context, 5, 5}, true);
    EXPECT_EQ(history->find({1, context, 3, 4}).how, How::other_driver);
    // And less than other settings elsewhere.
    EXPECT_EQ(history->find({1, context, 6, 4}).how, How::other_settings);
    history->note({1, context, 3, 4}, true);
    EXPECT_EQ(history->find({1, context, 3, 4}).how, How::same);
}

TEST_F(HistoryTest, AnotherGenerationOfThisDriverIsAnotherContext) {
    make_cache("gl-app-00000000000000aa", 10);
    {
        const auto other = open(256 * kMiB, "gl-app-00000000000000aa", 1);
        other->note({1, context_of(7, 8), 3, 4}, true);
        other->note_context(context_of(7, 8), {1, 2, 3, 4, 5, 6});
    }
    const auto history = open();
    history->note_context(context_of(7, 9), {1, 22, 3, 4, 5, 6});
    const Seen seen = history->find({1, context_of(7, 9), 3, 4});
    EXPECT_EQ(seen.how, How::other_context);
    EXPECT_EQ(seen.fields, 1u << static_cast<unsigned>(ContextField::version));
    EXPECT_EQ(history->find({2, context_of(7, 9), 3, 4}).how, How::never);
}

TEST_F(HistoryTest, TheThreeGenerationsThatWereUsedLastAreLookedAt) {
    // Others that look alike count for nothing: of another application, or no generation.
    for (const char *name : {"gl-app-00000000000000zz", "gl-app-0000000000000001x",
                             "gl-apple-0000000000000001", "gl-app2-0000000000000001"}) {
        make_cache(name, 1000);
        open(256 * kMiB, name, 2)->note({100, 2, 3, 4}, true);
    }
    for (int i = 1; i <= 5; ++i) {
        const std::string name = "gl-app-000000000000000" + std::to_string(i);
        make_cache(name, 100 * i);
        open(256 * kMiB, name, 2)->note({static_cast<std::uint64_t>(i), 2, 3, 4}, true);
    }
    make_cache("gl-app-0000000000000009", 2000);  // without a history
    const auto history = open();
    EXPECT_EQ(history->find({1, 2, 3, 4}).how, How::never);
    EXPECT_EQ(history->find({2, 2, 3, 4}).how, How::never);
    for (std::uint64_t i = 3; i <= 5; ++i) EXPECT_EQ(history->find({i, 2, 3, 4}).generation, i);
    EXPECT_EQ(history->find({100, 2, 3, 4}).how, How::never);
    // One that was cleared meanwhile is not remembered.
    forget_history(*Directory::open(root_ + "/gl-app-0000000000000004"));
    ::usleep(kLookUs);
    EXPECT_EQ(history->find({4, 2, 3, 4}).how, How::never);
}

TEST_F(HistoryTest, DamagedGenerationsOfOthersAreLeftOut) {
    const std::string name = "gl-app-0000000000000001";
    make_cache(name, 100);
    open(256 * kMiB, name, 2)->note({1, 2, 3, 4}, true);
    const std::string file = root_ + "/" + name + "/history";
    const auto whole = cairn_test::read_file(file);
    cairn_test::Random random(3);
    for (int round = 0; round < 300; ++round) {
        auto bytes = whole;
        // Some in the header, and all of it, and anywhere.
        const std::size_t end = round % 2 == 0 ? sizeof(HistoryHeader) : bytes.size();
        for (std::uint64_t i = random.below(64) + 1; i > 0; --i) {
            bytes[random.below(end)] ^= static_cast<std::uint8_t>(1 + random.below(255));
        }
        if (round % 5 == 0) bytes.resize(random.below(bytes.size()));
        cairn_test::write_file(file, bytes);
        const auto history = open();
        const Seen seen = history->find({1, 2, 3, 4});
        EXPECT_TRUE(seen.how == How::never ||
                    (seen.how == How::other_driver && seen.generation == 1));
    }
}

TEST_F(HistoryTest, RunsCountForThemselves) {
    auto first = open();
    EXPECT_TRUE(first->is_first_run());
    first->add(count_of(Outcome::hit_disk), 2);
    first->add(Number::saved_ns, 300);
    const auto second = open();
    EXPECT_FALSE(second->is_first_run());
    second->add(count_of(Outcome::never_seen), 1);
    second->add(Number::stored, 0);
    auto runs = read().runs;
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].numbers.hits(), 2u);
    EXPECT_EQ(runs[0].numbers[Number::saved_ns], 300u);
    EXPECT_EQ(runs[0].process, static_cast<std::uint64_t>(::getpid()));
    EXPECT_EQ(runs[1].numbers.lookups(), 1u);
    EXPECT_EQ(runs[1].numbers.hits(), 0u);
    EXPECT_TRUE(runs[0].is_alive && runs[1].is_alive);
    EXPECT_LT(runs[0].start_ns, runs[1].start_ns);
    EXPECT_GT(runs[0].last_ns, 1'600'000'000'000'000'000u);
    first.reset();
    runs = read().runs;
    EXPECT_FALSE(runs[0].is_alive);
    EXPECT_TRUE(runs[1].is_alive);
}

TEST_F(HistoryTest, AKilledProcessHasEndedAndItsNumbersStay) {
    Child child([&] {
        const auto history = open();
        history->add(Number::starts, 7);
        history->note_making(true);
        ::raise(SIGKILL);
        return 0;
    });
    const auto pid = static_cast<std::uint64_t>(child.pid());
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 9 (Killed)");
    const auto runs = read().runs;
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].process, pid);
    EXPECT_FALSE(runs[0].is_alive);
    EXPECT_EQ(runs[0].numbers[Number::starts], 7u);
    EXPECT_NE(runs[0].making_ns, 0u);
    EXPECT_FALSE(open()->is_first_run());
}

TEST_F(HistoryTest, TheOldestRunThatHasEndedIsReplaced) {
    std::vector<std::unique_ptr<History>> alive;
    for (std::uint64_t i = 1; i <= kRunRecords; ++i) {
        alive.push_back(open());
        alive.back()->add(Number::starts, i);
    }
    // No room: nothing is counted, and all else goes on.
    const auto one_more = open();
    one_more->add(Number::starts, 100);
    one_more->note_link({});
    one_more->note_making(true);
    one_more->note(program(1), true);
    EXPECT_EQ(one_more->find(program(1)).how, How::same);
    EXPECT_EQ(read().runs.size(), kRunRecords);
    EXPECT_EQ(read().links.size(), 0u);
    alive[3].reset();
    alive[7].reset();
    const auto next = open();
    next->add(Number::starts, 200);
    std::set<std::uint64_t> starts;
    for (const RunRead &run : read().runs) starts.insert(run.numbers[Number::starts]);
    EXPECT_EQ(starts.size(), kRunRecords);
    EXPECT_FALSE(starts.contains(4));
    EXPECT_TRUE(starts.contains(8));
    EXPECT_TRUE(starts.contains(200));
}

TEST_F(HistoryTest, TheDriverMakesAProgramUntilItsLastThreadIsThrough) {
    const auto history = open();
    EXPECT_EQ(read().runs[0].making_ns, 0u);
    history->note_making(true);
    const std::uint64_t since_ns = read().runs[0].making_ns;
    EXPECT_NE(since_ns, 0u);
    history->note_making(true);
    history->note_making(false);
    EXPECT_EQ(read().runs[0].making_ns, since_ns);
    history->note_making(false);
    EXPECT_EQ(read().runs[0].making_ns, 0u);
}

TEST_F(HistoryTest, AForkedChildGoesOn) {
    if (const char *why = cairn_test::why_no_fork_beside_threads()) GTEST_SKIP() << why;
    make_cache("gl-app-00000000000000aa", 10);
    open(256 * kMiB, "gl-app-00000000000000aa", 2)->note({1, 2, 3, 4}, true);
    const auto history = open();
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; !stop.load(); ++i) {
                history->note(program(100'000 * t + i % 50'000), true);
                (void)history->find(program(i + 1'000'000));
                if (t == 1 && i % 100 == 0) forget();
            }
        });
    }
    for (int round = 0; round < 30; ++round) {
        EXPECT_EQ(cairn_test::run_in_child(
                      30,
                      [&] {
                          history->add(Number::starts, 1);
                          history->note(program(1), true);
                          (void)history->find(program(1));
                          const Seen seen = history->find({1, 2, 3, 4});
                          history->note_link({});
                          history->keep_sources({1}, "text");
                          return seen.how == How::other_driver || seen.how == How::never ? 0 : 1;
                      }),
                  "");
    }
    stop.store(true);
    for (std::thread &thread : threads) thread.join();
}

TEST_F(HistoryTest, AForkedChildCountsForItsParentsRun) {
    const auto history = open();
    history->add(Number::starts, 1);
    EXPECT_EQ(cairn_test::run_in_child(30,
                                       [&] {
                                           history->add(Number::starts, 1);
                                           history->note(program(1), true);
                                           return 0;
                                       }),
              "");
    ASSERT_EQ(read().runs.size(), 1u);
    EXPECT_TRUE(read().runs[0].is_alive);
    EXPECT_EQ(read().runs[0].numbers[Number::starts], 2u);
    EXPECT_EQ(history->find(program(1)).how, How::same);
}

}  // namespace
}  // namespace cairn
