// SPDX-License-Identifier: MIT
#include "store/publish.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "store/testing/cache_files.h"

namespace cairn {
namespace {

class PublishTest : public ::testing::Test {
  protected:
    Result<Published> publish_value(const std::string &key, const std::string &value,
                                    PublishPolicy policy, std::uint64_t stamp) {
        const auto record = files_.append(key, value, stamp);
        return publish(index_, index_.hash(as_bytes(key)),
                       files_.slot_of(key, value, record.location), policy, stamp,
                       files_.examiner(key));
    }
    // As a writer that died before publishing leaves it.
    Index::Place leave_tentative(const std::string &key, const std::string &value) {
        const auto record = files_.append(key, value, 1);
        const Slot slot = files_.slot_of(key, value, record.location);
        return index_.insert(index_.hash(as_bytes(key)), slot.as_tentative()).value();
    }
    void grow_with(const std::vector<std::string> &keys) {
        for (const std::string &key : keys) files_.put(key, "filler");
    }

    testing::CacheFiles files_;
    Index &index_ = files_.index();
};

TEST_F(PublishTest, AddsAndReplaces) {
    const auto first = publish_value("key", "one", PublishPolicy::replace, 1);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->outcome, Published::Outcome::added);
    const auto second = publish_value("key", "two", PublishPolicy::replace, 2);
    EXPECT_EQ(second->outcome, Published::Outcome::replaced);
    EXPECT_EQ(files_.get("key"), "two");
    EXPECT_EQ(files_.published_slots("key"), 1u);
}

// The put that began later must win, even if it publishes first: a rebuild knows only the stamps.
TEST_F(PublishTest, DoesNotReplaceWhatIsNewer) {
    ASSERT_TRUE(publish_value("key", "later", PublishPolicy::replace, 7).ok());
    const auto earlier = publish_value("key", "earlier", PublishPolicy::replace, 6);
    ASSERT_TRUE(earlier.ok());
    EXPECT_EQ(earlier->outcome, Published::Outcome::outdated);
    EXPECT_EQ(earlier->other.stamp_ns, 7u);
    EXPECT_EQ(files_.get("key"), "later");
    EXPECT_EQ(files_.published_slots("key"), 1u);
}

TEST_F(PublishTest, IfAbsentLeavesWhatIsThere) {
    ASSERT_TRUE(publish_value("key", "one", PublishPolicy::if_absent, 1).ok());
    const auto second = publish_value("key", "two", PublishPolicy::if_absent, 2);
    EXPECT_EQ(second->outcome, Published::Outcome::exists);
    EXPECT_EQ(files_.get("key"), "one");
}

TEST_F(PublishTest, PublishingARecordTwiceIsPublishingItOnce) {
    const auto record = files_.append("key", "value", 1);
    const Slot slot = files_.slot_of("key", "value", record.location);
    const std::uint64_t hash = index_.hash(as_bytes("key"));
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(
            publish(index_, hash, slot, PublishPolicy::replace, 1, files_.examiner("key")).ok());
    }
    EXPECT_EQ(files_.published_slots("key"), 1u);
}

TEST_F(PublishTest, TheTentativeSlotOfADeadWriterIsOvercome) {
    const auto place = leave_tentative("key", "of the dead");
    EXPECT_FALSE(files_.get("key")) << "readers do not see it";
    ASSERT_TRUE(publish_value("key", "of the living", PublishPolicy::if_absent, 2).ok());
    EXPECT_EQ(files_.get("key"), "of the living");
    EXPECT_EQ(files_.published_slots("key"), 1u);
    EXPECT_FALSE(Slot(place.ref().load()).tentative());
}

TEST_F(PublishTest, TentativeSlotsOfSeveralDeadWritersAreOvercome) {
    for (int i = 0; i < 5; ++i) leave_tentative("key", "dead " + std::to_string(i));
    ASSERT_TRUE(publish_value("key", "alive", PublishPolicy::replace, 2).ok());
    EXPECT_EQ(files_.get("key"), "alive");
}

TEST_F(PublishTest, OtherKeysTentativeSlotsAreLeftAlone) {
    const auto keys = files_.keys_of_one_bucket(2);
    const auto place = leave_tentative(keys[0], "unfinished");
    const std::uint64_t word = place.ref().load();
    ASSERT_TRUE(publish_value(keys[1], "value", PublishPolicy::replace, 2).ok());
    EXPECT_EQ(place.ref().load(), word);
}

TEST_F(PublishTest, AFullBucketIsSaidAndNothingIsLeftBehind) {
    const auto keys = files_.keys_of_one_bucket(kSlotsPerBucket + 1);
    for (std::size_t i = 0; i < kSlotsPerBucket; ++i) files_.put(keys[i], "value");
    EXPECT_EQ(publish_value(keys.back(), "too much", PublishPolicy::replace, 99).error(),
              Error::full);
    EXPECT_FALSE(files_.get(keys.back()));
    for (std::size_t i = 0; i < kSlotsPerBucket; ++i) EXPECT_EQ(files_.get(keys[i]), "value");
}

// An unreadable record may be the key's. A second slot of the key would be worse than an error.
TEST_F(PublishTest, AnUnreadableRivalIsAnErrorNotAnotherKey) {
    ASSERT_TRUE(publish_value("key", "one", PublishPolicy::replace, 1).ok());
    const auto record = files_.append("key", "two", 2);
    const Examine unreadable = [](Slot) -> Result<std::optional<std::uint64_t>> {
        return Error::io;
    };
    const Slot slot = files_.slot_of("key", "two", record.location);
    EXPECT_EQ(
        publish(index_, index_.hash(as_bytes("key")), slot, PublishPolicy::replace, 2, unreadable)
            .error(),
        Error::io);
    EXPECT_EQ(files_.get("key"), "one");
    EXPECT_EQ(files_.published_slots("key"), 1u);
}

// After a writer has read the slot, and before it reads the record, the entry is copied and its old
// segment deleted.
TEST_F(PublishTest, ARecordThatMovedAwayIsLookedForAgain) {
    const auto first = files_.append("key", "one", 1);
    const Slot here = files_.slot_of("key", "one", first.location);
    const std::uint64_t hash = index_.hash(as_bytes("key"));
    const Examine normal = files_.examiner("key");
    ASSERT_TRUE(publish(index_, hash, here, PublishPolicy::replace, 1, normal).ok());
    const auto copy = files_.append("key", "one", 1);
    const Slot there = files_.slot_of("key", "one", copy.location);
    unsigned looks = 0;
    const Examine moving = [&](Slot slot) -> Result<std::optional<std::uint64_t>> {
        if (slot.location() != here.location()) return normal(slot);
        ++looks;
        if (const auto found = index_.slot_at(hash, here.location())) {
            std::uint64_t word = found->slot.word();
            found->place.ref().compare_exchange_strong(word, there.word());
        }
        return Error::corrupt;
    };
    const auto found = find_published(index_, hash, moving);
    ASSERT_TRUE(found.ok());
    ASSERT_TRUE(found.value());
    EXPECT_EQ(found.value()->slot.location(), there.location());
    EXPECT_EQ(looks, 1u);
}

// Of any number of threads that put if absent, exactly one stores.
TEST_F(PublishTest, ExactlyOneOfManyThreadsWinsIfAbsent) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kRounds = 60;
    // The index grows under some of the keys.
    const auto keys = files_.keys_of_one_bucket(kRounds / 2);
    for (unsigned round = 0; round < kRounds; ++round) {
        const std::string key = round % 2 == 0 ? "round" + std::to_string(round) : keys[round / 2];
        std::vector<Writer::Appended> records;
        for (unsigned t = 0; t < kThreads; ++t) {
            records.push_back(files_.append(key, "value of thread " + std::to_string(t), 1));
        }
        const auto other = files_.open_index();
        std::atomic<unsigned> waiting = kThreads, winners = 0, losers = 0;
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                Index &mine = t % 2 == 0 ? index_ : *other;
                const Slot slot = files_.slot_of(key, "value of thread 0", records[t].location);
                const Examine examine = files_.examiner(key);
                waiting.fetch_sub(1);
                while (waiting.load() != 0) std::this_thread::yield();
                for (;;) {
                    const auto published = publish(mine, mine.hash(as_bytes(key)), slot,
                                                   PublishPolicy::if_absent, 1, examine);
                    if (!published.ok()) {
                        ASSERT_EQ(published.error(), Error::full);
                        (void)files_.account().grow_index(mine, mine.hash(as_bytes(key)));
                        continue;
                    }
                    (published->outcome == Published::Outcome::added ? winners : losers)
                        .fetch_add(1);
                    return;
                }
            });
        }
        for (std::thread &thread : threads) thread.join();
        ASSERT_EQ(winners.load(), 1u) << key;
        ASSERT_EQ(losers.load(), kThreads - 1);
        ASSERT_EQ(files_.published_slots(key), 1u);
    }
}

TEST_F(PublishTest, ReplacingFromManyThreadsLeavesOneSlot) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kRounds = 200;
    std::vector<std::vector<Writer::Appended>> records(kThreads);
    for (unsigned t = 0; t < kThreads; ++t) {
        for (unsigned i = 0; i < kRounds; ++i) {
            records[t].push_back(files_.append("key", "value", t * kRounds + i));
        }
    }
    std::atomic<bool> missed = false, ended = false;
    ASSERT_TRUE(publish_value("key", "value", PublishPolicy::replace, 0).ok());
    std::thread reader([&] {
        while (!ended.load()) missed = missed.load() || !files_.get("key");
    });
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            const Examine examine = files_.examiner("key");
            for (const auto &record : records[t]) {
                const Slot slot = files_.slot_of("key", "value", record.location);
                EXPECT_TRUE(publish(index_, index_.hash(as_bytes("key")), slot,
                                    PublishPolicy::replace, 1, examine)
                                .ok());
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    ended = true;
    reader.join();
    EXPECT_EQ(files_.published_slots("key"), 1u);
    EXPECT_FALSE(missed.load()) << "an entry that is only replaced is there all the time";
}

}  // namespace
}  // namespace cairn
