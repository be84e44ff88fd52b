// SPDX-License-Identifier: MIT
#include "os/event.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMillisecondNs = 1'000'000;

TEST(Event, ASignalBeforeTheWaitEndsIt) {
    const auto event = Event::make();
    ASSERT_TRUE(event.ok());
    event->signal();
    event->wait_until(UINT64_MAX, {});
    const std::uint64_t begin = monotonic_ns();
    event->wait_until(begin + 5 * kMillisecondNs, {});
    EXPECT_GE(monotonic_ns(), begin + 5 * kMillisecondNs) << "the signal ended one wait only";
}

TEST(Event, ASignalOfAnotherThreadEndsAWait) {
    const auto event = Event::make();
    ASSERT_TRUE(event.ok());
    std::thread other([&] { event->signal(); });
    event->wait_until(UINT64_MAX, {});
    other.join();
}

TEST(Event, AnotherDescriptorIsNamedAndTakenFrom) {
    const auto event = Event::make();
    ASSERT_TRUE(event.ok());
    const UniqueFd ready(eventfd(1, EFD_NONBLOCK)), quiet(eventfd(0, EFD_NONBLOCK));
    std::array<Event::Other, 2> others;
    others[0] = {quiet.get(), Event::Other::Kind::readable};
    others[1] = {ready.get(), Event::Other::Kind::readable};
    event->wait_until(UINT64_MAX, others);
    EXPECT_FALSE(others[0].happened);
    EXPECT_TRUE(others[1].happened);
    event->wait_until(monotonic_ns() + kMillisecondNs, others);
    EXPECT_FALSE(others[1].happened);
}

TEST(Event, ADescriptorThatIsNoneHasEnded) {
    const auto event = Event::make();
    ASSERT_TRUE(event.ok());
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const UniqueFd reading(pipes[0]);
    close(pipes[1]);
    std::array<Event::Other, 1> others;
    others[0] = {reading.get(), Event::Other::Kind::urgent};
    event->wait_until(UINT64_MAX, others);
    EXPECT_TRUE(others[0].ended);
    const std::uint64_t begin = monotonic_ns();
    event->wait_until(begin + 2 * kMillisecondNs, others);
    EXPECT_GE(monotonic_ns(), begin + 2 * kMillisecondNs) << "it is not waited for any more";
}

// Sandboxes set the limit on descriptors to nothing once all are open; then poll(2) fails at once.
TEST(Event, WhoMayNotWaitForDescriptorsSleepsStill) {
    const auto event = Event::make();
    ASSERT_TRUE(event.ok());
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const std::uint64_t end = monotonic_ns() + 50 * kMillisecondNs;
    std::uint64_t rounds = 0;
    for (; monotonic_ns() < end; ++rounds) event->wait_until(UINT64_MAX, {});
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_LE(rounds, 10u);
}

}  // namespace
}  // namespace cairn
