// SPDX-License-Identifier: MIT
#include "store/relocation.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "os/system_calls.h"
#include "store/evictor.h"
#include "store/index_file.h"
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
    Result<std::optional<Writer::Appended>> move(Location from, unsigned (*hits)(unsigned),
                                                 bool segment_may_stay = true) {
        const ReadRecord record =
            files_.reader().read_any(files_.identity().cache_id, from, RecordReader::Form::stored);
        EXPECT_EQ(record.outcome, ReadOutcome::found);
        const Bytes key = record.blob->key();
        const Bytes value = record.blob->value();
        return relocate(
            files_.index(), files_.writer(),
            {from, record.header, key, value, Writer::Purpose::copy, segment_may_stay, hits});
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
        ASSERT_NE(copying(), 0u);
    }
    // A child writes its own segment.
    static Location copy_of_child(Location from) { return {from.segment + 1, kRecordAlignment}; }
    void have_slot_follow(std::string_view key, std::string_view value, Location from) {
        const std::uint64_t hash = files_.index().hash(as_bytes(key));
        const Slot target = files_.slot_of(key, value, copy_of_child(from));
        ASSERT_TRUE(files_.index().change_slot(hash, from, [&](Slot) { return target.word(); }));
        ASSERT_EQ(files_.get(key), value);
    }
    std::uint64_t copying() { return files_.index().counter(Counter::copying).load(); }
    Status withdraw() {
        return finish_unfinished_move(files_.index(), files_.reader(), files_.writer());
    }
    RecordState state_of(Location location) { return header_of(location).state; }
    RecordHeader header_of(Location location) {
        return files_.reader().read_any_key(files_.identity().cache_id, location).header;
    }
    // As remove() does.
    void remove(std::string_view key, Location location) {
        const RecordHeader header = header_of(location);
        ASSERT_TRUE(files_.writer().mark(location, header.stamp_ns, RecordState::removed).ok());
        Evictor::drop(files_.index(), files_.index().hash(as_bytes(key)), location);
    }
    // As a put that replaces the entry, and a limit on entries that then drops the new one.
    void replace_and_drop(std::string_view key, Location location) {
        const RecordHeader header = header_of(location);
        ASSERT_TRUE(files_.writer().mark_replaced(location, header.stamp_ns, kBoot).ok());
        Evictor::drop(files_.index(), files_.index().hash(as_bytes(key)), location);
    }
    void lose_index_and_search() {
        const std::uint64_t copying = this->copying();
        const std::uint64_t from = files_.index().counter(Counter::copying_from).load();
        files_.replace_index(nullptr);
        ASSERT_TRUE(create_index_file(files_.directory(), files_.identity(), Replace::yes).ok());
        files_.replace_index(files_.open_index());
        files_.index().counter(Counter::boot).store(kBoot);
        files_.index().counter(Counter::copying).store(copying);
        files_.index().counter(Counter::copying_from).store(from);
        rebuild();
    }
    void rebuild() {
        Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.writer());
        ASSERT_TRUE(rebuild.step(UINT64_MAX).value());
    }

    static constexpr std::uint64_t kBoot = 0x9E3779B97F4A7C15u;
    testing::CacheFiles files_;
};

TEST_F(RelocationTest, HasTheSlotFollow) {
    const Location from = files_.put("key", "value");
    auto moved = move(from, same_hits);
    ASSERT_TRUE(moved.ok() && moved->has_value());
    EXPECT_NE((*moved)->location, from);
    EXPECT_EQ(files_.get("key"), "value");
    EXPECT_EQ(files_.published_slots("key"), 1u);
    EXPECT_EQ(copying(), 0u);
}

TEST_F(RelocationTest, LeavesAloneWhatWasReplaced) {
    const Location from = files_.put("key", "old");
    files_.put("key", "new");
    auto moved = move(from, same_hits);
    ASSERT_TRUE(moved.ok());
    EXPECT_FALSE(*moved);
    EXPECT_EQ(files_.get("key"), "new");
    EXPECT_EQ(copying(), 0u);
}

// The original is removed, and goes with its segment; the copy must not come back.
TEST_F(RelocationTest, WhatADeadProcessCopiedIsWithdrawn) {
    const Location from = files_.put("key", "value");
    files_.writer().release_segment();
    move_and_die(from);
    ASSERT_TRUE(withdraw().ok());
    EXPECT_EQ(copying(), 0u);
    remove("key", from);
    const auto discarded = files_.writer().retire_segment(files_.index(), from.segment);
    ASSERT_TRUE(discarded.ok());
    lose_index_and_search();
    EXPECT_FALSE(files_.get("key"));
}

TEST_F(RelocationTest, WhatASlotLeadsToIsNotWithdrawn) {
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    ASSERT_TRUE(withdraw().ok());
    EXPECT_EQ(copying(), 0u);
    EXPECT_EQ(state_of(copy_of_child(from)), RecordState::live);
}

// When the copying of a segment stops half-way, originals stay there.
TEST_F(RelocationTest, TheOriginalDoesNotComeBackWhenItsCopyWasReplaced) {
    files_.index().counter(Counter::boot).store(kBoot);
    const Location from = files_.put("key", "value");
    auto moved = move(from, same_hits);
    ASSERT_TRUE(moved.ok() && *moved);
    replace_and_drop("key", (*moved)->location);
    rebuild();
    EXPECT_FALSE(files_.get("key"));
}

// The same, when the process dies after the slot has moved.
TEST_F(RelocationTest, NorWhenTheProcessThatMovedItDied) {
    files_.index().counter(Counter::boot).store(kBoot);
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    replace_and_drop("key", copy_of_child(from));
    rebuild();
    EXPECT_FALSE(files_.get("key")) << "while the move is not finished";
    ASSERT_TRUE(withdraw().ok());
    rebuild();
    EXPECT_FALSE(files_.get("key"));
}

TEST_F(RelocationTest, FinishingAMoveMarksTheOriginal) {
    files_.index().counter(Counter::boot).store(kBoot);
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    ASSERT_TRUE(withdraw().ok());
    ASSERT_EQ(files_.get("key"), "value");
    replace_and_drop("key", copy_of_child(from));
    rebuild();
    EXPECT_FALSE(files_.get("key"));
}

// The same for a copy that no slot leads to yet.
TEST_F(RelocationTest, TheCopyDoesNotComeWhenItsOriginalWasReplaced) {
    files_.index().counter(Counter::boot).store(kBoot);
    const Location from = files_.put("key", "value");
    move_and_die(from);
    replace_and_drop("key", from);
    rebuild();
    EXPECT_FALSE(files_.get("key"));
    ASSERT_TRUE(withdraw().ok());
    rebuild();
    EXPECT_FALSE(files_.get("key"));
}

// A power loss may leave only the original.
TEST_F(RelocationTest, AfterASystemStartBothCount) {
    files_.index().counter(Counter::boot).store(~kBoot);
    const Location from = files_.put("key", "value");
    move_and_die(from);
    have_slot_follow("key", "value", from);
    const std::vector<std::byte> zeroes(kRecordHeaderSize);
    const Location copy = copy_of_child(from);
    files_.overwrite(segment_file_name(copy.segment), copy.offset, zeroes);
    lose_index_and_search();
    EXPECT_EQ(files_.get("key"), "value");
    ASSERT_TRUE(withdraw().ok());
    lose_index_and_search();
    EXPECT_EQ(files_.get("key"), "value");
}

// A mark of an earlier system start is void: the first rebuild marks the record again.
TEST_F(RelocationTest, ARebuildLeavesOneOfTwoCopies) {
    const Location from = files_.put("key", "value");
    files_.writer().release_segment();
    auto moved = move(from, same_hits);
    ASSERT_TRUE(moved.ok() && *moved);
    files_.index().counter(Counter::boot).store(kBoot);
    lose_index_and_search();
    ASSERT_EQ(files_.get("key"), "value");
    const std::uint64_t hash = files_.index().hash(as_bytes("key"));
    const bool original = files_.index().leads_to(hash, from);
    replace_and_drop("key", original ? from : (*moved)->location);
    rebuild();
    EXPECT_FALSE(files_.get("key"));
}

// A write failed after the value: a rebuild would take the record for whole.
TEST_F(RelocationTest, ACopyWhoseWriteFailedDoesNotCome) {
    files_.index().counter(Counter::boot).store(kBoot);
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
    const auto moved = move(from, same_hits);
    system_calls = &kKernel;
    ASSERT_EQ(moved.error(), Error::io);
    replace_and_drop("key", from);
    rebuild();
    EXPECT_FALSE(files_.get("key"));
}

TEST_F(RelocationTest, ADamagedWordNamesNothing) {
    std::vector<Location> places;
    for (int i = 0; i < 50; ++i) places.push_back(files_.put(std::to_string(i), "value"));
    move_and_die(places[7]);
    const std::uint64_t good = copying();
    for (unsigned bit = 0; bit < 64; ++bit) {
        files_.index().counter(Counter::copying).store(good ^ (std::uint64_t{1} << bit));
        ASSERT_TRUE(withdraw().ok());
        EXPECT_EQ(copying(), 0u);
    }
    for (const Location place : places) EXPECT_EQ(state_of(place), RecordState::live);
}

}  // namespace
}  // namespace cairn
