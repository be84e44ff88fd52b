// SPDX-License-Identifier: MIT
#include "cache/use_notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace cairn {
namespace {

using Where = UseNotes::Where;

std::string name(std::size_t i) {
    return "key " + std::to_string(i);
}

TEST(UseNotes, AStartIsItsKeysInTheOrderOfTheirFirstUse) {
    UseNotes notes;
    for (const char *key : {"b", "a", "b", "c", "a"}) notes.note(as_bytes(key), Where::elsewhere);
    EXPECT_EQ(notes.start(), (StartOrder{"b", "a", "c"}));
    EXPECT_EQ(notes.start_count(), 3u);
    EXPECT_TRUE(notes.take_hits().empty());
    notes.end_start();
    notes.note(as_bytes("d"), Where::memory);
    EXPECT_TRUE(notes.start().empty());
}

TEST(UseNotes, AStartHasAKeyOnceAlthoughTheFilterForgetsIt) {
    UseNotes notes;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 2 * kOrderKeysMax; ++i) {
            notes.note(as_bytes(name(i)), Where::elsewhere);
        }
    }
    StartOrder start = notes.start();
    EXPECT_EQ(start.size(), kOrderKeysMax);
    EXPECT_EQ(start.back(), name(kOrderKeysMax - 1));
    std::sort(start.begin(), start.end());
    EXPECT_EQ(std::unique(start.begin(), start.end()), start.end());
}

TEST(UseNotes, AHitInMemoryIsNotedOnceUntilTheHitsAreTaken) {
    UseNotes notes;
    for (int i = 0; i < 3; ++i) {
        notes.note(as_bytes("a"), Where::memory);
        notes.note(as_bytes("b"), Where::elsewhere);
    }
    EXPECT_EQ(notes.take_hits(), std::vector<std::string>{"a"});
    EXPECT_TRUE(notes.take_hits().empty());
    notes.note(as_bytes("a"), Where::memory);
    EXPECT_EQ(notes.take_hits(), std::vector<std::string>{"a"});
}

TEST(UseNotes, AFullBatchIsSaidOnceAndHitsAreBounded) {
    UseNotes notes;
    std::size_t said = 0;
    for (std::size_t i = 0; i < 10'000; ++i) {
        if (notes.note(as_bytes(name(i)), Where::memory)) ++said;
    }
    EXPECT_EQ(said, UseNotes::kHitsMax / UseNotes::kBatch);
    EXPECT_TRUE(notes.is_batch_full());
    EXPECT_EQ(notes.take_hits().size(), UseNotes::kHitsMax);
    EXPECT_FALSE(notes.is_batch_full());
}

TEST(UseNotes, LongKeysAreLeftOut) {
    UseNotes notes;
    notes.note(as_bytes(std::string(UseNotes::kHitKeyMax + 1, 'x')), Where::memory);
    EXPECT_TRUE(notes.take_hits().empty());
    notes.note(as_bytes(std::string(kOrderKeyMax + 1, 'x')), Where::memory);
    EXPECT_EQ(notes.start_count(), 1u);
}

TEST(UseNotes, WhatIsForgottenMayBeNotedAgain) {
    UseNotes notes;
    notes.note(as_bytes("a"), Where::memory);
    notes.forget();
    EXPECT_EQ(notes.start_count(), 0u);
    EXPECT_TRUE(notes.take_hits().empty());
    notes.note(as_bytes("a"), Where::memory);
    EXPECT_EQ(notes.start(), StartOrder{"a"});
}

}  // namespace
}  // namespace cairn
