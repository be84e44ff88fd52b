// SPDX-License-Identifier: MIT
#include "os/per_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/mutex.h"
#include "os/testing/child.h"

namespace cairn {
namespace {

TEST(ProcessNumber, IsTheSameInAProcessAndAnotherInEachChild) {
    const std::uint64_t own = process_number();
    EXPECT_EQ(process_number(), own);
    EXPECT_EQ(static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(testing::in_child([&] {
                  const std::uint64_t child = process_number();
                  if (child == own || child != process_number()) return 1;
                  return testing::in_child(
                      [&] { return process_number() == own || process_number() == child ? 2 : 0; });
              }),
              0);
    EXPECT_EQ(process_number(), own);
}

struct Counted {
    Mutex mutex;
    int count = 0;
};

TEST(PerProcess, IsMadeWhenFirstAskedForAndStays) {
    PerProcess<Counted> counted;
    EXPECT_EQ(counted.existing(), nullptr);
    counted.get().count = 7;
    EXPECT_EQ(counted.get().count, 7);
    EXPECT_EQ(counted.existing(), &counted.get());
}

TEST(PerProcess, IsNewInAChildAlsoWhereItsLockIsHeld) {
    PerProcess<Counted> counted;
    const MutexLock lock(counted.get().mutex);
    counted.get().count = 7;
    EXPECT_EQ(testing::in_child([&] {
                  if (counted.existing() != nullptr) return 1;
                  const MutexLock own(counted.get().mutex);
                  return counted.get().count == 0 ? 0 : 2;
              }),
              0);
    EXPECT_EQ(counted.get().count, 7);
}

}  // namespace
}  // namespace cairn
