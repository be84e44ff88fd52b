// SPDX-License-Identifier: MIT
#include "base/token_bucket.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(TokenBucket, AllowsABurstAndThenItsRate) {
    TokenBucket bucket(100, 0);
    for (int i = 0; i < 200; ++i) {
        EXPECT_FALSE(bucket.empty());
        bucket.spend(1);
    }
    EXPECT_TRUE(bucket.empty());
    bucket.refill(kSecond / 10);
    EXPECT_DOUBLE_EQ(bucket.left(), 10);
    bucket.refill(1000 * kSecond);
    EXPECT_DOUBLE_EQ(bucket.left(), 200);  // no more than a burst
}

TEST(TokenBucket, HasWhatIsLargePaidOff) {
    TokenBucket bucket(100, 0);
    bucket.spend(500);
    bucket.refill(2 * kSecond);
    EXPECT_TRUE(bucket.empty());
    bucket.refill(4 * kSecond);
    EXPECT_FALSE(bucket.empty());
}

}  // namespace
}  // namespace cairn
