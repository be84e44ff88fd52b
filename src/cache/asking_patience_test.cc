// SPDX-License-Identifier: MIT
#include "cache/asking_patience.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr std::uint64_t kSecond = AskingPatience::kPauseNs;
constexpr std::uint64_t kMostUs = 20'000;

TEST(AskingPatience, TheFirstQuestionWaitsAsLongAsItMay) {
    const AskingPatience patience;
    EXPECT_EQ(patience.patience_us(0, kMostUs, std::nullopt), kMostUs);
}

TEST(AskingPatience, NoQuestionWaitsLongerThanCompilingTakes) {
    const AskingPatience patience;
    EXPECT_EQ(patience.patience_us(0, kMostUs, 5000), 5000u);
    EXPECT_EQ(patience.patience_us(0, kMostUs, 90'000), kMostUs);
    EXPECT_EQ(patience.patience_us(0, kMostUs, 999), std::nullopt) << "not worth a question";
}

TEST(AskingPatience, AnAgentThatIsSlowerThanCompilingIsNotAskedButOnceInAMinute) {
    AskingPatience patience;
    patience.note_answer(kSecond, 6000);
    EXPECT_EQ(patience.patience_us(kSecond, kMostUs, 5000), std::nullopt);
    EXPECT_EQ(patience.patience_us(kSecond, kMostUs, 7000), 7000u);
    EXPECT_EQ(patience.patience_us(60 * kSecond, kMostUs, 5000), std::nullopt);
    EXPECT_EQ(patience.patience_us(61 * kSecond, kMostUs, 5000), 5000u);
}

TEST(AskingPatience, WhatIsUsualFollowsWhatIsNew) {
    Usual usual;
    usual.note(8000);
    for (int i = 0; i < 100; ++i) usual.note(800);
    EXPECT_LT(*usual.value(), 1000u);
    EXPECT_GE(*usual.value(), 700u);
}

TEST(AskingPatience, FailuresMakePausesThatDoubleUpToFiveMinutes) {
    AskingPatience patience;
    std::uint64_t now = 0;
    for (std::uint64_t most = kSecond; most < 10'000 * kSecond; most *= 2) {
        patience.note_failure(now, 0.999'999'999);
        const std::uint64_t pause = std::min(most, AskingPatience::kPauseMaxNs);
        EXPECT_EQ(patience.patience_us(now + pause - pause / 100, kMostUs, {}), std::nullopt);
        now += pause;
        EXPECT_TRUE(patience.patience_us(now, kMostUs, {}));
    }
    patience.note_answer(now, 100);
    patience.note_failure(now, 0.999'999'999);
    EXPECT_TRUE(patience.patience_us(now + kSecond, kMostUs, {})) << "a success ends the row";
}

TEST(AskingPatience, ChanceMakesAPauseShorterButNeverNone) {
    AskingPatience patience;
    patience.note_failure(0, 0);
    EXPECT_EQ(patience.patience_us(kSecond / 10 - 1, kMostUs, {}), std::nullopt);
    EXPECT_TRUE(patience.patience_us(kSecond / 10, kMostUs, {}));
}

}  // namespace
}  // namespace cairn
