// SPDX-License-Identifier: MIT
#include "os/deadline.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include "os/environment.h"

namespace cairn {
namespace {

TEST(Deadline, HasPassedOnceItsTimeHasCome) {
    EXPECT_TRUE(Deadline::in_us(0).has_passed());
    EXPECT_FALSE(Deadline::in_ms(1'000'000).has_passed());
    EXPECT_FALSE(Deadline::never().has_passed());
    const Deadline soon = Deadline::in_us(50);
    while (monotonic_ns() < soon.ns()) {
    }
    EXPECT_TRUE(soon.has_passed());
}

TEST(Deadline, IsNeverWhereNoClockGetsThere) {
    EXPECT_EQ(Deadline::in_us(UINT64_MAX).ns(), UINT64_MAX);
    EXPECT_EQ(Deadline::in_ms(UINT64_MAX / 1'000'000).ns(), UINT64_MAX);
    EXPECT_LT(Deadline::in_ms(60'000).ns(), UINT64_MAX);
}

TEST(Backoff, WithoutPatienceDoesNotPause) {
    Backoff backoff(0);
    EXPECT_FALSE(backoff.pause());
}

TEST(Backoff, SleepsAsLongAsItsPatienceInPausesThatGrow) {
    const std::uint64_t begin = monotonic_ns();
    Backoff backoff(5'000);
    int count = 0;
    while (backoff.pause()) ++count;
    EXPECT_FALSE(backoff.pause());
    EXPECT_GE(monotonic_ns() - begin, 5'000'000u);
    // 20 + 40 + ... + 640 us and four of a millisecond, or each three quarters of that.
    EXPECT_GE(count, 9);
    EXPECT_LE(count, 13);
}

TEST(Backoff, IsAsPatientAsATestWants) {
    be_patient(3);
    const Backoff patient(5'000);
    be_patient(1);
    EXPECT_EQ(patient.left_us(), 15'000u);
    EXPECT_EQ(Backoff(5'000).left_us(), 5'000u);
}

// As in a process that is being profiled.
TEST(Backoff, SleepsAsLongWhileSignalsComeInBetween) {
    struct sigaction before = {}, handled = {};
    handled.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGALRM, &handled, &before), 0);
    const itimerval often = {{0, 200}, {0, 200}};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
    const std::uint64_t begin = monotonic_ns();
    Backoff backoff(20'000);
    while (backoff.pause()) {
    }
    const std::uint64_t slept_ns = monotonic_ns() - begin;
    const itimerval never = {};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before, nullptr);
    EXPECT_GE(slept_ns, 20'000'000u);
}

}  // namespace
}  // namespace cairn
