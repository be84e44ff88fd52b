// SPDX-License-Identifier: MIT
#include "store/relocation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "os/system_calls.h"
#include "store/evictor.h"
#include "store/index_file.h"
#include "store/marks.h"
#include "store/rebuild.h"
#include "store/record.h"
#include "store/segment_format.h"
#include "store/testing/cache_files.h"

namespace cairn {
namespace {

unsigned same_hits(unsigned hits) {
    return hits;
}
// Called when the copy is written, before the slot moves.
unsigned die(unsigned) {
    _exit(0);
}

class RelocationTest : public ::testing::Test {
  protected:
    Status move(Location from, unsigned (*hits)(unsigned)) {
        const ReadRecord record =
            files_.reader().read_any(files_.identity().cache_id, from, RecordReader::Form::stored);
        EXPECT_EQ(record.outcome, ReadOutcome::found);
        const Bytes key = record.blob->key();
        const Bytes value = record.blob->value();
        return relocate(files_.directory(), files_.index(), files_.writer(),
                        {from, record.header, key, value, Account::Purpose::copy, hits});
    }
    void move_and_die(Location from) {
        const pid_t child = fork();
        if (child == 0) {
            (void)move(from, die);
            _exit(1);
        }
        int status = 1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
        ASSERT_TRUE(header_of(copy_of_child(from)).unmoved);
    }
    // A child writes its own segment.
    static Location copy_of_child(Location from) { return {from.segment + 1, kRecordAlignment}; }
    void have_slot_follow(std::string_view key, std::string_view value, Location from) {
        const std::uint64_t hash = files_.index().hash(as_bytes(key));
        const Slot target = files_.slot_of(key, value, copy_of_child(from));
        ASSERT_TRUE(files_.index().change_slot(hash, from, [&](Slot) { return target.word(); }));
        ASSERT_EQ(files_.get(key), value);
    }
    // Where the slot of a key leads to.
    Location location_of(std::string_view key) {
        Index::Candidates candidates(files_.index(), files_.index().hash(as_bytes(key)));
        const auto found = candidates.next();
        return found ? found->slot.location() : Location();
    }
    RecordHeader header_of(Location location) {
        return files_.reader().read_any_key(files_.identity().cache_id, location).header;
    }
    // As who goes over the original's segment next.
    Status finish(Location from) {
        SegmentScan scan(files_.identity(), from.segment, UINT32_MAX, from.offset);
        const auto entry = next_entry(files_.directory(), files_.index(), files_.reader(), scan);
        EXPECT_TRUE(entry.ok() && entry.value() && entry.value()->record.location == from);
        return entry.ok() && entry.value() ? entry.value()->finished : Status(entry.error());
    }
    // As remove() does.
    void remove(std::string_view key, Location location) {
        mark(location, RecordState::removed);
        drop(key, location);
    }
    // As a put that replaces the entry, and an eviction that then drops the new one.
    void replace_and_drop(std::string_view key, Location location) {
        const std::uint64_t boot = files_.index().boot();
        ASSERT_TRUE(mark_given_up(files_.directory(), {location, header_of(location).stamp_ns},
                                  GivenUp::replaced, boot)
                        .ok());
        drop(key, location);
    }
    void mark(Location location, RecordState state) {
        ASSERT_TRUE(
            mark_state(files_.directory(), {location, header_of(location).stamp_ns}, state).ok());
    }
    void drop(std::string_view key, Location location) {
        Evictor::drop(files_.index(), files_.index().hash(as_bytes(key)), location);
    }
    void retire(Location location) {
        files_.writer().release_segment();
        const auto discarded = retire_segment(files_.directory(), files_.index(), location.segment);
        ASSERT_TRUE(discarded.ok());
    }
    void lose_index_and_search() {
        files_.replace_index(nullptr);
        ASSERT_TRUE(create_index_file(files_.directory(), files_.identity(), Replace::yes).ok());
        files_.replace_index(files_.open_index());
        rebuild();
    }
    void rebuild() {
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(),
                        nullptr);
        ASSERT_TRUE(rebuild.step(UINT64_MAX).value());
    }

    testing::CacheFiles files_;
};

TEST_F(RelocationTest, HasTheSlotFollow) {
    const Location from = files_.put("key", "value");
    ASSERT_TRUE(move(from, same_hits).ok());
    EXPECT_NE(location_of("key"), from);
    EXPECT_FALSE(header_of(location_of("key")).unmoved);
    EXPECT_EQ(files_.get("key"), "value");
    EXPECT_EQ(files_.published_slots("key"), 1u);
}

TEST_F(RelocationTest, LeavesAloneWhatWasReplaced) {
    const Location from = files_.put("key", "old");
    const Location newer = files_.put("key", "new");
    ASSERT_TRUE(move(from, same_hits).ok());
    EXPECT_EQ(location_of("key"), newer);
    EXPECT_EQ(files_.get("key"), "new");
}

// The original is removed, and goes with its segment; the copy must not come back.
TEST_F(RelocationTest, ACopyThatNoSlotLedToDoesNotCome) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    remove("key", from);
    retire(from);
    lose_index_and_search();
    EXPECT_FALSE(files_.get("key"));
}

TEST_F(RelocationTest, ACopyThatNoSlotLedToIsNotTheEntryWhileTheOriginalIs) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    lose_index_and_search();
    EXPECT_EQ(files_.get("key"), "value");
    const std::uint64_t hash = files_.index().hash(as_bytes("key"));
    EXPECT_TRUE(files_.index().leads_to(hash, from));
}

// The process died before it said so. Who goes over the segment next does.
TEST_F(RelocationTest, WhatASlotHasMovedToIsTheEntryWhenTheOriginalIsGone) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    ASSERT_TRUE(finish(from).ok());
    EXPECT_FALSE(header_of(copy_of_child(from)).unmoved);
    retire(from);
    lose_index_and_search();
    EXPECT_EQ(files_.get("key"), "value");
}

// Else nobody could evict the segment any more.
TEST_F(RelocationTest, ACopyThatMayNotBeWrittenStopsNobody) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    SystemCalls calls = kKernel;
    calls.openat = [](int directory, const char *path, int how, mode_t mode) {
        const bool is_copy = path == segment_file_name(1) && (how & O_ACCMODE) == O_RDWR;
        if (!is_copy) return kKernel.openat(directory, path, how, mode);
        errno = EACCES;
        return -1;
    };
    system_calls = &calls;
    EXPECT_TRUE(finish(from).ok());
    system_calls = &kKernel;
    EXPECT_TRUE(header_of(copy_of_child(from)).unmoved);
    EXPECT_EQ(files_.get("key"), "value");
}

// It gives the original up, so it has to say so in the copy.
TEST_F(RelocationTest, ARebuildFinishesTheMoveToWhatTheSlotLeadsTo) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    rebuild();
    lose_index_and_search();
    EXPECT_EQ(files_.get("key"), "value");
}

TEST_F(RelocationTest, FinishingLeavesALaterValueAlone) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    files_.put("key", "new");
    ASSERT_TRUE(finish(from).ok());
    EXPECT_TRUE(header_of(copy_of_child(from)).unmoved);
    EXPECT_EQ(files_.get("key"), "new");
}

// The original is not marked: the slot led to the copy.
TEST_F(RelocationTest, TheOriginalDoesNotComeWhenItsCopyWasRemovedOrReplaced) {
    for (const std::string key : {"removed", "replaced"}) {
        const Location from = files_.put(key, "value");
        ASSERT_TRUE(move(from, same_hits).ok());
        const Location copy = location_of(key);
        ASSERT_NE(copy, from);
        key == "removed" ? remove(key, copy) : replace_and_drop(key, copy);
    }
    lose_index_and_search();
    EXPECT_FALSE(files_.get("removed"));
    EXPECT_FALSE(files_.get("replaced"));
}

// The same, when the process dies right after the slot has moved.
TEST_F(RelocationTest, NorWhenTheProcessThatMovedItDied) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    replace_and_drop("key", copy_of_child(from));
    lose_index_and_search();
    EXPECT_FALSE(files_.get("key"));
    ASSERT_TRUE(finish(from).ok());
    lose_index_and_search();
    EXPECT_FALSE(files_.get("key"));
}

// The same for a copy that no slot leads to yet.
TEST_F(RelocationTest, TheCopyDoesNotComeWhenItsOriginalWasReplaced) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    replace_and_drop("key", from);
    lose_index_and_search();
    EXPECT_FALSE(files_.get("key"));
}

// A power loss may leave only the original.
TEST_F(RelocationTest, TheOriginalIsTheEntryWhenItsCopyIsLost) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    const std::vector<std::byte> zeroes(kRecordHeaderSize);
    const Location copy = copy_of_child(from);
    files_.overwrite(segment_file_name(copy.segment), copy.offset, zeroes);
    lose_index_and_search();
    EXPECT_EQ(files_.get("key"), "value");
}

TEST_F(RelocationTest, ARebuildLeavesOneOfTwoCopies) {
    const Location from = files_.put("key", "value");
    ASSERT_TRUE(move(from, same_hits).ok());
    const Location copy = location_of("key");
    ASSERT_NE(copy, from);
    lose_index_and_search();
    ASSERT_EQ(files_.get("key"), "value");
    const bool original = files_.index().leads_to(files_.index().hash(as_bytes("key")), from);
    const std::uint64_t boot = files_.index().boot();
    EXPECT_EQ(header_of(original ? from : copy).given_up_in, 0u);
    EXPECT_TRUE(header_of(original ? copy : from).was_left(boot)) << "until the next start";
}

// Else a power loss could bring the name back, with some of the records.
TEST_F(RelocationTest, ARetiredFileIsCutOnceItsNewNameIsDurable) {
    static int synced;
    static int synced_before_cut;
    SystemCalls calls = kKernel;
    calls.fsync = [](int fd) {
        ++synced;
        return kKernel.fsync(fd);
    };
    calls.ftruncate = [](int fd, off_t size) {
        if (size == 0) synced_before_cut = synced;
        return kKernel.ftruncate(fd, size);
    };
    for (const bool has_died : {false, true}) {  // who retired it, before it had deleted the file
        const Location from = files_.put("key", "value");
        files_.index().note_sync();
        files_.writer().release_segment();
        const auto name = retire_segment(files_.directory(), files_.index(), from.segment);
        ASSERT_TRUE(name.ok() && name.value());
        const auto file = files_.directory().open_file(*name.value(), Access::read_write);
        constexpr timespec kLongAgo[] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
        ASSERT_TRUE(file.ok() && futimens(file->fd(), kLongAgo) == 0);
        synced = 0;
        synced_before_cut = -1;
        system_calls = &calls;
        if (has_died) {
            Writer writer(files_.directory(), files_.account());
            const RecordHeader header = removal_of(1, 5, 1, 0);
            const auto put = Account::Purpose::put;
            EXPECT_TRUE(writer.append(files_.index(), header, as_bytes("other"), {}, put).ok());
        } else {
            EXPECT_TRUE(discard_retired(files_.directory(), files_.index(), *name.value()).ok());
        }
        system_calls = &kKernel;
        EXPECT_EQ(synced_before_cut, 1) << has_died;
    }
}

// A write failed after the value: a rebuild would take the record for whole.
TEST_F(RelocationTest, ACopyWhoseWriteFailedDoesNotCome) {
    const Location from = files_.put("key", "value");
    SystemCalls calls = kKernel;
    calls.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) -> ssize_t {
        if (count == 6) return kKernel.pwritev(fd, pieces, 5, offset);
        if (count > 1 || pieces->iov_len != kRecordEndSize) {
            return kKernel.pwritev(fd, pieces, count, offset);
        }
        errno = EIO;
        return -1;
    };
    system_calls = &calls;
    const Status moved = move(from, same_hits);
    system_calls = &kKernel;
    ASSERT_EQ(moved.error(), Error::io);
    replace_and_drop("key", from);
    lose_index_and_search();
    EXPECT_FALSE(files_.get("key"));
}

}  // namespace
}  // namespace cairn
