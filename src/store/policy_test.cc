// SPDX-License-Identifier: MIT
#include "store/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

// A candidate with a name of one letter. By default it has 1 KiB, cost a millisecond and was never
// hit.
struct Named {
    char name;
    Candidate candidate;
};

Named entry(char name, std::uint64_t stamp, unsigned hits = 0, std::uint32_t cost_us = 1000) {
    return {name, {1024, stamp, cost_us, hits, false, false}};
}
Named pinned(char name, std::uint64_t stamp) {
    Named result = entry(name, stamp);
    result.candidate.pinned = true;
    return result;
}
Named copied(Named named) {
    named.candidate.copied = true;
    return named;
}
Named sized(Named named, std::uint64_t size_bytes) {
    named.candidate.size_bytes = size_bytes;
    return named;
}

std::vector<Candidate> candidates_of(const std::vector<Named> &entries) {
    std::vector<Candidate> candidates;
    for (const Named &named : entries) candidates.push_back(named.candidate);
    return candidates;
}

// The names of the kept ones, in the order given.
std::string kept(const char *policy, const std::vector<Named> &entries,
                 std::uint64_t keep_bytes = kAll) {
    std::vector<Candidate> candidates = candidates_of(entries);
    policy_by_name(policy)->choose(candidates, {keep_bytes, keep_bytes});
    std::string names;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (candidates[i].keep) names.push_back(entries[i].name);
    }
    return names;
}

// The names in the order in which they go as single entries.
std::string order_of_going(const char *policy, std::vector<Named> entries) {
    std::string names;
    while (!entries.empty()) {
        std::vector<Candidate> candidates = candidates_of(entries);
        const std::size_t first = policy_by_name(policy)->first_to_go(candidates);
        names.push_back(entries[first].name);
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return names;
}

constexpr const char *kNames[] = {"default", "fifo", "lru", "mru"};

TEST(PolicyTest, EachHasItsNameAndOtherNamesHaveNone) {
    for (const char *name : kNames) {
        ASSERT_NE(policy_by_name(name), nullptr) << name;
        EXPECT_EQ(policy_by_name(name)->name, name);
    }
    EXPECT_EQ(policy_by_name("default"), &default_policy());
    for (const char *name : {"", "LRU", "lru ", "clock"}) EXPECT_EQ(policy_by_name(name), nullptr);
}

TEST(PolicyTest, OnlyMruEvictsTheNewestSegmentFirst) {
    for (const char *name : {"default", "fifo", "lru"}) {
        EXPECT_EQ(policy_by_name(name)->order, Policy::Order::oldest_segment_first) << name;
    }
    EXPECT_EQ(policy_by_name("mru")->order, Policy::Order::newest_segment_first);
}

TEST(PolicyTest, NoneKeepsAnythingOfNothingOrWithoutRoom) {
    for (const char *name : kNames) {
        EXPECT_EQ(kept(name, {}), "") << name;
        EXPECT_EQ(kept(name, {pinned('p', 1), entry('h', 2, 3)}, 0), "") << name;
        EXPECT_EQ(kept(name, {pinned('p', 1), entry('h', 2, 3)}, 1023), "") << name;
    }
}

TEST(PolicyTest, EachKeepsThePinnedFirstOfAll) {
    const std::vector<Named> entries = {entry('a', 1, 3), pinned('p', 2), entry('b', 3, 3),
                                        pinned('q', 4)};
    for (const char *name : kNames) {
        EXPECT_EQ(kept(name, entries, 2048), "pq") << name;
        EXPECT_EQ(kept(name, entries, 1024), "p") << name << ": of equals the first given";
    }
}

TEST(PolicyTest, FifoAndMruKeepOnlyThePinned) {
    const std::vector<Named> entries = {entry('a', 1, 3, 1'000'000), pinned('p', 2),
                                        entry('b', 3, 1), entry('c', 4, 0)};
    EXPECT_EQ(kept("fifo", entries), "p");
    EXPECT_EQ(kept("mru", entries), "p");
}

TEST(PolicyTest, LruKeepsWhatWasHitTheLatestFirst) {
    const std::vector<Named> entries = {entry('a', 10, 3), entry('b', 20, 1), entry('c', 30, 0),
                                        entry('d', 40, 2), entry('e', 50, 0, 1'000'000)};
    EXPECT_EQ(kept("lru", entries), "abd") << "neither the new nor the dear that nobody asked for";
    EXPECT_EQ(kept("lru", entries, 2048), "bd");
    EXPECT_EQ(kept("lru", entries, 1024), "d");
}

TEST(PolicyTest, DefaultKeepsWhatWasHitTheOftenestFirst) {
    const std::vector<Named> entries = {entry('a', 10, 1), entry('b', 20, 3), entry('c', 30, 0),
                                        entry('d', 40, 2), entry('e', 50, 0)};
    EXPECT_EQ(kept("default", entries), "abd");
    EXPECT_EQ(kept("default", entries, 2048), "bd");
    EXPECT_EQ(kept("default", entries, 1024), "b");
}

TEST(PolicyTest, OfEqualsTheFirstGivenAreKept) {
    const std::vector<Named> entries = {entry('a', 30, 1), entry('b', 20, 1), entry('c', 10, 1)};
    EXPECT_EQ(kept("default", entries, 2048), "ab");
    EXPECT_EQ(kept("lru", {entry('a', 7, 1), entry('b', 7, 1)}, 1024), "a");
}

TEST(PolicyTest, WhatDoesNotFitLeavesItsRoomToTheNext) {
    const std::vector<Named> entries = {sized(entry('a', 1, 3, 2000), 2048),
                                        sized(entry('b', 2, 2, 500), 512), entry('c', 3, 1, 1000)};
    EXPECT_EQ(kept("default", entries, 2047), "bc");
    EXPECT_EQ(kept("default", entries, 2048), "a");
    EXPECT_EQ(kept("default", entries, 2560), "ab");
}

TEST(PolicyTest, DefaultWeighsAHitAsAFourfoldCostPerByte) {
    const auto first_of = [](Named a, Named b) { return kept("default", {a, b}, 1024); };
    const Named twice = entry('b', 2, 2, 1000);
    EXPECT_EQ(first_of(twice, entry('a', 1, 1, 8000)), "a");
    EXPECT_EQ(first_of(entry('a', 1, 1, 2000), twice), "b");
    EXPECT_EQ(first_of(twice, entry('a', 1, 1, 4000)), "b") << "equal: the first given";
    EXPECT_EQ(first_of(entry('a', 1, 1, 4000), twice), "a");
    // The same cost in a quarter of the bytes.
    EXPECT_EQ(kept("default", {entry('a', 1, 1), sized(entry('b', 2, 1), 256)}, 1100), "b");
}

TEST(PolicyTest, DefaultKeepsOnceWhatCostsFourTimesTheUsualAndWasNeverHit) {
    const std::vector<Named> usual = {entry('a', 1), entry('b', 2), entry('c', 3)};
    const auto with = [&](Named named) {
        std::vector<Named> entries = usual;
        entries.push_back(named);
        return kept("default", entries);
    };
    EXPECT_EQ(with(entry('x', 4, 0, 4000)), "x");
    EXPECT_EQ(with(entry('x', 4, 0, 2000)), "");
    EXPECT_EQ(with(copied(entry('x', 4, 0, 4000))), "") << "not for ever";
    EXPECT_EQ(with(copied(entry('x', 4, 1, 1000))), "x") << "what was hit may be copied again";
    EXPECT_EQ(with(sized(entry('x', 4), 256)), "x") << "the same cost in a quarter of the bytes";
    // It is the first to be left out where there is no room.
    EXPECT_EQ(kept("default", {entry('x', 4, 0, 400'000), entry('h', 5, 1), entry('a', 1)}, 1024),
              "h");
}

TEST(PolicyTest, AnUnknownCostCountsAsTheUsualOne) {
    EXPECT_EQ(kept("default", {entry('a', 1, 0, 0), entry('b', 2, 0, 0)}), "");
    EXPECT_EQ(kept("default", {entry('a', 1, 1, 0), entry('b', 2, 1, 0)}), "ab");
    const std::vector<Named> entries = {entry('u', 1, 1, 0), entry('c', 2, 1, 100),
                                        entry('m', 3, 1, 1000), entry('d', 4, 1, 9000)};
    EXPECT_EQ(kept("default", entries, 1024), "d");
    EXPECT_EQ(kept("default", entries, 2048), "ud") << "as the middle one, which comes later";
    EXPECT_EQ(kept("default", entries, 3072), "umd");
}

// The middle one of an even number is the upper one; unknown costs are not among them.
TEST(PolicyTest, TheUsualCostIsTheMiddleOne) {
    const auto is_dear = [](std::vector<std::uint32_t> costs_us) {
        std::vector<Named> entries = {entry('x', 1, 0, 4000)};
        for (const std::uint32_t cost_us : costs_us) entries.push_back(entry('y', 2, 0, cost_us));
        return kept("default", entries) == "x";
    };
    EXPECT_FALSE(is_dear({})) << "alone it is what is usual";
    EXPECT_FALSE(is_dear({1000}));
    EXPECT_TRUE(is_dear({1000, 1000}));
    EXPECT_FALSE(is_dear({1000, 4000, 4000}));
    EXPECT_FALSE(is_dear({1000, 1000, 4000}));
    EXPECT_FALSE(is_dear({0, 0, 0, 0}));
    EXPECT_TRUE(is_dear({0, 0, 1000, 1000}));
}

TEST(PolicyTest, TheLargestNumbersAreNumbers) {
    constexpr std::uint32_t kCost = std::numeric_limits<std::uint32_t>::max();
    const std::vector<Named> entries = {sized(entry('a', kAll, 3, kCost), 0),
                                        sized(entry('b', kAll, 3, 1), kAll), pinned('p', kAll)};
    EXPECT_EQ(kept("default", entries, 1024), "ap");
    EXPECT_EQ(kept("lru", entries, kAll), "ap");
    EXPECT_EQ(order_of_going("default", entries), "bap");
    EXPECT_EQ(order_of_going("mru", entries), "abp");
}

// --- single entries

TEST(PolicyTest, SingleEntriesOfFifoGoByAgeAlone) {
    EXPECT_EQ(order_of_going("fifo", {entry('c', 30, 3), entry('a', 10, 3), entry('d', 40),
                                      entry('b', 20, 1, 1'000'000)}),
              "abcd");
}

TEST(PolicyTest, SingleEntriesOfMruGoTheNewestFirst) {
    EXPECT_EQ(order_of_going("mru", {entry('c', 30, 3), entry('a', 10, 3), entry('d', 40),
                                     entry('b', 20, 1, 1'000'000)}),
              "dcba");
}

TEST(PolicyTest, SingleEntriesOfLruGoByAgeThoseThatWereHitLater) {
    EXPECT_EQ(order_of_going("lru", {entry('d', 40), entry('a', 10, 3), entry('c', 30),
                                     entry('b', 20, 1), entry('e', 50)}),
              "cdeab");
}

TEST(PolicyTest, SingleEntriesOfDefaultGoByWorthThenByAge) {
    const std::vector<Named> entries = {entry('d', 40),          entry('a', 10, 3), entry('c', 30),
                                        entry('b', 20, 1),       entry('e', 50, 1), entry('f', 60),
                                        entry('x', 5, 0, 64'000)};
    EXPECT_EQ(order_of_going("default", entries), "cdfxbea");
}

TEST(PolicyTest, ASinglePinnedEntryGoesOnlyWhenAllAreThePinnedByAge) {
    const std::vector<Named> entries = {pinned('q', 20), entry('a', 30, 3), pinned('p', 10),
                                        entry('b', 40, 3)};
    for (const char *name : {"default", "fifo", "lru"}) {
        EXPECT_EQ(order_of_going(name, entries), "abpq") << name;
    }
    EXPECT_EQ(order_of_going("mru", entries), "baqp");
}

TEST(PolicyTest, OfSingleEntriesOfOneAgeTheFirstGivenGoes) {
    for (const char *name : kNames) {
        EXPECT_EQ(order_of_going(name, {entry('a', 7), entry('b', 7)}), "ab") << name;
    }
}

// What would be dropped from a segment goes before what would be copied.
TEST(PolicyTest, SingleEntriesAreMarkedAsASegmentWouldKeepThem) {
    for (const char *name : kNames) {
        const std::vector<Named> entries = {entry('a', 10, 1), pinned('p', 20),
                                            entry('b', 30),    entry('c', 40, 3),
                                            entry('d', 50),    entry('x', 60, 0, 64'000)};
        std::vector<Candidate> candidates = candidates_of(entries);
        const std::size_t first = policy_by_name(name)->first_to_go(candidates);
        std::string names;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (candidates[i].keep) names.push_back(entries[i].name);
        }
        EXPECT_EQ(names, kept(name, entries)) << name;
        EXPECT_FALSE(candidates[first].keep) << name;
    }
}

// --- copies, and what may be copied

TEST(PolicyTest, ACopyHasAHitLess) {
    EXPECT_EQ(hits_after_copy(0), 0u);
    EXPECT_EQ(hits_after_copy(1), 0u);
    EXPECT_EQ(hits_after_copy(2), 1u);
    EXPECT_EQ(hits_after_copy(3), 2u);
}

TEST(PolicyTest, AllMayBeCopiedUntilTheDebtIsAnEighthOfTheLimit) {
    EXPECT_EQ(copy_allowance(1000, 0, 8000).other_bytes, 1000u);
    EXPECT_EQ(copy_allowance(1000, 999, 8000).other_bytes, 1000u);
    EXPECT_EQ(copy_allowance(1000, 1000, 8000).other_bytes, 250u);
    EXPECT_EQ(copy_allowance(1000, kAll, 8000).other_bytes, 250u);
    EXPECT_EQ(copy_allowance(1000, 0, 0).other_bytes, 250u);
    EXPECT_EQ(copy_allowance(0, 0, 8000).other_bytes, 0u);
}

TEST(PolicyTest, PinnedEntriesMayBeCopiedUntilTheDebtIsHalfOfTheLimitOrSomeMegabytes) {
    EXPECT_EQ(copy_allowance(1000, 3999, 8000).pinned_bytes, 1000u);
    EXPECT_EQ(copy_allowance(1000, 4000, 8000).pinned_bytes, 250u);
    EXPECT_EQ(copy_allowance(1000, kPinnedDebtMax, kPinnedDebtMax * 4).pinned_bytes, 250u);
    EXPECT_EQ(copy_allowance(1000, kPinnedDebtMax, kPinnedDebtMax * 16).pinned_bytes, 1000u);
}

TEST(PolicyTest, WhatIsCopiedOfPinnedEntriesIsTakenOffTheOthers) {
    std::vector<Candidate> candidates =
        candidates_of({entry('a', 1, 3), pinned('p', 2), entry('b', 3, 3), pinned('q', 4)});
    policy_by_name("default")->choose(candidates, {2048, 1024});
    EXPECT_TRUE(candidates[1].keep && candidates[3].keep);
    EXPECT_FALSE(candidates[0].keep || candidates[2].keep);
}

TEST(PolicyTest, TheDebtGrowsByWhatIsCopiedAndShrinksByWhatIsFreed) {
    EXPECT_EQ(debt_after(0, 1000, 1000), 1000u);
    EXPECT_EQ(debt_after(0, 1000, 600), 200u);
    EXPECT_EQ(debt_after(0, 1000, 500), 0u);
    EXPECT_EQ(debt_after(100, 1000, 500), 100u);
    EXPECT_EQ(debt_after(100, 1000, 0), 0u) << "and is never less than none";
    EXPECT_EQ(debt_after(5000, 1000, 0), 4000u);
    EXPECT_EQ(debt_after(5000, 1000, 250), 4500u) << "a quarter copied pays it back";
    EXPECT_EQ(debt_after(0, 1000, 1200), 1200u) << "a record may end behind its part";
}

TEST(PolicyTest, WhereAllIsWorthACopyTheDebtStaysBelowAnEighthOfTheLimitAndOnePart) {
    constexpr std::uint64_t kLimit = 64'000, kPart = 1000;
    std::uint64_t debt = 0, largest = 0;
    for (int i = 0; i < 1000; ++i) {
        debt = debt_after(debt, kPart, copy_allowance(kPart, debt, kLimit).other_bytes);
        largest = std::max(largest, debt);
    }
    EXPECT_EQ(largest, 8500u);  // 8000, 7500, 8500, 8000, ...
}

// A taste is found among entries as they were put.
TEST(PolicyTest, ToATasteAnEntryIsWorthNoMoreBecauseItIsCompressed) {
    Candidate whole = sized(entry('w', 1), 4096).candidate;
    Candidate compressed = sized(entry('c', 2), 1024).candidate;
    whole.raw_bytes = compressed.raw_bytes = 4096;
    const Taste any = {Aging::never};
    const int worth = worth_of(1, density_of(whole.cost_us, 4096), 0, any);
    for (const int threshold : {worth - 1, worth}) {
        std::vector<Candidate> both = {whole, compressed};
        const Taste taste = {Aging::never, threshold};
        default_policy().choose(both, {kAll, kAll}, &taste);
        EXPECT_EQ(both[0].keep, threshold < worth);
        EXPECT_EQ(both[1].keep, threshold < worth);
    }
}

}  // namespace
}  // namespace cairn
