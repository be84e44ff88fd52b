// How a new index takes the place of the old one, while others use that.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "os/system_calls.h"
#include "store/locks.h"
#include "store/marks.h"
#include "store/publish.h"
#include "store/rebuild.h"
#include "store/relocation.h"
#include "store/testing/cache_files.h"
#include "store/testing/rebuild_fixture.h"

namespace cairn {
namespace {

using testing::RebuildTest;

// The record of a killed put, or of one that has not come to its end.
TEST_F(RebuildTest, WhatTheIndexLeadsToIsTheEntry) {
    files_.put("key", "stored");
    files_.append("key", "newer", UINT64_MAX / 2);
    ASSERT_TRUE(rebuild().value());
    EXPECT_EQ(files_.get("key"), "stored");
}

// A put that published in the old index while the new one was made, at any moment of that.
TEST_F(RebuildTest, WhatIsPublishedMeanwhileIsTakenOver) {
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    for (const bool is_written_before : {true, false}) {
        for (unsigned moment = 0; moment < 30; ++moment) {
            files_.put("key", "older");
            const std::uint64_t stamp = files_.index().next_stamp();
            std::optional<Writer::Appended> record;
            if (is_written_before) record = files_.append("key", "newer", stamp);
            Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                            nullptr);
            bool over = false;
            Index &index = files_.index();
            for (unsigned i = 0; i < moment && !over; ++i) over = rebuild.step(0).value();
            if (over) break;
            if (!record) record = files_.append("key", "newer", stamp);
            const auto published = publish(index, index.hash(as_bytes("key")),
                                           files_.slot_of("key", "newer", record->location),
                                           PublishPolicy::replace, stamp, files_.examiner("key"));
            ASSERT_TRUE(published.ok());
            while (!over) over = rebuild.step(0).value();
            ASSERT_EQ(files_.get("key"), "newer") << moment;
            ASSERT_EQ(files_.published_slots("key"), 1u);
        }
    }
}

// Two puts of one key that damage hides: the one with the greater stamp wants absence, finds the other
// one, and gives in.
TEST_F(RebuildTest, WhatAPutThatGaveInHasWrittenIsNotTheEntry) {
    for (unsigned moment = 0; moment < 12; ++moment) {
        const std::string name = "name " + std::to_string(moment);
        const auto stored = files_.append(name, "stored", 100);
        const auto refused = files_.append(name, "refused", 200);
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        bool over = false;
        Index &index = files_.index();
        for (unsigned i = 0; i < moment && !over; ++i) over = rebuild.step(0).value();
        if (over) break;
        const std::uint64_t hash = index.hash(as_bytes(name));
        const Slot slot = files_.slot_of(name, "stored", stored.location);
        ASSERT_TRUE(
            publish(index, hash, slot, PublishPolicy::if_absent, 100, files_.examiner(name)).ok());
        ASSERT_TRUE(
            mark_state(files_.directory(), {refused.location, 200}, RecordState::unused).ok());
        while (!over) over = rebuild.step(0).value();
        ASSERT_EQ(files_.get(name), "stored") << moment;
        lose_index();
        ASSERT_TRUE(this->rebuild().ok());
        ASSERT_EQ(files_.get(name), "stored") << moment;
        for (int i = 0; i < 40; ++i) files_.put(key(i), value(i));
    }
}

TEST_F(RebuildTest, WhatIsEvictedMeanwhileLeavesNoSlot) {
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    const Location gone = files_.put("gone", "value");
    for (unsigned moment = 0; moment < 10; ++moment) {
        files_.writer().release_segment();
        for (int i = 0; i < 20; ++i) files_.put(key(i), value(i));
    }
    Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    bool over = rebuild.step(0).value();
    while (!over && rebuild.bytes_left() != 0) over = rebuild.step(0).value();
    files_.writer().release_segment();
    ASSERT_TRUE(retire_segment(files_.directory(), files_.index(), gone.segment).ok());
    while (!over) over = rebuild.step(0).value();
    const std::uint64_t hash = files_.index().hash(as_bytes("gone"));
    EXPECT_FALSE(files_.index().leads_to(hash, gone));
}

TEST_F(RebuildTest, AnUnfinishedRebuildLeavesNoFile) {
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    files_.index().ask_for_rebuild();
    ASSERT_FALSE(rebuild(0).value());
    ASSERT_TRUE(files_.directory()
                    .list([&](const char *name) {
                        EXPECT_FALSE(std::string_view(name).ends_with(".tmp")) << name;
                    })
                    .ok());
}

// Who uses the old index notices at the next call.
TEST_F(RebuildTest, TheOldIndexTellsThatAnotherTookItsPlace) {
    files_.put("key", "value");
    Index &before = files_.index();
    EXPECT_FALSE(before.is_sealed());
    const std::uint64_t clears = before.clears();
    ASSERT_TRUE(rebuild().value());
    EXPECT_TRUE(before.is_sealed());
    EXPECT_FALSE(before.is_named(files_.directory()));
    EXPECT_NE(&files_.index(), &before);
    EXPECT_FALSE(files_.index().is_sealed());
    EXPECT_EQ(files_.index().clears(), clears) << "nothing was cleared";
}

// The disk may have an older state of the index than of the segments.
TEST_F(RebuildTest, AfterASystemStartTheNewestRecordIsTheEntry) {
    files_.put("key", "stored");
    files_.append("key", "newer", UINT64_MAX / 2);
    files_.set_counter(Counter::rebuild, 2);
    files_.index().ask_for_rebuild();
    EXPECT_TRUE(files_.index().is_after_start());
    ASSERT_TRUE(rebuild().value());
    EXPECT_EQ(files_.get("key"), "newer");
    EXPECT_FALSE(files_.index().is_after_start());
}

TEST_F(RebuildTest, NoIndexTakesItsPlaceWhileASegmentMayBeRetired) {
    files_.put("key", "stored");
    files_.index().ask_for_rebuild();
    {
        const auto retiring = lock_eviction(files_.directory(), 0);
        ASSERT_TRUE(retiring.ok());
        const Index &before = files_.index();
        const auto done = rebuild();
        ASSERT_TRUE(done.ok());
        EXPECT_FALSE(done.value());
        EXPECT_TRUE(before.is_named(files_.directory()));
        EXPECT_EQ(files_.get("key"), "stored");
        EXPECT_NE(files_.index().rebuild_due(), RebuildReason::none);
    }
    EXPECT_TRUE(rebuild().value());
    EXPECT_EQ(files_.get("key"), "stored");
}

// Of two processes, each with a lock file of its own as one was deleted, the second would take away what
// is published in the index of the first.
TEST_F(RebuildTest, WithAnotherLockFileNoIndexTakesItsPlaceBesideAnother) {
    files_.put("key", "stored");
    {
        const auto other = IndexNameLock::acquire(files_.directory(), 0);
        ASSERT_TRUE(other.ok());
        ASSERT_TRUE(files_.directory().remove_file(kLockFileName).ok());
        const auto done = rebuild();
        ASSERT_TRUE(done.ok());
        EXPECT_FALSE(done.value());
    }
    EXPECT_TRUE(rebuild().value());
    EXPECT_EQ(files_.get("key"), "stored");
}

TEST_F(RebuildTest, TheNewIndexIsHeldFromTheMomentThatItHasTheName) {
    files_.put("key", "stored");
    static const SystemCalls *next;
    static std::function<void()> when_named;
    static Error error;
    next = system_calls;
    error = Error::none;
    when_named = [&] {
        ASSERT_TRUE(files_.directory().remove_file(kLockFileName).ok());
        error = IndexNameLock::acquire(files_.directory(), 0).error();
    };
    SystemCalls calls = *next;
    calls.renameat = [](int from, const char *path, int to, const char *name) {
        const int result = next->renameat(from, path, to, name);
        if (std::string_view(name) == kIndexFileName && when_named) std::exchange(when_named, {})();
        return result;
    };
    system_calls = &calls;
    const auto done = rebuild();
    system_calls = next;
    ASSERT_TRUE(done.ok());
    EXPECT_TRUE(done.value());
    EXPECT_FALSE(when_named) << "no index took its place";
    EXPECT_EQ(error, Error::busy);
    EXPECT_EQ(files_.get("key"), "stored");
}

TEST_F(RebuildTest, SeveralAtOnceFindEverythingOnce) {
    for (int i = 0; i < 300; ++i) files_.put(key(i), value(i));
    lose_index();
    Rebuild one(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    Rebuild two(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    bool one_done = false, two_done = false;
    while (!one_done || !two_done) {
        if (!one_done) one_done = one.step(0).value();
        if (!two_done) two_done = two.step(0).value();
    }
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(files_.get(key(i)), value(i));
        EXPECT_EQ(files_.published_slots(key(i)), 1u);
    }
}

}  // namespace
}  // namespace cairn
