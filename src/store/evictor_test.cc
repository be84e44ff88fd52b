// SPDX-License-Identifier: MIT
#include "store/evictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "os/environment.h"
#include "os/system_calls.h"
#include "store/index_file.h"
#include "store/marks.h"
#include "store/rebuild.h"
#include "store/record.h"
#include "store/segment_format.h"
#include "store/testing/cache_files.h"

namespace cairn {
namespace {

class EvictorTest : public ::testing::Test {
  protected:
    using Progress = Evictor::Progress;
    // An evictor with a writer of its own, as another process would have.
    struct Process {
        Process(const testing::CacheFiles &files, RecordReader &reader, const Policy &policy)
            : account(files.directory(), files.account().limits()),
              writer(std::make_unique<Writer>(files.directory(), account)),
              ghosts(files.directory()),
              reuse(files.directory()),
              evictor(files.directory(), reader, account, *writer, ghosts, reuse, policy) {}
        Account account;
        std::unique_ptr<Writer> writer;
        Ghosts ghosts;
        Reuse reuse;
        Evictor evictor;
    };
    Process process(const char *policy = "fifo") {
        return {files_, files_.reader(), *policy_by_name(policy)};
    }
    // Fills segments, which then have no writer.
    void fill(int entries) {
        for (int i = 0; i < entries; ++i) files_.put(std::to_string(i), std::string(4000, 'v'));
        files_.writer().release_segment();
    }
    Progress step(Process &process, std::uint64_t budget_bytes = 1) {
        const auto progress = process.evictor.step(files_.index(), budget_bytes);
        EXPECT_TRUE(progress.ok());
        return progress.ok() ? progress.value() : Progress::none;
    }
    // A new, empty one over the same segments.
    void lose_index() {
        files_.replace_index(nullptr);
        ASSERT_TRUE(create_index_file(files_.directory(), files_.identity(), Replace::yes).ok());
        files_.replace_index(files_.open_index());
    }
    void rebuild() {
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        EXPECT_TRUE(rebuild.step(UINT64_MAX).value());
        files_.replace_index(files_.open_index());
    }
    std::optional<std::uint32_t> victim() const { return files_.index().victim(); }
    bool exists(std::uint32_t segment) const {
        return files_.directory().info(segment_file_name(segment)).ok();
    }
    unsigned slots_in(std::uint32_t segment) {
        unsigned count = 0;
        files_.index().for_each([&](Index::Place, Slot slot) {
            if (slot.location().segment == segment) ++count;
            return false;
        });
        return count;
    }

    mutable testing::CacheFiles files_;
};

// A dropped entry may have older values in other segments. A rebuild would bring them back if the
// newer one stayed in a segment that is no longer the victim.
TEST_F(EvictorTest, ASegmentThatIsLockedForAMomentIsGivenUpToItsEnd) {
    fill(600);
    Process first = process();
    ASSERT_EQ(step(first), Progress::some);
    const auto segment = victim();
    ASSERT_TRUE(segment);
    // A writer that looks for a segment to take over.
    const auto lock = SegmentLock::of_segment(files_.directory(), *segment);
    ASSERT_TRUE(lock.ok());
    Process second = process();
    ASSERT_EQ(step(second), Progress::some);
    EXPECT_EQ(victim(), segment);
    while (step(second, UINT64_MAX) == Progress::some) {
    }
    EXPECT_FALSE(exists(*segment));
    EXPECT_EQ(slots_in(*segment), 0u);
}

TEST_F(EvictorTest, ASegmentThatBecameYoungerAfterItWasListedGoesInItsNewTurn) {
    fill(1500);
    Process first = process();
    ASSERT_EQ(step(first), Progress::some);
    const auto oldest = victim();
    ASSERT_TRUE(oldest);
    std::vector<SegmentFile> segments = measure_disk_use(files_.directory())->segments;
    std::erase_if(segments, [&](const SegmentFile &file) { return file.segment == *oldest; });
    const SegmentFile next = *std::ranges::min_element(segments, {}, &SegmentFile::modified_ns);
    ASSERT_TRUE(files_.directory()
                    .open_file(segment_file_name(next.segment), Access::read_write)
                    ->touch()
                    .ok());
    for (std::size_t i = 1; i < segments.size(); ++i) {
        while (step(first, UINT64_MAX) == Progress::some) {
        }
        EXPECT_TRUE(exists(next.segment)) << i;
    }
    while (step(first, UINT64_MAX) == Progress::some) {
    }
    while (step(first, UINT64_MAX) == Progress::some) {
    }
    EXPECT_FALSE(exists(next.segment));
}

// Nobody has marked the older value, as its slot was lost.
TEST_F(EvictorTest, NoOlderValueOfWhatIsEvictedComesBackInARebuildThatIsDue) {
    files_.put("stored again", "older");
    files_.put("removed", "older");
    files_.put("stays", "value");
    fill(600);
    lose_index();
    ASSERT_NE(files_.index().rebuild_due(), RebuildReason::none);
    files_.put("stored again", "newer");
    const Index &index = files_.index();
    const std::string removed = "removed";
    const RecordHeader removal =
        removal_of(index.hash(as_bytes(removed)), removed.size(), files_.index().next_stamp(), 0);
    ASSERT_TRUE(files_.writer()
                    .append(files_.index(), removal, as_bytes(removed), {}, Account::Purpose::put)
                    .ok());
    // Of a put that was killed: it says nothing of the entry.
    files_.append("stays", "never published", files_.index().next_stamp());
    files_.writer().release_segment();
    Process other = process("mru");
    while (step(other, UINT64_MAX) == Progress::some) {
    }
    ASSERT_EQ(files_.get("stored again"), std::nullopt);
    rebuild();
    EXPECT_EQ(files_.get("stored again"), std::nullopt);
    EXPECT_EQ(files_.get("removed"), std::nullopt);
    EXPECT_EQ(files_.get("stays"), "value");
}

// What a record says that a newer one has replaced, which was lost then, counts again after a system start.
TEST_F(EvictorTest, ARecordWithAMarkOfAnEarlierStartHidesWhatIsOlder) {
    files_.put("key", "older");
    fill(600);
    lose_index();
    const Location newer = files_.put("key", "newer");
    const std::uint64_t stamp_ns =
        files_.reader().read_any_key(files_.identity().cache_id, newer).header.stamp_ns;
    constexpr std::uint64_t kEarlier = 0x5A3C'96E1'0F77'4B2D;
    ASSERT_TRUE(
        mark_given_up(files_.directory(), {newer, stamp_ns}, GivenUp::replaced, kEarlier).ok());
    files_.reader().set_boot(~kEarlier);
    ASSERT_EQ(files_.get("key"), "newer");
    files_.writer().release_segment();
    Process other = process("mru");
    while (step(other, UINT64_MAX) == Progress::some) {
    }
    ASSERT_EQ(files_.get("key"), std::nullopt);
    rebuild();
    EXPECT_EQ(files_.get("key"), std::nullopt);
}

TEST_F(EvictorTest, NoOlderValueComesBackWhoseSlotWasDamagedUnseen) {
    const Location older = files_.put("key", "older");
    fill(600);
    Index &index = files_.index();
    const std::uint64_t hash = index.hash(as_bytes("key"));
    const auto slot = index.slot_at(hash, older);
    ASSERT_TRUE(slot);
    // One word in 64 fits its check bits.
    for (std::uint64_t word = ~std::uint64_t{0}; !index.suspicious(hash); --word)
        std::atomic_ref(*slot->place.word).store(word);
    files_.put("key", "newer");
    files_.writer().release_segment();
    ASSERT_EQ(index.rebuild_due(), RebuildReason::none);
    Process other = process("mru");
    while (step(other, UINT64_MAX) == Progress::some) {
    }
    index.ask_for_rebuild();
    rebuild();
    EXPECT_EQ(files_.get("key"), std::nullopt);
}

TEST_F(EvictorTest, NoOlderValueComesBackOfWhatIsRemovedBeforeItsTurn) {
    files_.put("key", "older");
    fill(600);
    lose_index();
    files_.put("first", "value");
    const Location newer = files_.put("key", "newer");
    const auto record = files_.reader().read_any_key(files_.identity().cache_id, newer);
    files_.writer().release_segment();
    Process other = process("mru");
    ASSERT_EQ(step(other), Progress::some);
    const std::uint64_t boot = files_.reader().boot();
    ASSERT_TRUE(mark_removed(files_.directory(), {newer, record.header.stamp_ns}, boot).ok());
    ASSERT_TRUE(Evictor::drop(files_.index(), files_.index().hash(as_bytes("key")), newer));
    while (step(other, UINT64_MAX) == Progress::some) {
    }
    rebuild();
    EXPECT_EQ(files_.get("key"), std::nullopt);
}

// What is old would be evicted after what has replaced it, and count again after a system start.
TEST_F(EvictorTest, MarksMakeNoSegmentYounger) {
    const Location place = files_.put("key", "value");
    const std::string name = segment_file_name(place.segment);
    const auto record = files_.reader().read_any_key(files_.identity().cache_id, place);
    const RecordId id = {place, record.header.stamp_ns};
    const std::uint64_t modified_ns = files_.directory().info(name)->modified_ns;
    sleep_us(20'000);
    ASSERT_TRUE(mark_moved(files_.directory(), id).ok());
    ASSERT_TRUE(mark_given_up(files_.directory(), id, GivenUp::replaced, 77).ok());
    ASSERT_TRUE(mark_removed(files_.directory(), id, 77).ok());
    EXPECT_EQ(files_.directory().info(name)->modified_ns, modified_ns);
}

TEST_F(EvictorTest, NoOlderValueOfASingleEntryComesBackInARebuildThatIsDue) {
    files_.put("stored again", "older");
    lose_index();
    files_.put("stored again", "newer");
    Process other = process();
    ASSERT_TRUE(other.evictor.drop_one_entry(files_.index(), {}, 0));
    ASSERT_EQ(files_.get("stored again"), std::nullopt);
    rebuild();
    EXPECT_EQ(files_.get("stored again"), std::nullopt);
}

TEST_F(EvictorTest, OneThatWasOnlyNamedIsLookedAtAnew) {
    fill(600);
    files_.put("last", "value");
    Index::Candidates candidates(files_.index(), files_.index().hash(as_bytes("last")));
    const auto last = candidates.next();
    ASSERT_TRUE(last);
    const std::uint32_t active = last->slot.location().segment;
    // By a process that died then.
    files_.index().name_victim(active);
    Process other = process();
    ASSERT_EQ(step(other), Progress::some);
    EXPECT_TRUE(victim());
    EXPECT_NE(victim(), active);
}

// It was worth keeping before, and is worth it a moment later.
TEST_F(EvictorTest, WhatCannotBeCopiedAtTheMomentIsNotEvicted) {
    testing::CacheFiles full(4 << 20);  // near its limit, where copies need the lock
    for (int i = 0; i < 850; ++i) full.put(std::to_string(i), std::string(4000, 'v'));
    full.writer().release_segment();
    full.index().for_each([](Index::Place place, Slot) {
        Index::count_hit(place.word);
        return false;
    });
    Process process(full, full.reader(), *policy_by_name("lru"));
    const auto step = [&] { return process.evictor.step(full.index(), 100'000'000).value(); };
    ASSERT_EQ(step(), Progress::retired);
    const auto others = full.directory().open_or_make_file(kLockFileName);
    ASSERT_TRUE(others.ok() && others->try_lock(kSpaceByte, LockKind::exclusive).value());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(step(), Progress::busy);
    EXPECT_EQ(process.evictor.evicted(), 0u);
    for (int i = 0; i < 850; ++i) ASSERT_TRUE(full.get(std::to_string(i))) << i;
    others->unlock(kSpaceByte);
    EXPECT_EQ(step(), Progress::retired);
}

TEST_F(EvictorTest, ADamagedNameIsNoSegment) {
    fill(600);
    Process other = process();
    for (const std::uint64_t word : {kHasNoWriter, kHasNoWriter | 0xFFFFFFFF, ~std::uint64_t{0}}) {
        files_.set_counter(Counter::victim, word);
        for (unsigned i = 0; i < 3; ++i) EXPECT_NE(step(other), Progress::busy);
        EXPECT_EQ(files_.get("599"), std::string(4000, 'v'));
    }
}

// Permissions refuse one segment: writing to it, or reading as well.
std::string refused_name;
bool may_be_read;
SystemCalls refusing(std::uint32_t segment, bool may_read) {
    refused_name = segment_file_name(segment);
    may_be_read = may_read;
    SystemCalls calls = kKernel;
    calls.openat = [](int directory, const char *path, int how, mode_t mode) {
        const bool is_refused =
            path == refused_name && !(may_be_read && (how & O_ACCMODE) == O_RDONLY);
        if (!is_refused) return kKernel.openat(directory, path, how, mode);
        errno = EACCES;
        return -1;
    };
    calls.fstatat = [](int directory, const char *path, struct stat *status, int flags) {
        const int result = kKernel.fstatat(directory, path, status, flags);
        if (path == refused_name && !may_be_read) status->st_mode &= ~07777u;
        return result;
    };
    return calls;
}

// It holds no entry for anybody, and takes room.
TEST_F(EvictorTest, ASegmentThatMayNotBeReadOrWrittenGoesInItsTurn) {
    fill(600);
    files_.put("last", "value");
    files_.writer().release_segment();
    for (const bool may_read : {true, false}) {
        Process other = process();
        ASSERT_TRUE(sync_segments(files_.directory()).ok());
        files_.index().note_sync();
        const auto use = measure_disk_use(files_.directory());
        std::uint32_t oldest = UINT32_MAX;
        for (const SegmentFile &file : use->segments) oldest = std::min(oldest, file.segment);
        const SystemCalls calls = refusing(oldest, may_read);
        RecordReader reader(files_.directory());
        Evictor evictor(files_.directory(), reader, other.account, *other.writer, other.ghosts,
                        other.reuse, *policy_by_name("fifo"));
        system_calls = &calls;
        for (;;) {
            const auto progress = evictor.step(files_.index(), UINT64_MAX);
            EXPECT_TRUE(progress.ok());
            if (!progress.ok() || progress.value() != Progress::some) break;
        }
        EXPECT_TRUE(sync_segments(files_.directory()).ok());
        system_calls = &kKernel;
        EXPECT_FALSE(exists(oldest));
        EXPECT_EQ(slots_in(oldest), 0u);
    }
    EXPECT_EQ(files_.get("last"), "value");
}

// Nobody can tell whether what is there is a copy of it.
TEST_F(EvictorTest, AReplacedRecordGoesWhoseNewOneMayNotBeRead) {
    const Location older = files_.put("0", "value");
    fill(600);
    const Location newer = files_.put("0", "value");
    files_.writer().release_segment();
    Process other = process();
    RecordReader reader(files_.directory());
    Evictor evictor(files_.directory(), reader, other.account, *other.writer, other.ghosts,
                    other.reuse, *policy_by_name("fifo"));
    const SystemCalls calls = refusing(newer.segment, false);
    system_calls = &calls;
    Status status;
    while (status.ok() && exists(older.segment)) {
        status = Status(evictor.step(files_.index(), UINT64_MAX).error());
    }
    system_calls = &kKernel;
    EXPECT_TRUE(status.ok());
}

// As in a sandbox: permissions do not say so, and it passes.
TEST_F(EvictorTest, NoSegmentGoesBecauseItCannotBeOpenedNow) {
    fill(600);
    Process other = process();
    ASSERT_EQ(step(other), Progress::some);
    static std::string name;
    name = segment_file_name(*victim());
    const unsigned before = slots_in(*victim());
    SystemCalls calls = kKernel;
    calls.openat = [](int directory, const char *path, int how, mode_t mode) {
        if (path != name) return kKernel.openat(directory, path, how, mode);
        errno = EACCES;
        return -1;
    };
    RecordReader reader(files_.directory());
    Evictor evictor(files_.directory(), reader, other.account, *other.writer, other.ghosts,
                    other.reuse, *policy_by_name("fifo"));
    system_calls = &calls;
    EXPECT_EQ(evictor.step(files_.index(), UINT64_MAX).error(), Error::denied);
    system_calls = &kKernel;
    EXPECT_TRUE(exists(*victim()));
    EXPECT_EQ(slots_in(*victim()), before);
}

// While one evictor paused, another finished its victim, and the number was used again.
TEST_F(EvictorTest, APlanIsForOneSegmentAndNotForTheNextOfItsNumber) {
    fill(600);
    Process first = process("mru");
    ASSERT_EQ(step(first), Progress::some);
    const auto segment = victim();
    ASSERT_TRUE(segment);
    Process second = process("mru");
    while (step(second, UINT64_MAX) == Progress::some) {
    }
    ASSERT_FALSE(exists(*segment));
    files_.set_counter(Counter::segment_hint, *segment);
    for (int i = 600; !exists(*segment); ++i) files_.put(std::to_string(i), "first of a segment");
    ASSERT_NE(slots_in(*segment), 0u);
    files_.writer().release_segment();
    ASSERT_NE(step(first), Progress::none);
    ASSERT_TRUE(victim() == segment || !exists(*segment));
    while (step(first, UINT64_MAX) == Progress::some) {
    }
    EXPECT_FALSE(exists(*segment));
    EXPECT_EQ(slots_in(*segment), 0u);
}

}  // namespace
}  // namespace cairn
