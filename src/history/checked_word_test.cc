// SPDX-License-Identifier: MIT
#include "base/checked_word.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(CheckedWordTest, EachValueIsReadBackAtItsPlaceOnly) {
    EXPECT_EQ(checked_word(0, 7), 0u);
    unsigned elsewhere = 0;
    for (std::uint64_t value = 1; value < kCheckedMax / 3; value = value * 3 + 1) {
        EXPECT_EQ(checked_value(checked_word(value, 7), 7), value);
        if (checked_value(checked_word(value, 7), 8)) ++elsewhere;
    }
    EXPECT_LE(elsewhere, 1u);
    EXPECT_EQ(checked_value(checked_word(kCheckedMax, 7), 7), kCheckedMax);
}

TEST(CheckedWordTest, AChangedBitIsNoticed) {
    unsigned unnoticed = 0;
    for (std::uint64_t value = 1; value < 2000; ++value) {
        const std::uint64_t word = checked_word(value, 3);
        for (unsigned bit = 0; bit < 64; ++bit) {
            if (checked_value(word ^ std::uint64_t{1} << bit, 3)) ++unnoticed;
        }
    }
    EXPECT_LE(unnoticed, 2000u * 64 / 65536 * 4 + 4);
}

TEST(CheckedWordTest, ADamagedWordCountsAsNothingAndIsMendedByAdding) {
    std::uint64_t word = 0x1234'5678'9abc'def0;
    EXPECT_EQ(read_checked(word, 1), 0u);
    add_checked(word, 1, 5);
    EXPECT_EQ(read_checked(word, 1), 5u);
}

TEST(CheckedWordTest, ItStaysAtTheLargestValue) {
    std::uint64_t word = checked_word(kCheckedMax - 2, 0);
    add_checked(word, 0, UINT64_MAX);
    EXPECT_EQ(read_checked(word, 0), kCheckedMax);
    add_checked(word, 0, 1);
    EXPECT_EQ(read_checked(word, 0), kCheckedMax);
}

TEST(CheckedWordTest, ThreadsLoseNothing) {
    std::uint64_t word = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&word] {
            for (int n = 0; n < 10'000; ++n) add_checked(word, 2, 3);
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(read_checked(word, 2), 120'000u);
}

}  // namespace
}  // namespace cairn
