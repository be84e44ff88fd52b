// SPDX-License-Identifier: MIT
#include "schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace cairn::agent {
namespace {

constexpr std::uint64_t kSecond = Schedule::kSecond, kMinute = Schedule::kMinute,
                        kHour = Schedule::kHour, kDay = 24 * kHour;
const JobResult kDone = {{"s3"}, {}, {}};
const JobResult kTrouble = {{}, {"s3"}, {}};

Schedule::Random seeded(unsigned seed) {
    return [engine = std::mt19937(seed)]() mutable {
        return std::uniform_real_distribution<double>(0, 1)(engine);
    };
}

bool everything(const std::string &) {
    return true;
}

class ScheduleTest : public ::testing::Test {
  protected:
    // What is done at this moment: "pull game", "push game" or "".
    std::string begun(std::uint64_t now_ms) {
        job_ = schedule_.begin(now_ms);
        if (!job_) return "";
        return (job_->kind == Job::Kind::pull   ? "pull "
                : job_->kind == Job::Kind::look ? "look "
                                                : "push ") +
               job_->name;
    }
    std::string done(std::uint64_t now_ms, const JobResult &result = kDone) {
        const std::string what = begun(now_ms);
        if (!what.empty()) schedule_.finish(result, now_ms);
        return what;
    }

    double chance_ = 0;
    std::set<std::string> denied_;
    Schedule schedule_{[this] { return chance_; },
                       [this](const std::string &name) { return !denied_.contains(name); },
                       [](const std::string &name) { return name == "asking"; }};
    std::optional<Job> job_;
};

TEST_F(ScheduleTest, APushWithNewsIsFollowedByOthersUntilFourHadNone) {
    schedule_.note_start("game", 0);
    std::vector<std::uint64_t> pushes;
    for (std::uint64_t now_ms = 0; now_ms < 2 * 60 * kMinute; now_ms += 1000) {
        const auto job = schedule_.begin(now_ms);
        if (!job) continue;
        JobResult result;
        if (job->kind == Job::Kind::push) {
            pushes.push_back(now_ms / 1000);
            result.has_published = pushes.size() < 3;
        }
        schedule_.finish(result, now_ms);
    }
    EXPECT_EQ(pushes.size(), 2u + Schedule::kAgainMax);
    for (std::size_t i = 3; i < pushes.size(); ++i) {
        EXPECT_GT(pushes[i] - pushes[i - 1], pushes[i - 1] - pushes[i - 2]) << i;
    }
}

TEST_F(ScheduleTest, WithoutStartsThereIsNothingToDo) {
    EXPECT_EQ(schedule_.next_ms(), std::nullopt);
    EXPECT_EQ(begun(kDay), "");
}

TEST_F(ScheduleTest, AStartIsPulledAtOnceAndPushedAMinuteLater) {
    schedule_.note_start("game", 1000);
    EXPECT_EQ(schedule_.next_ms(), 1000u);
    EXPECT_EQ(done(1000), "pull game");
    EXPECT_EQ(schedule_.next_ms(), 1000 + kMinute);
    EXPECT_EQ(done(1000 + kMinute - 1), "");
    EXPECT_EQ(done(1000 + kMinute), "push game");
    EXPECT_EQ(schedule_.next_ms(), std::nullopt);
}

TEST_F(ScheduleTest, ChanceMakesTimesHalfAsLongAgainAtMost) {
    chance_ = 0.999;
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0), "pull game") << "at once for everybody";
    EXPECT_EQ(done(89 * kSecond), "");
    EXPECT_EQ(done(90 * kSecond), "push game");
}

TEST_F(ScheduleTest, NothingIsPulledAgainWithinFiveMinutes) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0), "pull game");
    EXPECT_EQ(done(kMinute), "push game");
    schedule_.note_start("game", 5 * kMinute - 1);
    EXPECT_EQ(done(5 * kMinute - 1), "");
    schedule_.note_start("game", 5 * kMinute);
    EXPECT_EQ(done(5 * kMinute), "pull game");
}

TEST_F(ScheduleTest, APushWaitsForTheLastOfManyStartsButNotForEver) {
    std::uint64_t pushed_ms = 0;
    for (std::uint64_t now_ms = 0; pushed_ms == 0 && now_ms < kHour; now_ms += 10 * kSecond) {
        schedule_.note_start("game", now_ms);
        for (std::string job = done(now_ms); !job.empty(); job = done(now_ms)) {
            if (job == "push game") pushed_ms = now_ms;
        }
    }
    EXPECT_EQ(pushed_ms, 10 * kMinute);
}

TEST_F(ScheduleTest, PushesAreTenMinutesApartWhileStartsCome) {
    std::vector<std::uint64_t> pushes;
    for (std::uint64_t now_ms = 0; now_ms < 2 * kHour; now_ms += kSecond) {
        if (now_ms % (3 * kMinute) == 0) schedule_.note_start("game", now_ms);
        if (done(now_ms) == "push game") pushes.push_back(now_ms);
    }
    ASSERT_GE(pushes.size(), 10u);
    EXPECT_EQ(pushes[0], kMinute);
    for (std::size_t i = 1; i < pushes.size(); ++i) {
        EXPECT_GE(pushes[i] - pushes[i - 1], 10 * kMinute);
        EXPECT_LE(pushes[i] - pushes[i - 1], 13 * kMinute);
    }
}

TEST_F(ScheduleTest, OneJobRunsAtATimeAndPullsGoFirst) {
    schedule_.note_start("a", 0);
    EXPECT_EQ(done(0), "pull a");
    schedule_.note_start("b", 2 * kMinute);
    EXPECT_EQ(begun(2 * kMinute), "pull b") << "before the push that is due for longer";
    EXPECT_EQ(schedule_.next_ms(), std::nullopt);
    EXPECT_FALSE(schedule_.begin(2 * kMinute));
    schedule_.finish(kDone, 3 * kMinute);
    EXPECT_EQ(done(3 * kMinute), "push a");
    EXPECT_EQ(done(3 * kMinute), "push b");
}

TEST_F(ScheduleTest, AStartDuringItsPullIsPulledByIt) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(begun(0), "pull game");
    schedule_.note_start("game", 10);
    schedule_.finish(kDone, 20);
    EXPECT_EQ(begun(20), "");
}

TEST_F(ScheduleTest, AStartDuringItsPushIsPushedLater) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0), "pull game");
    EXPECT_EQ(begun(kMinute), "push game");
    schedule_.note_start("game", kMinute + 1);
    schedule_.finish(kDone, 2 * kMinute);
    EXPECT_EQ(done(12 * kMinute - 1), "");
    EXPECT_EQ(done(12 * kMinute), "push game");
}

TEST_F(ScheduleTest, OnlyWhatTheUserSharesIsDone) {
    denied_ = {"secret"};
    schedule_.note_start("secret", 0);
    EXPECT_EQ(schedule_.name_count(), 0u);
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0), "pull game");
    denied_ = {"game"};
    EXPECT_EQ(done(kMinute), "") << "the user has changed the settings meanwhile";
    EXPECT_EQ(schedule_.name_count(), 0u);
}

TEST_F(ScheduleTest, ARemoteInTroubleIsLeftAloneLongerEachTime) {
    chance_ = 0.999'999;
    schedule_.note_start("game", 0);
    std::uint64_t now_ms = 0;
    std::vector<std::uint64_t> waits_s;
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(done(now_ms, kTrouble), "pull game") << i;
        EXPECT_TRUE(schedule_.is_left_alone("s3", now_ms));
        std::uint64_t next_ms = now_ms;
        while (schedule_.is_left_alone("s3", next_ms)) next_ms += 100;
        waits_s.push_back((next_ms - now_ms + 500) / kSecond);
        now_ms = next_ms;
    }
    const std::vector<std::uint64_t> expected = {30,  60,   120,  240,  480,
                                                 960, 1920, 3600, 3600, 3600};
    EXPECT_EQ(waits_s, expected);
    EXPECT_EQ(done(now_ms), "pull game");
    EXPECT_FALSE(schedule_.is_left_alone("s3", now_ms)) << "a success ends it";
    EXPECT_EQ(done(now_ms), "push game");
}

TEST_F(ScheduleTest, AJobIsToldWhichRemotesToLeaveAloneAndDoneAgainWithThem) {
    chance_ = 0.5;
    schedule_.note_start("a", 0);
    EXPECT_EQ(done(0, {{"folder"}, {"s3"}, {}}), "pull a");
    schedule_.note_start("b", 1000);
    EXPECT_EQ(begun(1000), "pull b");
    EXPECT_EQ(job_->left_alone, Remotes{"s3"});
    schedule_.finish({{"folder"}, {}, {"s3"}}, 1000);
    EXPECT_EQ(schedule_.next_ms(), 15 * kSecond);
    EXPECT_EQ(done(14 * kSecond), "");
    EXPECT_EQ(begun(15 * kSecond), "pull a");
    EXPECT_TRUE(job_->left_alone.empty());
    schedule_.finish({{"folder", "s3"}, {}, {}}, 15 * kSecond);
    EXPECT_EQ(done(15 * kSecond), "pull b");
    EXPECT_EQ(done(15 * kSecond), "");
}

TEST_F(ScheduleTest, OneJobTriesARemoteAndTheOthersWaitForWhatComesOfIt) {
    chance_ = 0.5;
    for (const char *name : {"a", "b", "c"}) {
        schedule_.note_start(name, 0);
        EXPECT_NE(begun(0), "");
        schedule_.finish(job_->left_alone.empty() ? kTrouble : JobResult{{}, {}, {"s3"}}, 0);
    }
    EXPECT_NE(done(15 * kSecond, kTrouble), "");
    EXPECT_EQ(done(15 * kSecond, kTrouble), "");
    EXPECT_EQ(schedule_.next_ms(), 45 * kSecond);
    for (int i = 0; i < 3; ++i) EXPECT_NE(done(45 * kSecond), "");
    EXPECT_EQ(done(45 * kSecond), "");
}

TEST_F(ScheduleTest, AnotherNameMayUseOtherRemotesMeanwhile) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0, kTrouble), "pull game");
    schedule_.note_start("other", 1);
    EXPECT_EQ(done(1, {{"folder"}, {}, {}}), "pull other");
}

TEST_F(ScheduleTest, WhatFailsForAnotherReasonWaitsForTheNextStart) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0, {}), "pull game");
    EXPECT_EQ(done(kMinute, {}), "push game");
    EXPECT_EQ(schedule_.next_ms(), std::nullopt);
    schedule_.note_start("game", kHour);
    EXPECT_EQ(done(kHour, {}), "pull game");
}

TEST_F(ScheduleTest, AWorkerThatSkipsWhatItShouldNotIsNotCalledForEver) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(done(0, {{}, {}, {"s3"}}), "pull game");
    EXPECT_EQ(done(1), "");
}

TEST_F(ScheduleTest, TheLeastRecentlyStartedNameIsForgotten) {
    for (std::size_t i = 0; i < Schedule::kNamesMax; ++i) {
        schedule_.note_start("name" + std::to_string(i), i);
    }
    schedule_.note_start("name0", 5000);
    schedule_.note_start("another", 5001);
    EXPECT_EQ(schedule_.name_count(), Schedule::kNamesMax);
    std::set<std::string> jobs;
    for (std::string job = done(5001); !job.empty(); job = done(5001)) jobs.insert(job);
    EXPECT_EQ(jobs.size(), Schedule::kNamesMax);
    EXPECT_TRUE(jobs.contains("pull another"));
    EXPECT_TRUE(jobs.contains("pull name0"));
    EXPECT_FALSE(jobs.contains("pull name1"));
}

TEST_F(ScheduleTest, ANameThatIsForgottenDuringItsJobIsNoTrouble) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(begun(0), "pull game");
    for (std::size_t i = 0; i < Schedule::kNamesMax; ++i) {
        schedule_.note_start("name" + std::to_string(i), 1);
    }
    schedule_.finish(kTrouble, 2);
    EXPECT_EQ(schedule_.name_count(), Schedule::kNamesMax);
    EXPECT_EQ(begun(2).substr(0, 9), "pull name");
}

TEST_F(ScheduleTest, RemotesInTroubleAreBounded) {
    schedule_.note_start("game", 0);
    EXPECT_EQ(begun(0), "pull game");
    JobResult result;
    for (int i = 0; i < 10'000; ++i) result.troubled.push_back("s3://" + std::to_string(i));
    schedule_.finish(result, 0);
    schedule_.note_start("other", 1);
    EXPECT_NE(begun(1), "");
    EXPECT_EQ(job_->left_alone.size(), Schedule::kRemotesMax);
}

// A week of one machine: 50 names, starts at random, a remote that is gone for hours each day.
TEST(ScheduleLong, AWeekKeepsAllTheRules) {
    Schedule schedule(seeded(1), everything);
    std::mt19937 chance(2);
    std::map<std::string, std::uint64_t> pulled, pushed;
    std::uint64_t calls_while_gone = 0, jobs = 0;
    for (std::uint64_t now_ms = 0; now_ms < 7 * kDay; now_ms += 5 * kSecond) {
        if (chance() % 20 == 0) schedule.note_start("name" + std::to_string(chance() % 50), now_ms);
        const bool is_gone = now_ms % kDay > 20 * kHour;
        while (const auto job = schedule.begin(now_ms)) {
            ++jobs;
            auto &last = job->kind == Job::Kind::pull ? pulled : pushed;
            const std::uint64_t apart =
                job->kind == Job::Kind::pull ? Schedule::kPulledMs : Schedule::kPushMs;
            const bool is_skipped = !job->left_alone.empty();
            if (is_gone && !is_skipped) ++calls_while_gone;
            if (!is_gone && !is_skipped) {
                EXPECT_TRUE(!last.contains(job->name) || now_ms - last[job->name] >= apart);
                last[job->name] = now_ms;
            }
            schedule.finish(is_skipped ? JobResult{{}, {}, {"s3"}}
                            : is_gone  ? kTrouble
                                       : kDone,
                            now_ms);
        }
    }
    EXPECT_EQ(pulled.size(), 50u);
    EXPECT_EQ(pushed.size(), 50u);
    EXPECT_GT(jobs, 2000u);
    // Of 28 hours: some on the way up to an hour, then about two in an hour.
    EXPECT_LT(calls_while_gone, 7 * 40u);
}

// When each of 200 machines that start together begins its first push.
std::vector<std::uint64_t> first_calls(Job::Kind kind, const JobResult &pull_result) {
    std::vector<std::uint64_t> times;
    for (unsigned machine = 0; machine < 200; ++machine) {
        Schedule schedule(seeded(machine), everything);
        schedule.note_start("game", 0);
        bool is_first = true;
        for (std::uint64_t now_ms = 0; times.size() == machine; now_ms += 10) {
            const auto job = schedule.begin(now_ms);
            if (!job) continue;
            if (!is_first && job->kind == kind) times.push_back(now_ms);
            schedule.finish(is_first ? pull_result : kDone, now_ms);
            is_first = false;
        }
    }
    std::ranges::sort(times);
    return times;
}

std::size_t most_within(const std::vector<std::uint64_t> &times, std::uint64_t window_ms) {
    std::size_t most = 0;
    for (auto first = times.begin(); first != times.end(); ++first) {
        const auto end = std::lower_bound(first, times.end(), *first + window_ms);
        most = std::max(most, static_cast<std::size_t>(end - first));
    }
    return most;
}

TEST(ScheduleFleet, MachinesThatStartTogetherPushSpreadOverHalfAMinute) {
    const auto times = first_calls(Job::Kind::push, kDone);
    EXPECT_GE(times.front(), kMinute);
    EXPECT_LT(times.front(), kMinute + 2 * kSecond);
    EXPECT_GT(times.back(), kMinute + 28 * kSecond);
    EXPECT_LE(times.back(), kMinute + 30 * kSecond);
    EXPECT_LT(most_within(times, kSecond), 24u) << "of 200; 7 would be even";
}

TEST(ScheduleFleet, MachinesThatLoseARemoteTogetherComeBackSpread) {
    const auto times = first_calls(Job::Kind::pull, kTrouble);
    EXPECT_GE(times.front(), Schedule::kLeftAloneMinMs);
    EXPECT_GT(times.back(), 28 * kSecond);
    EXPECT_LE(times.back(), 30 * kSecond);
    EXPECT_LT(most_within(times, kSecond), 24u) << "of 200; 7 would be even";
}

// Applications of `asking` may ask.
class AskingScheduleTest : public ScheduleTest {
  protected:
    // The seconds in which this was done, from a second until another.
    std::vector<std::uint64_t> seconds_of(const std::string &job, std::uint64_t from,
                                          std::uint64_t to) {
        std::vector<std::uint64_t> seconds;
        for (std::uint64_t second = from; second < to; ++second) {
            for (std::string each = done(second * kSecond); !each.empty();
                 each = done(second * kSecond)) {
                if (each == job) seconds.push_back(second);
            }
        }
        return seconds;
    }
};

TEST_F(AskingScheduleTest, WhereApplicationsDoNotAskNothingIsLookedAt) {
    schedule_.note_start("game", 0);
    schedule_.note_question("game", 0);
    EXPECT_TRUE(seconds_of("look game", 0, 300).empty());
}

TEST_F(AskingScheduleTest, ManifestsAreLookedAtEachFiveSecondsForTwoMinutesAfterAStart) {
    schedule_.note_start("asking", 0);
    const auto looks = seconds_of("look asking", 0, 1000);
    ASSERT_EQ(looks.size(), 25u);
    for (std::size_t i = 0; i < looks.size(); ++i) EXPECT_EQ(looks[i], i * 5);
}

TEST_F(AskingScheduleTest, QuestionsKeepItGoingForAMinute) {
    schedule_.note_start("asking", 0);
    (void)seconds_of("look asking", 0, 500);
    schedule_.note_question("asking", 500 * kSecond);
    const auto looks = seconds_of("look asking", 500, 1000);
    ASSERT_EQ(looks.size(), 13u);
    EXPECT_EQ(looks.back(), 560u);
}

TEST_F(AskingScheduleTest, AQuestionAboutWhatNobodyHasStartedChangesNothing) {
    schedule_.note_question("asking", 0);
    EXPECT_EQ(schedule_.next_ms(), std::nullopt);
    EXPECT_EQ(schedule_.name_count(), 0u);
}

TEST_F(AskingScheduleTest, APushComesFiveSecondsAfterAStartAndAgainWhileItIsActive) {
    schedule_.note_start("asking", 0);
    EXPECT_THAT(seconds_of("push asking", 0, 1000), ::testing::ElementsAre(5, 35, 65, 95, 125));
}

TEST_F(AskingScheduleTest, StartsInARowDoNotPutAPushOffForEver) {
    std::vector<std::uint64_t> pushes;
    for (std::uint64_t second = 0; second < 60; ++second) {
        if (second % 2 == 0) schedule_.note_start("asking", second * kSecond);
        for (const std::uint64_t each : seconds_of("push asking", second, second + 1)) {
            pushes.push_back(each);
        }
    }
    ASSERT_FALSE(pushes.empty());
    EXPECT_EQ(pushes.front(), 30u);
}

TEST_F(AskingScheduleTest, ChanceKeepsMachinesFromLookingTogether) {
    chance_ = 0.999;
    schedule_.note_start("asking", 0);
    const auto looks = seconds_of("look asking", 0, 100);
    ASSERT_GE(looks.size(), 2u);
    EXPECT_EQ(looks[1], 8u);
}

TEST_F(AskingScheduleTest, ARemoteInTroubleIsLeftAloneByLooksToo) {
    schedule_.note_start("asking", 0);
    chance_ = 0.999;
    EXPECT_EQ(done(0), "pull asking");
    EXPECT_EQ(done(0, kTrouble), "look asking");
    EXPECT_TRUE(schedule_.is_left_alone("s3", 20 * kSecond));
    EXPECT_EQ(begun(8 * kSecond), "look asking");
    EXPECT_EQ(job_->left_alone, Remotes{"s3"});
}

}  // namespace
}  // namespace cairn::agent
