// SPDX-License-Identifier: MIT
#include "session_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn::d3d12 {
namespace {

KeyHash hash_of(int number) {
    return {static_cast<uint8_t>(number)};
}

// An entry that counts `size` bytes.
EntryRef entry_of(size_t size) {
    const std::string value(size - 1, 'v');
    return Entry::copy(as_bytes("k"), as_bytes(value));
}

// The numbers below 10 that are kept.
std::vector<int> kept(SessionMemory &level) {
    std::vector<int> numbers;
    for (int number = 0; number < 10; ++number) {
        if (level.find(hash_of(number)) != nullptr) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

TEST(SessionMemory, KeepsTheNewestUpToTheLimit) {
    SessionMemory level(100, 1000);
    for (const int number : {1, 2, 3}) {
        EXPECT_EQ(level.insert(hash_of(number), entry_of(40)), nullptr);
    }
    EXPECT_EQ(kept(level), (std::vector{2, 3}));
    // The evicted one counts no more: 20 bytes are left, and no byte besides.
    level.insert(hash_of(4), entry_of(20));
    EXPECT_EQ(kept(level), (std::vector{2, 3, 4}));
    level.insert(hash_of(5), entry_of(1));
    EXPECT_EQ(kept(level), (std::vector{3, 4, 5}));
}

TEST(SessionMemory, CountsEntries) {
    SessionMemory level(1000, 2);
    for (const int number : {1, 2, 3}) {
        level.insert(hash_of(number), entry_of(2));
    }
    EXPECT_EQ(kept(level), (std::vector{2, 3}));
}

TEST(SessionMemory, WhatIsThereStays) {
    SessionMemory level(100, 10);
    const EntryRef first = entry_of(10);
    level.insert(hash_of(1), first);
    EXPECT_EQ(level.insert(hash_of(1), entry_of(20)), first);
    // Only the first counts.
    level.insert(hash_of(2), entry_of(90));
    EXPECT_EQ(kept(level), (std::vector{1, 2}));
}

TEST(SessionMemory, AnEntryAboveTheLimitStaysUntilTheNext) {
    SessionMemory level(100, 10);
    level.insert(hash_of(1), entry_of(10));
    level.insert(hash_of(2), entry_of(500));
    EXPECT_EQ(kept(level), (std::vector{2}));
    level.insert(hash_of(3), entry_of(10));
    EXPECT_EQ(kept(level), (std::vector{3}));
    level.insert(hash_of(4), entry_of(90));
    EXPECT_EQ(kept(level), (std::vector{3, 4}));
}

TEST(SessionMemory, AClearTakesAll) {
    SessionMemory level(100, 10);
    level.insert(hash_of(1), entry_of(10));
    level.clear();
    EXPECT_EQ(level.find(hash_of(1)), nullptr);
    level.insert(hash_of(2), entry_of(20));
    level.insert(hash_of(3), entry_of(80));
    EXPECT_EQ(kept(level), (std::vector{2, 3}));
}

// A caller may still hold what is evicted.
TEST(SessionMemory, EvictedEntriesLiveAsLongAsTheyAreHeld) {
    SessionMemory level(10, 10);
    level.insert(hash_of(1), entry_of(10));
    const EntryRef held = level.find(hash_of(1));
    level.insert(hash_of(2), entry_of(10));
    EXPECT_EQ(level.find(hash_of(1)), nullptr);
    EXPECT_EQ(held->value().size(), 9u);
}

}  // namespace
}  // namespace cairn::d3d12
