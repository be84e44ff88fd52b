// SPDX-License-Identifier: MIT
#include "store/rebuild.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "os/testing/failing_calls.h"
#include "store/evictor.h"
#include "store/index_file.h"
#include "store/marks.h"
#include "store/segment_format.h"
#include "store/testing/cache_files.h"
#include "store/testing/rebuild_fixture.h"

namespace cairn {
namespace {

using testing::RebuildTest;

TEST_F(RebuildTest, FindsEverythingAgainThatALostIndexKnew) {
    for (int i = 0; i < 500; ++i) files_.put(key(i), value(i));
    lose_index();
    EXPECT_FALSE(files_.get(key(7)));
    const auto done = rebuild();
    ASSERT_TRUE(done.ok());
    EXPECT_TRUE(done.value());
    EXPECT_EQ(recovered_, 500u);
    EXPECT_EQ(files_.index().rebuild_reason(), RebuildReason::none);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(files_.get(key(i)), value(i));
}

TEST_F(RebuildTest, GoesOnWhereItStopped) {
    for (int i = 0; i < 300; ++i) files_.put(key(i), value(i));
    lose_index();
    Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    unsigned steps = 0;
    for (;; ++steps) {
        const auto done = rebuild.step(0);  // always too late: a slice each
        ASSERT_TRUE(done.ok());
        if (done.value()) break;
        EXPECT_LE(rebuild.bytes_left(), rebuild.bytes_total());
        EXPECT_TRUE(lock_eviction(files_.directory(), 0).ok()) << "no step leaves it locked";
        ASSERT_LT(steps, 1000u);
    }
    EXPECT_GT(steps, 10u);
    EXPECT_EQ(rebuild.bytes_left(), 0u);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(files_.get(key(i)), value(i));
}

// Wherever a rebuild stops, the damage is visible or a rebuild is due.
TEST_F(RebuildTest, NoMissIsBelievedBeforeTheEnd) {
    for (int i = 0; i < 300; ++i) files_.put(key(i), value(i));
    const std::vector<std::byte> zeroes(2 * kPage);
    files_.overwrite(kIndexFileName, level_offset(0) + level_bitmap_pages(0) * kPage, zeroes);
    Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    for (bool over = false; !over;) {
        const auto done = rebuild.step(0);
        ASSERT_TRUE(done.ok());
        over = done.value();
        for (int i = 0; i < 300; ++i) {
            const std::uint64_t hash = files_.index().hash(as_bytes(key(i)));
            ASSERT_TRUE(files_.get(key(i)) || (!over && files_.index().suspicious(hash))) << i;
        }
    }
    EXPECT_EQ(files_.index().rebuild_due(), RebuildReason::none);
}

// New damage may be where a running rebuild has been already.
TEST_F(RebuildTest, DamageDuringTheRebuildIsRebuiltAgain) {
    for (int i = 0; i < 300; ++i) files_.put(key(i), value(i));
    const auto rebuild_all = [&] {
        for (unsigned count = 0; count < 3; ++count) {
            if (files_.index().rebuild_due() == RebuildReason::none) break;
            ASSERT_TRUE(rebuild().ok());
        }
    };
    const std::vector<std::byte> zeroes(8 * kPage);
    for (unsigned moment = 0; moment < 45; ++moment) {
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        files_.index().ask_for_rebuild();
        bool over = false;
        for (unsigned i = 0; i < moment && !over; ++i) over = rebuild.step(0).value();
        files_.overwrite(kIndexFileName, level_offset(0) + level_bitmap_pages(0) * kPage, zeroes);
        // As a put that needs the place does.
        for (int i = 0; i < 300; ++i) {
            files_.index().free_damaged(files_.index().hash(as_bytes(key(i))));
        }
        while (!over) over = rebuild.step(0).value();
        rebuild_all();
        for (int i = 0; i < 300; ++i) ASSERT_EQ(files_.get(key(i)), value(i)) << moment;
    }
}

TEST_F(RebuildTest, OfTwoRecordsTheNewerWinsWhereverItIs) {
    for (const bool newer_first : {true, false}) {
        const std::string name = newer_first ? "newer first" : "newer last";
        files_.append(name, newer_first ? "new" : "old", newer_first ? 200 : 100);
        files_.append(name, newer_first ? "old" : "new", newer_first ? 100 : 200);
    }
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("newer first"), "new");
    EXPECT_EQ(files_.get("newer last"), "new");
}

// The newer record is lost, and the older one says that it was replaced, perhaps with wrong bits.
TEST_F(RebuildTest, WhatWasReplacedDoesNotComeBackWhenTheNewerRecordIsLost) {
    const std::uint64_t boot = files_.index().boot();
    const auto replaced = [&](const std::string &name, std::uint64_t wrong) {
        const Location old = files_.append(name, "older", 100).location;
        const auto bytes = given_up_bytes(GivenUp::replaced, boot ^ wrong);
        files_.overwrite(segment_file_name(old.segment), old.offset + kRecordGivenUpOffset, bytes);
    };
    for (unsigned a = 8; a < 64; ++a) {
        replaced("one " + std::to_string(a), std::uint64_t{1} << a);
        replaced("byte " + std::to_string(a), std::uint64_t{0xFF} << (a & ~7u));
    }
    replaced("none", 0);
    files_.append("live", "value", 100);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    for (unsigned a = 8; a < 64; ++a) {
        EXPECT_FALSE(files_.get("one " + std::to_string(a))) << a;
        EXPECT_FALSE(files_.get("byte " + std::to_string(a))) << a;
    }
    EXPECT_FALSE(files_.get("none"));
    EXPECT_EQ(files_.get("live"), "value");
}

// The newer record may be lost with the power.
TEST_F(RebuildTest, AfterASystemStartItDoesUnlessItWasRemoved) {
    const std::uint64_t earlier = ~files_.index().boot();
    for (const std::string name : {"replaced", "removed"}) {
        const Location old = files_.append(name, "older", 100).location;
        ASSERT_TRUE(mark_given_up(files_.directory(), {old, 100}, GivenUp::replaced, earlier).ok());
        if (name != "removed") continue;
        ASSERT_TRUE(mark_state(files_.directory(), {old, 100}, RecordState::removed).ok());
    }
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("replaced"), "older");
    EXPECT_FALSE(files_.get("removed"));
}

TEST_F(RebuildTest, ARebuildMarksWhatADeadProcessDidNot) {
    files_.append("key", "older", 100);
    const Location newer = files_.append("key", "newer", 200).location;
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    ASSERT_EQ(files_.get("key"), "newer");
    const std::vector<std::byte> zeroes(kRecordHeaderSize);
    files_.overwrite(segment_file_name(newer.segment), newer.offset, zeroes);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_FALSE(files_.get("key"));
}

TEST_F(RebuildTest, AnOlderValueIsNeverSeenOnTheWay) {
    for (unsigned i = 0; i < 60; ++i) files_.append("key", "value " + std::to_string(i), 1000 + i);
    for (int i = 0; i < 60; ++i) files_.append(key(i), "other", 1);
    lose_index();
    Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    for (bool over = false; !over;) {
        const auto done = rebuild.step(0);
        ASSERT_TRUE(done.ok());
        over = done.value();
        const auto found = files_.get("key");
        EXPECT_TRUE(!found || *found == "value 59") << *found;
    }
    EXPECT_EQ(files_.get("key"), "value 59");
}

TEST_F(RebuildTest, WhatWasRemovedStaysRemoved) {
    const Location location = files_.put("removed", "value");
    files_.put("kept", "value");
    EXPECT_TRUE(
        mark_state(files_.directory(), {location, tell_stamp(location)}, RecordState::removed)
            .ok());
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_FALSE(files_.get("removed"));
    EXPECT_EQ(files_.get("kept"), "value");
}

TEST_F(RebuildTest, ARemovalAlsoHoldsForOlderRecords) {
    files_.append("key", "older", 100);
    const auto removed = files_.append("key", "newer", 200);
    EXPECT_TRUE(mark_state(files_.directory(), {removed.location, 200}, RecordState::removed).ok());
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_FALSE(files_.get("key"));
    files_.append("key", "newest", 300);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("key"), "newest") << "but not for what was stored later";
}

// Removes as remove() does, at any moment of a rebuild. An older record must not come back.
TEST_F(RebuildTest, WhatIsRemovedDuringTheRebuildStaysRemoved) {
    for (int i = 0; i < 200; ++i) files_.put(key(i), value(i));
    for (unsigned moment = 0; moment < 40; ++moment) {
        const std::string name = "removed " + std::to_string(moment);
        files_.append(name, "older", 100);
        const Location newer = files_.append(name, "newer", 200).location;
        lose_index();
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        for (unsigned i = 0; i < moment; ++i) ASSERT_TRUE(rebuild.step(0).ok());
        ASSERT_TRUE(mark_state(files_.directory(), {newer, 200}, RecordState::removed).ok());
        Evictor::drop(files_.index(), files_.index().hash(as_bytes(name)), newer);
        for (bool over = false; !over;) {
            const auto done = rebuild.step(UINT64_MAX);
            ASSERT_TRUE(done.ok());
            over = done.value();
        }
        ASSERT_FALSE(files_.get(name)) << "after " << moment << " steps: " << *files_.get(name);
    }
}

// Stores and removes after the rebuild listed the segments. An older record must not come back.
TEST_F(RebuildTest, WhatIsStoredAndRemovedDuringTheRebuildStaysRemoved) {
    for (int i = 0; i < 200; ++i) files_.put(key(i), value(i));
    for (const bool own_segment : {false, true}) {
        for (unsigned moment = 0; moment < 40; ++moment) {
            const std::string name = "removed " + std::to_string(moment);
            files_.append(name, "older", 100);
            lose_index();
            Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                            nullptr);
            for (unsigned i = 0; i < moment; ++i) ASSERT_TRUE(rebuild.step(0).ok());
            if (own_segment) files_.writer().release_segment();
            const Location newer = files_.put(name, "newer");
            ASSERT_TRUE(
                mark_state(files_.directory(), {newer, tell_stamp(newer)}, RecordState::removed)
                    .ok());
            Evictor::drop(files_.index(), files_.index().hash(as_bytes(name)), newer);
            for (bool over = false; !over;) {
                const auto done = rebuild.step(0);
                ASSERT_TRUE(done.ok());
                over = done.value();
                ASSERT_FALSE(files_.get(name)) << "after " << moment << " steps";
            }
        }
    }
}

TEST_F(RebuildTest, WhatTheCacheWasClearedOfDuringTheRebuildStaysAway) {
    for (unsigned moment = 0; moment < 20; ++moment) {
        for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
        lose_index();
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        for (unsigned i = 0; i < moment; ++i) ASSERT_TRUE(rebuild.step(0).ok());
        files_.writer().release_segment();
        ASSERT_TRUE(files_.directory()
                        .list([&](const char *name) {
                            if (!segment_from_file_name(name)) return;
                            (void)files_.directory().remove_file(name);
                        })
                        .ok());
        files_.index().clear();
        while (!rebuild.step(0).value()) {
        }
        for (int i = 0; i < 100; ++i) ASSERT_FALSE(files_.get(key(i))) << moment;
    }
}

TEST_F(RebuildTest, ARecordThatWasNeverPublishedIsAsIfItWereNotThere) {
    files_.append("key", "published", 100);
    const auto unused = files_.append("key", "refused", 200);
    EXPECT_TRUE(mark_state(files_.directory(), {unused.location, 200}, RecordState::unused).ok());
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("key"), "published");
}

// A process dies while it copies an entry to another segment; then the entry is removed.
TEST_F(RebuildTest, ARemovalHoldsForACopyOfTheRecordWhereverItIs) {
    for (const bool copy_first : {true, false}) {
        const std::string name = copy_first ? "copy first" : "copy last";
        const Location first = files_.append(name, "value", 100).location;
        const Location last = files_.append(name, "value", 100).location;
        const Location removed = copy_first ? last : first;
        ASSERT_TRUE(mark_state(files_.directory(), {removed, 100}, RecordState::removed).ok());
    }
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_FALSE(files_.get("copy first"));
    EXPECT_FALSE(files_.get("copy last"));
}

// A process killed in a write leaves a header that claims more bytes than there are. The next
// writer of the segment writes into the middle of that record.
TEST_F(RebuildTest, RecordsInThePlaceOfATornOneAreFound) {
    const std::string large(50'000, 'l');
    const Location torn = files_.append("torn", large, 100).location;
    files_.writer().release_segment();
    const auto file =
        files_.directory().open_file(segment_file_name(torn.segment), Access::read_write);
    ASSERT_TRUE(file.ok() && file->truncate(torn.offset + 4096).ok());
    for (int i = 0; i < 5; ++i) {
        const Location next = files_.put(key(i), value(i));
        ASSERT_EQ(next.segment, torn.segment);
        ASSERT_LT(next.offset, torn.offset + large.size());
    }
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(files_.get(key(i)), value(i));
    EXPECT_FALSE(files_.get("torn"));
}

// A power loss may take the last bytes of a record. Look-ups do not need them, and the next writer
// may write in their place.
TEST_F(RebuildTest, ARecordThatLacksOnlyItsEndIsFound) {
    // The value ends with a unit of alignment; the end would be in the next one.
    const std::string name = "key";
    RecordHeader header;
    header.key_size = static_cast<std::uint32_t>(name.size());
    const std::string value(4 * kRecordAlignment - header.value_offset(), 'v');
    const Location location = files_.put(name, value);
    files_.writer().release_segment();
    const auto file =
        files_.directory().open_file(segment_file_name(location.segment), Access::read_write);
    ASSERT_TRUE(file.ok() && file->truncate(location.offset + 4 * kRecordAlignment).ok());
    ASSERT_EQ(files_.get(name), value);
    const Location next = files_.put("next", "its value");
    ASSERT_EQ(next.offset, location.offset + 4 * kRecordAlignment);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get(name), value);
    EXPECT_EQ(files_.get("next"), "its value");
}

TEST_F(RebuildTest, ARemovalAlsoHoldsIfItsRecordLacksItsEnd) {
    files_.append("key", "older", 100);
    const Location removed = files_.append("key", "newer", 200).location;
    files_.append("next", "its value", 300);
    ASSERT_TRUE(mark_removed(files_.directory(), {removed, 200}, files_.index().boot()).ok());
    const auto file =
        files_.directory().open_file(segment_file_name(removed.segment), Access::read_write);
    const std::array<std::byte, kRecordEndSize> noise = {};
    const Bytes pieces[] = {noise};
    const std::uint64_t end = removed.offset + 2 * kRecordAlignment;
    ASSERT_TRUE(file.ok() && file->write_at(end - kRecordEndSize, pieces).ok());
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_FALSE(files_.get("key"));
    EXPECT_EQ(files_.get("next"), "its value");
}

// After a power loss a record can be there with its header and key, and without its value.
TEST_F(RebuildTest, AnOlderWholeRecordBeatsANewerOneThatIsNot) {
    files_.append("key", "whole", 100);
    const std::string value(10'000, 'v');
    const auto torn = files_.append("key", value, 200);
    const std::vector<std::byte> zeroes(4096);
    files_.overwrite(segment_file_name(torn.location.segment), torn.location.offset + 1024, zeroes);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("key"), "whole");
}

TEST_F(RebuildTest, AlsoWhenTheTornOneIsPublished) {
    const Location older = files_.append("key", "whole", 1).location;
    const std::string value(10'000, 'v');
    const Location torn = files_.put("key", value);
    const std::vector<std::byte> zeroes(4096);
    files_.overwrite(segment_file_name(torn.segment), torn.offset + 1024, zeroes);
    const std::uint64_t boot = files_.index().boot();
    ASSERT_TRUE(mark_given_up(files_.directory(), {older, 1}, GivenUp::replaced, ~boot).ok());
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("key"), "whole");
    EXPECT_EQ(files_.published_slots("key"), 1u);
}

TEST_F(RebuildTest, RecordsBehindDamageAreFound) {
    std::vector<Location> places;
    for (int i = 0; i < 50; ++i) places.push_back(files_.put(key(i), value(100)));
    const std::vector<std::byte> noise(100, std::byte{0xA5});
    files_.overwrite(segment_file_name(places[20].segment), places[20].offset, noise);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    for (int i = 0; i < 50; ++i) {
        if (i == 20) {
            EXPECT_FALSE(files_.get(key(i)));
        } else {
            EXPECT_EQ(files_.get(key(i)), value(100)) << i;
        }
    }
}

TEST_F(RebuildTest, AZeroedPageOfTheIndexIsFilledAgain) {
    for (int i = 0; i < 2000; ++i) files_.put(key(i), "value");
    const std::vector<std::byte> zeroes(kPage);
    const std::uint64_t slots = level_offset(0) + level_bitmap_pages(0) * kPage;
    files_.overwrite(kIndexFileName, slots + 2 * kPage, zeroes);
    unsigned lost = 0;
    for (int i = 0; i < 2000; ++i) {
        if (files_.get(key(i))) continue;
        ++lost;
        EXPECT_TRUE(files_.index().suspicious(files_.index().hash(as_bytes(key(i)))));
    }
    EXPECT_GT(lost, 50u);
    ASSERT_TRUE(rebuild().ok());
    for (int i = 0; i < 2000; ++i) EXPECT_EQ(files_.get(key(i)), "value") << i;
    for (int i = 0; i < 2000; ++i) {
        EXPECT_FALSE(files_.index().suspicious(files_.index().hash(as_bytes(key(i)))));
    }
}

TEST_F(RebuildTest, AnUndamagedIndexStaysAsItIs) {
    for (int i = 0; i < 200; ++i) files_.put(key(i), value(i));
    for (int i = 0; i < 200; i += 2) files_.put(key(i), "replaced");
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(recovered_, 0u);
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(files_.get(key(i)), i % 2 == 0 ? "replaced" : value(i));
        EXPECT_EQ(files_.published_slots(key(i)), 1u);
    }
}

TEST_F(RebuildTest, LaterStampsGoOnFromWhatWasFound) {
    const std::uint64_t future = files_.index().next_stamp() + 1'000'000'000'000'000;
    files_.append("key", "from the future", future);
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_GT(files_.index().next_stamp(), future);
    files_.put("key", "now");
    lose_index();
    ASSERT_TRUE(rebuild().ok());
    EXPECT_EQ(files_.get("key"), "now");
}

// A rebuild must conclude nothing from a record that it cannot read.
TEST_F(RebuildTest, AnErrorLeavesTheIndexToBeRebuiltAgain) {
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    lose_index();
    {
        testing::FailingCalls calls;
        for (std::uint64_t number = 1;; ++number) {
            testing::Fault fault;
            fault.error = EIO;
            fault.first = number;
            calls.arm(fault);
            const auto done = rebuild();
            calls.disarm();
            if (calls.failures() == 0) break;
            if (!done.ok()) {
                EXPECT_NE(files_.index().rebuild_reason(), RebuildReason::none) << number;
                EXPECT_TRUE(files_.index().suspicious(1));
                continue;
            }
            for (int i = 0; i < 100; ++i) EXPECT_EQ(files_.get(key(i)), value(i)) << number;
            lose_index();
        }
    }
    ASSERT_TRUE(rebuild().ok());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(files_.get(key(i)), value(i));
}

}  // namespace
}  // namespace cairn
