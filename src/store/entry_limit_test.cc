// Which entries a limit on entries drops, by each policy, and those in full buckets of the index.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "os/testing/scratch.h"
#include "store/evictor.h"
#include "store/segment_format.h"
#include "store/store.h"
#include "store/testing/cache_files.h"

namespace cairn {
namespace {

// Two handles write to a segment each, as two processes do. So what is stored through `low` stands
// in a segment of a lower number, however new it is. All entries are in the sample.
class EntryLimitTest : public ::testing::Test {
  protected:
    void open(const char *policy, std::uint64_t limit_entries) {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.limit_bytes = 64 << 20;
        options_.limit_entries = limit_entries;
        options_.policy = policy_by_name(policy);
        low_ = std::move(Store::open(options_).value());
        high_ = std::move(Store::open(options_).value());
    }
    static void put(Store &store, char name, PutOptions options = usual()) {
        const auto outcome = store.put(as_bytes(std::string(1, name)), as_bytes("value"), options);
        ASSERT_TRUE(outcome.ok() && outcome.value() == PutOutcome::stored);
    }
    static PutOptions usual() {
        PutOptions options;
        options.cost_us = 1000;
        return options;
    }
    static PutOptions dear() {
        PutOptions options;
        options.cost_us = 64'000;
        return options;
    }
    static PutOptions pinned() {
        PutOptions options = usual();
        options.pinned = true;
        return options;
    }
    // By the handle that stores last: it notes its hits before it evicts.
    void hit(char name, int times = 1) {
        for (int i = 0; i < times; ++i) {
            ASSERT_TRUE(high_->get(as_bytes(std::string(1, name))));
        }
    }
    // Stores through `high`, and gives the names that are left.
    std::string after(const std::string &names) {
        for (const char name : names) put(*high_, name);
        std::string left;
        for (char name = 'A'; name <= 'Z'; ++name) {
            // Which is no hit, as contains() would be.
            if (high_->peek(as_bytes(std::string(1, name)))) left.push_back(name);
        }
        return left;
    }
    // A, B, C and D from the oldest to the newest; A and D in the segment of the lower number.
    void put_four(PutOptions of_a = usual(), PutOptions of_b = usual()) {
        put(*low_, 'A', of_a);
        put(*high_, 'B', of_b);
        put(*high_, 'C');
        put(*low_, 'D');
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    std::unique_ptr<Store> low_, high_;
};

TEST_F(EntryLimitTest, FifoDropsTheOldestWhateverItsSegmentAndItsHits) {
    open("fifo", 4);
    put_four();
    hit('B', 3);
    EXPECT_EQ(after("E"), "BCDE");
    EXPECT_EQ(after("F"), "CDEF");
    EXPECT_EQ(after("G"), "DEFG");
    EXPECT_EQ(after("H"), "EFGH");
}

TEST_F(EntryLimitTest, LruDropsWhatWasNotHitThenWhatIsOldest) {
    open("lru", 4);
    put_four();
    hit('B', 3);
    hit('D');
    EXPECT_EQ(after("E"), "BCDE");
    EXPECT_EQ(after("F"), "BDEF");
    hit('E');
    hit('F');
    EXPECT_EQ(after("G"), "DEFG") << "the oldest, though it was hit the oftenest";
}

TEST_F(EntryLimitTest, MruDropsTheNewestButTheOneThatIsStored) {
    open("mru", 4);
    put_four();
    hit('D', 3);
    EXPECT_EQ(after("E"), "ABCE");
    EXPECT_EQ(after("F"), "ABCF");
    EXPECT_EQ(after("GHI"), "ABCI");
}

TEST_F(EntryLimitTest, DefaultDropsTheOldestThatIsNotWorthACopy) {
    open("default", 4);
    put_four();
    hit('A');
    EXPECT_EQ(after("E"), "ACDE");
    EXPECT_EQ(after("F"), "ADEF");
    hit('D', 3);
    EXPECT_EQ(after("G"), "ADFG");
    hit('F');
    hit('G');
    EXPECT_EQ(after("H"), "DFGH") << "of those that were hit once, the oldest";
}

TEST_F(EntryLimitTest, DefaultKeepsTheDearAndDropsItBeforeWhatWasHit) {
    open("default", 4);
    put_four(dear());
    EXPECT_EQ(after("EFG"), "AEFG");
    hit('E');
    hit('F');
    hit('G');
    EXPECT_EQ(after("H"), "EFGH");
}

TEST_F(EntryLimitTest, APinnedEntryStaysWhateverThePolicy) {
    for (const char *policy : {"default", "fifo", "lru", "mru"}) {
        options_.version += 1;
        low_.reset();
        high_.reset();
        open(policy, 4);
        put_four(pinned(), pinned());
        hit('C', 3);
        hit('D', 3);
        const std::string left = after("EFGHIJ");
        EXPECT_EQ(left.substr(0, 2), "AB") << policy;
        EXPECT_EQ(left.size(), 4u) << policy;
    }
}

TEST_F(EntryLimitTest, OfPinnedEntriesTheOldestGoesWhenThereAreNoOthers) {
    open("default", 4);
    for (const char name : {'A', 'D'}) put(*low_, name, pinned());
    put(*high_, 'B', pinned());
    put(*low_, 'C', pinned());
    EXPECT_EQ(after("E"), "BCDE");
}

// An evictor over files that a test makes, with records of any stamp.
class SampleTest : public ::testing::Test {
  protected:
    Evictor &evictor(const char *policy) {
        evictor_ =
            std::make_unique<Evictor>(files_.directory(), files_.reader(), files_.account(),
                                      files_.writer(), ghosts_, reuse_, *policy_by_name(policy));
        return *evictor_;
    }
    // Publishes a record of this stamp, or leaves it tentative.
    Location put(const std::string &key, std::uint64_t stamp_ns, bool is_tentative = false) {
        const Location location = files_.append(key, "value", stamp_ns).location;
        const Slot slot = files_.slot_of(key, "value", location);
        const std::uint64_t hash = files_.index().hash(as_bytes(key));
        EXPECT_TRUE(files_.index().insert(hash, is_tentative ? slot.as_tentative() : slot).ok());
        return location;
    }
    bool has(const std::string &key) { return files_.get(key).has_value(); }
    std::vector<std::string> missing(const std::vector<std::string> &keys) {
        std::vector<std::string> result;
        for (const std::string &key : keys) {
            if (!has(key)) result.push_back(key);
        }
        return result;
    }
    unsigned tentative_slots(const std::string &key) {
        unsigned count = 0;
        files_.index().visit_buckets(files_.index().hash(as_bytes(key)),
                                     [&](Index::Place, Slot slot) {
                                         if (slot.tentative()) ++count;
                                     });
        return count;
    }
    void damage(Location location) {
        files_.overwrite(segment_file_name(location.segment), location.offset + 32,
                         as_bytes("damage"));
    }

    testing::CacheFiles files_;
    Ghosts ghosts_{files_.directory()};
    Reuse reuse_{files_.directory()};
    std::unique_ptr<Evictor> evictor_;
    static constexpr Location kNone = {kSegmentIdMax, 0};
};

// A full bucket of 16, whose entries have descending stamps: the first in the file is the newest.
TEST_F(SampleTest, OfFullBucketsThePolicySaysWhichEntryGoes) {
    const std::vector<std::string> keys = files_.keys_of_one_bucket(kSlotsPerBucket);
    for (std::size_t i = 0; i < keys.size(); ++i) put(keys[i], 1000 - i);
    const std::uint64_t hash = files_.index().hash(as_bytes(keys[0]));
    for (std::uint64_t start = 0; start < 3; ++start) {
        ASSERT_TRUE(evictor("fifo").drop_from_buckets(files_.index(), hash, start));
    }
    EXPECT_EQ(missing(keys), (std::vector{keys[13], keys[14], keys[15]}));
    ASSERT_TRUE(evictor("mru").drop_from_buckets(files_.index(), hash, 0));
    EXPECT_EQ(missing(keys), (std::vector{keys[0], keys[13], keys[14], keys[15]}));
    EXPECT_EQ(files_.index().count_entries(), 12u);
}

TEST_F(SampleTest, ATentativeSlotGoesLastOfAll) {
    const std::vector<std::string> keys = files_.keys_of_one_bucket(3);
    put(keys[0], 1, true);
    put(keys[1], 3);
    put(keys[2], 2);
    const std::uint64_t hash = files_.index().hash(as_bytes(keys[0]));
    for (const unsigned left : {1u, 0u}) {
        ASSERT_TRUE(evictor("default").drop_from_buckets(files_.index(), hash, 0));
        EXPECT_EQ(tentative_slots(keys[0]), 1u);
        EXPECT_EQ(has(keys[1]), left == 1);
        EXPECT_FALSE(has(keys[2]));
    }
    EXPECT_EQ(evictor_->evicted(), 1u) << "of this evictor";
    ASSERT_TRUE(evictor_->drop_from_buckets(files_.index(), hash, 0));
    EXPECT_EQ(tentative_slots(keys[0]), 0u);
    EXPECT_EQ(evictor_->evicted(), 1u) << "nobody had that entry";
    EXPECT_FALSE(evictor_->drop_from_buckets(files_.index(), hash, 0)) << "there is no more";
}

TEST_F(SampleTest, ADamagedRecordGoesFirst) {
    put("old", 1);
    damage(put("damaged", 3));
    put("new", 2);
    ASSERT_TRUE(evictor("default").drop_one_entry(files_.index(), kNone, 0));
    EXPECT_EQ(files_.index().count_entries(), 2u);
    EXPECT_TRUE(has("old") && has("new"));
}

TEST_F(SampleTest, TheEntryThatIsJustStoredIsSpared) {
    const Location spare = put("spare", 1);
    put("other", 2);
    ASSERT_TRUE(evictor("fifo").drop_one_entry(files_.index(), spare, 0));
    EXPECT_TRUE(has("spare"));
    EXPECT_FALSE(evictor_->drop_one_entry(files_.index(), spare, 0));
    EXPECT_TRUE(has("spare"));
}

// In two levels are more entries than in a sample. The larger level is filled first, and read last.
TEST_F(SampleTest, OfMoreEntriesThanASampleTheStartChooses) {
    static_assert(kPolicySample == kSlotsPerBucket);
    ASSERT_TRUE(files_.index().grow().ok());
    std::vector<std::string> keys = files_.keys_of_one_bucket(800);
    const std::uint64_t bucket = files_.index().hash(as_bytes(keys[0])) % level_buckets(1);
    std::erase_if(keys, [&](const std::string &key) {
        return files_.index().hash(as_bytes(key)) % level_buckets(1) != bucket;
    });
    ASSERT_GE(keys.size(), 2 * kPolicySample);
    keys.resize(2 * kPolicySample);
    for (std::size_t i = 0; i < keys.size(); ++i) put(keys[i], 1000 - i);
    const std::uint64_t hash = files_.index().hash(as_bytes(keys[0]));
    ASSERT_TRUE(evictor("fifo").drop_from_buckets(files_.index(), hash, kPolicySample));
    EXPECT_EQ(missing(keys), std::vector{keys[15]}) << "the oldest of the larger level";
    ASSERT_TRUE(evictor_->drop_from_buckets(files_.index(), hash, 0));
    EXPECT_EQ(missing(keys), (std::vector{keys[15], keys[31]})) << "the oldest of all";
}

}  // namespace
}  // namespace cairn
