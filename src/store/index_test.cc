// SPDX-License-Identifier: MIT
#include "store/index.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

#include "store/index_file.h"
#include "store/testing/cache_files.h"

namespace cairn {
namespace {

class IndexTest : public ::testing::Test {
  protected:
    static Slot slot(std::uint64_t hash, std::uint32_t number) {
        return Slot::make({number % 1000, std::uint64_t{number} % 1'000'000 * kRecordAlignment}, 3,
                          Slot::tag_of(hash));
    }
    static std::set<std::uint64_t> words_of(Index &index, std::uint64_t hash) {
        std::set<std::uint64_t> words;
        Index::Candidates candidates(index, hash);
        while (const auto found = candidates.next()) words.insert(found->slot.word());
        return words;
    }
    static void write(Index::Place place, std::uint64_t word) {
        std::atomic_ref(*place.word).store(word ^ place.mask);
    }
    static unsigned count(Index &index) {
        unsigned entries = 0;
        index.for_each([&](Index::Place, Slot) {
            ++entries;
            return false;
        });
        return entries;
    }
    std::uint64_t file_size() { return files_.directory().info(kIndexFileName)->size_bytes; }
    // A hash with the given bucket in the first level.
    static std::uint64_t hash_in_bucket(std::uint64_t bucket, std::uint64_t number) {
        return bucket | (number * 0x9E3779B97F4A7C15u & ~std::uint64_t{0xFF});
    }
    // Inserts slots of one bucket until it is full in all levels. Returns how many fitted.
    static unsigned fill_bucket(Index &index, std::uint64_t bucket, std::uint64_t first = 1) {
        for (unsigned i = 0;; ++i) {
            const std::uint64_t hash = hash_in_bucket(bucket, first + i);
            if (!index.insert(hash, slot(hash, i)).ok()) return i;
        }
    }

    testing::CacheFiles files_;
    Index &index_ = files_.index();
};

// Tries each bit of each slot of a bucket, among slots that match and slots that do not.
TEST_F(IndexTest, AProbeFindsAllMatchesAndTellsOfDamage) {
    constexpr std::uint64_t kBucket = 9;
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 0; i < kSlotsPerBucket; ++i) {
        // Four of each tag.
        hashes.push_back(kBucket | ((i % 4 + 1) << 60) | i << 20);
        ASSERT_TRUE(index_.insert(hashes[i], slot(hashes[i], static_cast<std::uint32_t>(i))).ok());
    }
    const auto probe = [&](std::uint64_t hash, bool &clean) {
        unsigned seen = 0;
        Index::Candidates candidates(index_, hash);
        while (const auto found = candidates.next()) {
            EXPECT_EQ(found->slot.tag(), Slot::tag_of(hash));
            ++seen;
        }
        clean = candidates.is_clean();
        return seen;
    };
    for (const std::uint64_t hash : hashes) {
        bool clean = false;
        EXPECT_EQ(probe(hash, clean), 4u);
        EXPECT_TRUE(clean);
        const auto own = slot(hash, static_cast<std::uint32_t>(hash >> 20 & 0xFF));
        const auto found = index_.slot_at(hash, own.location());
        ASSERT_TRUE(found);
        for (unsigned bit = 0; bit < 64; ++bit) {
            const std::uint64_t bad = own.word() ^ std::uint64_t{1} << bit;
            write(found->place, bad);
            const bool harmless = Slot(bad).intact();  // a hit
            EXPECT_EQ(probe(hash, clean), harmless ? 4u : 3u) << "bit " << bit;
            EXPECT_EQ(clean, harmless) << "bit " << bit;
        }
        write(found->place, found->place.mask);  // zero in the file
        EXPECT_EQ(probe(hash, clean), 3u);
        EXPECT_FALSE(clean);
        write(found->place, own.word());
    }
    bool clean = false;
    EXPECT_EQ(probe(kBucket | std::uint64_t{7} << 60, clean), 0u);
    EXPECT_TRUE(clean);
}

TEST_F(IndexTest, WhatIsInsertedIsFoundByEverybodyWhoHasTheFile) {
    const auto other = files_.open_index();
    const std::uint64_t hash = hash_in_bucket(5, 1);
    ASSERT_TRUE(index_.insert(hash, slot(hash, 9)).ok());
    EXPECT_EQ(words_of(index_, hash), std::set{slot(hash, 9).word()});
    EXPECT_EQ(words_of(*other, hash), std::set{slot(hash, 9).word()});
}

TEST_F(IndexTest, OtherTagsOfTheBucketAreNotVisited) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    ASSERT_TRUE(index_.insert(hash, slot(hash, 9)).ok());
    EXPECT_TRUE(words_of(index_, hash ^ (std::uint64_t{1} << 63)).empty());
    EXPECT_TRUE(words_of(index_, hash + 1).empty()) << "another bucket";
}

TEST_F(IndexTest, AfterTheLastCandidateThereAreNoMore) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    ASSERT_TRUE(index_.insert(hash, slot(hash, 1)).ok());
    ASSERT_TRUE(index_.insert(hash, slot(hash, 2)).ok());
    Index::Candidates candidates(index_, hash);
    EXPECT_TRUE(candidates.next());
    EXPECT_TRUE(candidates.next());
    EXPECT_FALSE(candidates.next());
    EXPECT_FALSE(candidates.next());
}

TEST_F(IndexTest, AFullBucketGrowsTheIndexAndNothingMoves) {
    EXPECT_EQ(fill_bucket(index_, 3), kSlotsPerBucket);
    const std::uint64_t before = file_size();
    const std::uint64_t growth = index_.growth_bytes();
    std::vector<std::set<std::uint64_t>> found;
    for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
        found.push_back(words_of(index_, hash_in_bucket(3, 1 + i)));
    }
    ASSERT_TRUE(index_.grow().ok());
    EXPECT_EQ(file_size(), before + growth);
    for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
        EXPECT_EQ(words_of(index_, hash_in_bucket(3, 1 + i)), found[i]);
    }
    const std::uint64_t hash = hash_in_bucket(3, 999);
    EXPECT_TRUE(index_.insert(hash, slot(hash, 999)).ok());
    EXPECT_EQ(count(index_), kSlotsPerBucket + 1);
}

// On this file system, reading a hole through a mapping may allocate a block, too.
TEST_F(IndexTest, ALevelWithoutBlocksTakesThoseOfItsPagesAlone) {
    fill_bucket(index_, 3);
    const auto disk_bytes = [&] { return files_.directory().info(kIndexFileName)->disk_bytes; };
    const std::uint64_t before = disk_bytes();
    const std::uint64_t hash = hash_in_bucket(3, 999);
    const std::uint64_t growth = index_.growth_bytes_for(hash);
    ASSERT_TRUE(index_.grow_for(hash).ok());
    EXPECT_EQ(disk_bytes(), before + growth);
    EXPECT_EQ(file_size(), index_size(2));
    ASSERT_TRUE(index_.insert(hash, slot(hash, 999)).ok());
    const auto other = files_.open_index();
    for (Index *index : {&index_, other.get()}) {
        for (std::uint64_t bucket = 0; bucket < level_buckets(1); ++bucket) {
            (void)words_of(*index, bucket);
            (void)index->suspicious(bucket);
            (void)index->free_damaged(bucket);
        }
        EXPECT_EQ(count(*index), kSlotsPerBucket + 1);
        EXPECT_EQ(words_of(*index, hash), std::set{slot(hash, 999).word()});
    }
    EXPECT_EQ(disk_bytes(), before + growth);
    other->clear();
    EXPECT_EQ(count(index_), 0u);
    EXPECT_EQ(disk_bytes(), before + growth);
}

TEST_F(IndexTest, BlocksOfOneLevelDoNotStandForWhatAnotherLacks) {
    ASSERT_TRUE(index_.grow_for(3).ok());
    ASSERT_TRUE(index_.grow_for(3).ok());
    for (std::uint64_t page = 1; page < level_pages(1); ++page) {
        ASSERT_TRUE(index_.grow_for(page * kSlotsPerPage / kSlotsPerBucket).ok());
    }
    const auto disk_bytes = [&] { return files_.directory().info(kIndexFileName)->disk_bytes; };
    const std::uint64_t before = disk_bytes();
    ASSERT_GE(before, index_size(2));
    ASSERT_EQ(file_size(), index_size(3));
    const auto other = files_.open_index();
    for (std::uint64_t bucket = 0; bucket < level_buckets(1); ++bucket) {
        (void)words_of(*other, bucket);
    }
    EXPECT_EQ(disk_bytes(), before);
}

TEST_F(IndexTest, APageIsFoundInALevelWithoutBlocksThoughItsBitIsLost) {
    fill_bucket(index_, 3);
    const std::uint64_t hash = hash_in_bucket(3, 999);
    ASSERT_TRUE(index_.grow_for(hash).ok());
    ASSERT_TRUE(index_.insert(hash, slot(hash, 999)).ok());
    const std::array<std::byte, kPage> zeros = {};
    files_.overwrite(kIndexFileName, level_offset(1), zeros);
    EXPECT_EQ(words_of(*files_.open_index(), hash), std::set{slot(hash, 999).word()});
}

TEST_F(IndexTest, OthersFollowGrowthWithoutBeingTold) {
    const auto other = files_.open_index();
    const auto reading = files_.open_index(Access::read_only);
    fill_bucket(index_, 3);
    ASSERT_TRUE(index_.grow().ok());
    const std::uint64_t hash = hash_in_bucket(3, 999);
    ASSERT_TRUE(index_.insert(hash, slot(hash, 999)).ok());
    EXPECT_EQ(words_of(*other, hash), std::set{slot(hash, 999).word()});
    EXPECT_EQ(words_of(*reading, hash), std::set{slot(hash, 999).word()});
    EXPECT_EQ(words_of(*files_.open_index(), hash), std::set{slot(hash, 999).word()});
}

TEST_F(IndexTest, RanksDifferAndAreTheSameForEverybody) {
    fill_bucket(index_, 3);
    ASSERT_TRUE(index_.grow().ok());
    fill_bucket(index_, 3, 100);
    const auto other = files_.open_index();
    std::vector<unsigned> mine, theirs;
    const auto collect = [](std::vector<unsigned> &ranks) {
        return [&ranks](Index::Place place, Slot) { ranks.push_back(place.rank); };
    };
    index_.visit_buckets(hash_in_bucket(3, 1), collect(mine));
    other->visit_buckets(hash_in_bucket(3, 1), collect(theirs));
    EXPECT_EQ(mine, theirs);
    EXPECT_EQ(std::set(mine.begin(), mine.end()).size(), mine.size());
    EXPECT_GT(mine.size(), kSlotsPerBucket);
}

TEST_F(IndexTest, ThreadsInsertingAtOnceLoseNothing) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kEach = 500;
    const auto other = files_.open_index();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            Index &mine = t % 2 == 0 ? index_ : *other;
            for (unsigned i = 0; i < kEach; ++i) {
                const unsigned number = t * kEach + i + 1;
                const std::uint64_t hash = hash_in_bucket(number % 256, number);
                while (!mine.insert(hash, slot(hash, number)).ok()) (void)mine.grow();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    for (unsigned number = 1; number <= kThreads * kEach; ++number) {
        const std::uint64_t hash = hash_in_bucket(number % 256, number);
        EXPECT_TRUE(words_of(index_, hash).contains(slot(hash, number).word())) << number;
    }
}

TEST_F(IndexTest, AnUndamagedMissIsBelieved) {
    const auto other = files_.open_index();
    for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_FALSE(index_.suspicious(hash_in_bucket(i, i)));
    fill_bucket(index_, 3);
    ASSERT_TRUE(index_.grow().ok());
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_FALSE(index_.suspicious(hash_in_bucket(i, i)));
        EXPECT_FALSE(other->suspicious(hash_in_bucket(i, i)));
    }
}

TEST_F(IndexTest, ADamagedSlotMakesItsBucketSuspiciousAndNoOther) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    const auto place = index_.insert(hash, slot(hash, 9));
    ASSERT_TRUE(place.ok());
    for (unsigned bit = 0; bit < 64; ++bit) {
        write(place.value(), slot(hash, 9).word() ^ (std::uint64_t{1} << bit));
        const bool hit_bit = Slot(place->ref().load()).intact();
        EXPECT_EQ(index_.suspicious(hash), !hit_bit) << "bit " << bit;
        EXPECT_FALSE(index_.suspicious(hash + 1));
        EXPECT_EQ(words_of(index_, hash).empty(), !hit_bit);
    }
}

// Each word is whole. But not where it is.
TEST_F(IndexTest, SlotsThatDamageHasMovedAreSuspiciousAndFoundNowhere) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    ASSERT_TRUE(index_.insert(hash, slot(hash, 9)).ok());
    constexpr std::uint64_t kSlots = level_offset(0) + level_bitmap_pages(0) * kPage;
    constexpr std::uint64_t kBucket = kSlotsPerBucket * 8;
    const auto file = files_.directory().open_file(kIndexFileName, Access::read_only);
    std::array<std::byte, kPage> page;
    ASSERT_TRUE(file.ok() && file->read_at(kSlots, page).ok());
    const Bytes own = Bytes(page).subspan(5 * kBucket, kBucket);
    const auto file_as_it_was = [&] { files_.overwrite(kIndexFileName, kSlots, page); };
    // To another bucket of this tag, in this page and in the same place of another one.
    for (const std::uint64_t to : {std::uint64_t{6}, std::uint64_t{5 + 32}}) {
        files_.overwrite(kIndexFileName, kSlots + to * kBucket, own);
        const std::uint64_t there = (hash & ~std::uint64_t{0xFF}) | to;
        EXPECT_TRUE(words_of(index_, there).empty()) << to;
        EXPECT_TRUE(index_.suspicious(there)) << to;
        EXPECT_FALSE(index_.suspicious(hash));
        EXPECT_EQ(count(index_), 1u);
    }
    // Another bucket's slots, all of them empty, in its place.
    file_as_it_was();
    files_.overwrite(kIndexFileName, kSlots + 5 * kBucket,
                     Bytes(page).subspan(7 * kBucket, kBucket));
    EXPECT_TRUE(words_of(index_, hash).empty());
    EXPECT_TRUE(index_.suspicious(hash));
    // Two slots of one bucket that have changed places.
    file_as_it_was();
    std::array<std::byte, kBucket> turned;
    std::copy(own.begin() + 8, own.begin() + 16, turned.begin());
    std::copy(own.begin(), own.begin() + 8, turned.begin() + 8);
    std::copy(own.begin() + 16, own.end(), turned.begin() + 16);
    files_.overwrite(kIndexFileName, kSlots + 5 * kBucket, turned);
    EXPECT_TRUE(index_.suspicious(hash));
    file_as_it_was();
    EXPECT_EQ(words_of(index_, hash), std::set{slot(hash, 9).word()});
    EXPECT_FALSE(index_.suspicious(hash));
}

TEST_F(IndexTest, AZeroedPageOfAnInitialisedLevelIsSuspicious) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    const auto place = index_.insert(hash, slot(hash, 9));
    const std::vector<std::byte> zeroes(kPage);
    files_.overwrite(kIndexFileName, level_offset(0) + level_bitmap_pages(0) * kPage, zeroes);
    EXPECT_EQ(*place->word, 0u) << "the page with the bucket was not the one overwritten";
    EXPECT_TRUE(index_.suspicious(hash));
    EXPECT_TRUE(words_of(index_, hash).empty());
}

TEST_F(IndexTest, FreeingDamagedSlotsEmptiesThemAndNothingElse) {
    const std::uint64_t bad = hash_in_bucket(5, 1);
    const std::uint64_t good = hash_in_bucket(5, 2);
    const auto place = index_.insert(bad, slot(bad, 9));
    ASSERT_TRUE(index_.insert(good, slot(good, 10)).ok());
    write(place.value(), 0x1234567);
    ASSERT_TRUE(index_.suspicious(bad));
    EXPECT_EQ(index_.rebuild_due(), RebuildReason::none);
    EXPECT_TRUE(index_.free_damaged(bad));
    EXPECT_EQ(place->ref().load(), kEmptySlot);
    EXPECT_EQ(index_.rebuild_due(), RebuildReason::damage)
        << "nothing tells of the damage any more";
    EXPECT_EQ(words_of(index_, good), std::set{slot(good, 10).word()});
    EXPECT_EQ(count(index_), 1u);
}

TEST_F(IndexTest, ClearingEmptiesEveryLevel) {
    fill_bucket(index_, 3);
    ASSERT_TRUE(index_.grow().ok());
    fill_bucket(index_, 3, 100);
    EXPECT_GT(count(index_), kSlotsPerBucket);
    index_.clear();
    EXPECT_EQ(count(index_), 0u);
    EXPECT_GT(fill_bucket(index_, 3), kSlotsPerBucket) << "its places can be used again";
}

TEST_F(IndexTest, EnumeratingSkipsWhatIsNotPublished) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    const auto place = index_.insert(hash, slot(hash, 9).as_tentative());
    EXPECT_EQ(count(index_), 0u);
    write(place.value(), slot(hash, 9).word());
    EXPECT_EQ(count(index_), 1u);
}

TEST_F(IndexTest, FromAnyStartEachEntryIsVisitedOnce) {
    fill_bucket(index_, 3);
    ASSERT_TRUE(index_.grow().ok());
    ASSERT_TRUE(index_.grow().ok());
    fill_bucket(index_, 3, 100);
    fill_bucket(index_, 200, 1000);
    std::multiset<std::uint64_t> all;
    index_.for_each([&](Index::Place, Slot found) {
        all.insert(found.word());
        return false;
    });
    for (const std::uint64_t start : {0u, 3u, 4u, 255u, 256u, 123'456'789u}) {
        std::multiset<std::uint64_t> seen;
        index_.for_each_from(start, [&](Index::Place, Slot found) {
            seen.insert(found.word());
            return false;
        });
        EXPECT_EQ(seen, all) << start;
    }
}

TEST_F(IndexTest, FromAStartTheBucketsOfOneHashComeFirst) {
    const std::uint64_t low = hash_in_bucket(7, 1), high = hash_in_bucket(7, 2);
    ASSERT_TRUE(index_.insert(low, slot(low, 1)).ok());
    ASSERT_TRUE(index_.grow().ok());
    ASSERT_TRUE(index_.insert(high, slot(high, 2)).ok());
    const std::uint64_t others = hash_in_bucket(8, 3);
    ASSERT_TRUE(index_.insert(others, slot(others, 3)).ok());
    std::vector<std::uint64_t> seen;
    index_.for_each_from(high, [&](Index::Place, Slot found) {
        seen.push_back(found.word());
        return seen.size() == 2;
    });
    EXPECT_EQ(seen, (std::vector{slot(high, 2).word(), slot(low, 1).word()}));
}

TEST_F(IndexTest, StampsGrowForAllProcesses) {
    const auto other = files_.open_index();
    std::uint64_t last = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t stamp = (i % 2 == 0 ? index_ : *other).next_stamp();
        EXPECT_GT(stamp, last);
        last = stamp;
    }
    const std::uint64_t future = last + 1'000'000'000'000;
    index_.raise_stamp(future);
    EXPECT_GT(other->next_stamp(), future) << "a clock that went back does not matter";
    index_.raise_stamp(1);
    EXPECT_GT(index_.next_stamp(), future);
}

TEST_F(IndexTest, ADamagedCounterOfStampsLeadsToNoFuture) {
    const std::uint64_t before = index_.next_stamp();
    for (const std::uint64_t damage : {std::uint64_t{0}, std::uint64_t{0x5555'5555'5555'5555},
                                       ~std::uint64_t{0}, std::uint64_t{0x1D5A'9301'77E0'2B44}}) {
        files_.set_counter(Counter::last_stamp, damage);
        const auto index = files_.open_index();  // of a process that has seen no stamp
        EXPECT_EQ(index->last_stamp(), 0u);
        const std::uint64_t stamp = index->next_stamp();
        // Those of an index that followed a lost one are ahead of the clock.
        EXPECT_GT(stamp, before + 900'000'000);
        EXPECT_LT(stamp, before + 3'600'000'000'000);
        EXPECT_EQ(index->last_stamp(), stamp);
        files_.set_counter(Counter::last_stamp, damage);
        index->raise_stamp(stamp + 1'000'000'000'000'000);
        EXPECT_GT(index->next_stamp(), stamp + 1'000'000'000'000'000) << "what a record says";
    }
}

// The word of another cache's index is whole, and its stamps may be lower.
TEST_F(IndexTest, AnOlderCounterOfStampsTakesNoProcessBack) {
    const std::uint64_t older = index_.next_stamp();
    index_.raise_stamp(older + 1'000'000'000'000);
    const std::uint64_t last = index_.next_stamp();
    for (const std::uint64_t damage : {older, std::uint64_t{0}}) {
        const auto of_reader = files_.open_index();
        files_.set_counter(Counter::last_stamp, damage);
        EXPECT_GT(of_reader->next_stamp(), last) << "it has seen that one";
        files_.set_counter(Counter::last_stamp, damage);
        EXPECT_GT(index_.next_stamp(), last);
    }
}

// An index that is made for segments that are there is empty, and nothing but this word says so.
TEST_F(IndexTest, DamageTakesNoRequestOfARebuildAway) {
    index_.ask_for_rebuild();
    const std::uint64_t request = index_.rebuild_request();
    std::vector<std::uint64_t> damage = {0, ~std::uint64_t{0}, 0x5555'5555'5555'5555, request << 8};
    for (unsigned bit = 0; bit < 64; ++bit) damage.push_back(request ^ std::uint64_t{1} << bit);
    const auto file = files_.directory().open_file(kIndexFileName, Access::read_only);
    for (std::uint64_t other = 0; other < kPage / 64; ++other) {
        std::array<std::byte, 8> word = {};  // what a shift by lines brings there
        ASSERT_TRUE(file->read_at(kCountersPage * kPage + other * 64, word).ok());
        damage.push_back(get_le<std::uint64_t>(word, 0));
    }
    for (const std::uint64_t word : damage) {
        files_.set_counter(Counter::rebuild, word);
        EXPECT_NE(index_.rebuild_due(), RebuildReason::none) << std::hex << word;
    }
    index_.take_back_all();
    EXPECT_EQ(index_.rebuild_due(), RebuildReason::none);
}

// Mostly within a tick of the clock, in which the name itself is asked for only once.
TEST_F(IndexTest, ThatItLostItsNameIsNoticedAtOnce) {
    const Directory &directory = files_.directory();
    for (int i = 0; i < 100; ++i) {
        for (int again = 0; again < 3; ++again) ASSERT_TRUE(index_.seems_named(directory)) << i;
        ASSERT_TRUE(directory.rename(kIndexFileName, "aside").ok());
        ASSERT_FALSE(index_.seems_named(directory)) << i;
        ASSERT_TRUE(directory.rename("aside", kIndexFileName).ok());
        ASSERT_TRUE(index_.seems_named(directory)) << i;
    }
    ASSERT_TRUE(directory.link(kIndexFileName, "second").ok());
    for (int again = 0; again < 3; ++again) ASSERT_TRUE(index_.seems_named(directory));
    ASSERT_TRUE(directory.replace_file(kIndexFileName, as_bytes("another")).ok());
    ASSERT_FALSE(index_.seems_named(directory));
    ASSERT_TRUE(directory.rename("second", kIndexFileName).ok());
    ASSERT_TRUE(index_.seems_named(directory));
    ASSERT_TRUE(directory.remove_file(kIndexFileName).ok());
    EXPECT_FALSE(index_.seems_named(directory));
}

TEST_F(IndexTest, AnotherHeaderIsDamageAndOneOfTwoIsNot) {
    CacheIdentity other = files_.identity();
    ++other.cache_id;
    const auto strange = encode_index_header(other);
    files_.overwrite(kIndexFileName, kHeaderPage * kPage, strange);
    EXPECT_EQ(index_.rebuild_due(), RebuildReason::none);
    files_.overwrite(kIndexFileName, kHeaderCopyPage * kPage, strange);
    EXPECT_EQ(index_.rebuild_due(), RebuildReason::damage);
    EXPECT_TRUE(index_.suspicious(1));
}

TEST_F(IndexTest, ACutFileGetsItsLengthBackAndAsksForASearch) {
    fill_bucket(index_, 3);
    ASSERT_TRUE(index_.grow().ok());
    files_.replace_index(nullptr);
    {
        const auto file = files_.directory().open_file(kIndexFileName, Access::read_write);
        ASSERT_TRUE(file->truncate(index_size(2) - kPage).ok());
    }
    const auto cut = files_.open_index();
    EXPECT_NE(cut->rebuild_reason(), RebuildReason::none);
    EXPECT_TRUE(cut->suspicious(hash_in_bucket(200, 1)));
    EXPECT_EQ(words_of(*cut, hash_in_bucket(3, 1)).size(), 1u) << "what was not cut off is there";
}

TEST_F(IndexTest, ADamagedLevelCountDoesNotBlowUpTheFile) {
    const std::uint64_t before = file_size();
    for (const std::uint64_t wrong : {0u, 3u, 6u, 7u, 1000u}) {
        files_.set_counter(Counter::levels, wrong);
        const auto other = files_.open_index();
        EXPECT_LE(other->growth_bytes(), index_size(2));
        EXPECT_EQ(file_size(), before) << wrong;
        const std::uint64_t hash = hash_in_bucket(9, wrong + 1);
        EXPECT_TRUE(other->insert(hash, slot(hash, 5)).ok());
    }
}

TEST_F(IndexTest, NobodyWritesThroughAnIndexOpenForReading) {
    const std::uint64_t hash = hash_in_bucket(5, 1);
    ASSERT_TRUE(index_.insert(hash, slot(hash, 9)).ok());
    const auto reading = files_.open_index(Access::read_only);
    EXPECT_EQ(words_of(*reading, hash), std::set{slot(hash, 9).word()});
    EXPECT_FALSE(reading->suspicious(hash_in_bucket(6, 1)));
    EXPECT_EQ(count(*reading), 1u);
}

TEST(IndexFile, AnIndexIsNotPutOverAnother) {
    testing::CacheFiles files;
    EXPECT_EQ(create_index_file(files.directory(), files.identity(), Replace::no).error(),
              Error::exists);
    EXPECT_TRUE(create_index_file(files.directory(), files.identity(), Replace::yes).ok());
    unsigned names = 0;
    ASSERT_TRUE(files.directory().list([&](const char *) { ++names; }).ok());
    EXPECT_EQ(names, 1u) << "nothing is left of the way it was made";
}

TEST(IndexFile, EitherCopyOfTheHeaderWillDo) {
    testing::CacheFiles files;
    const std::vector<std::byte> zeroes(kIndexHeaderSize);
    const auto identity = [&] {
        const auto file = files.directory().open_file(kIndexFileName, Access::read_only);
        return read_index_identity(file.value(), "test");
    };
    EXPECT_EQ(identity().value(), files.identity());
    files.overwrite(kIndexFileName, kHeaderPage * kPage, zeroes);
    EXPECT_EQ(identity().value(), files.identity());
    files.overwrite(kIndexFileName, kHeaderCopyPage * kPage, zeroes);
    EXPECT_EQ(identity().error(), Error::corrupt);
}

TEST(IndexFile, AnIndexOfACacheOfAnotherNameIsNotTaken) {
    testing::CacheFiles files;
    const auto file = files.directory().open_file(kIndexFileName, Access::read_only);
    EXPECT_EQ(read_index_identity(file.value(), "another").error(), Error::corrupt);
}

TEST(IndexFile, ALostIndexGetsTheIdentityThatTheSegmentsAgreeOn) {
    testing::CacheFiles files;
    files.put("key", "value");
    EXPECT_EQ(identity_for_new_index(files.directory(), kNewestFormat, 1, "test"),
              files.identity());
    EXPECT_NE(identity_for_new_index(files.directory(), kNewestFormat, 2, "test").cache_id,
              files.identity().cache_id)
        << "another version is another cache";
}

}  // namespace
}  // namespace cairn
