// SPDX-License-Identifier: MIT
#include "store/writer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/marks.h"
#include "store/segment_format.h"
#include "store/testing/cache_files.h"

namespace cairn {
namespace {

constexpr std::uint64_t kLimit = 8 << 20;  // segments of 128 KiB

class WriterTest : public ::testing::Test {
  protected:
    WriterTest() : files_(kLimit) {}

    Result<Writer::Appended> append(Writer &writer, const std::string &key,
                                    const std::string &value,
                                    Account::Purpose purpose = Account::Purpose::put) {
        RecordHeader header;
        header.key_size = static_cast<std::uint32_t>(key.size());
        header.value_size = header.raw_size = static_cast<std::uint32_t>(value.size());
        header.stamp_ns = ++stamp_;
        header.key_hash = files_.index().hash(as_bytes(key));
        header.value_check = value_checksum(as_bytes(value));
        return writer.append(files_.index(), header, as_bytes(key), as_bytes(value), purpose);
    }
    bool readable(Location location, const std::string &key, const std::string &value) {
        const ReadRecord read = files_.reader().read_any(files_.identity().cache_id, location);
        return read.outcome == ReadOutcome::found && same_bytes(read.blob->key(), as_bytes(key)) &&
               same_bytes(read.blob->value(), as_bytes(value));
    }
    DiskUse use() { return std::move(measure_disk_use(files_.directory()).value()); }

    testing::CacheFiles files_;
    std::uint64_t stamp_ = 0;
};

TEST(SpaceLimitsTest, ASegmentIsASmallPartOfTheCache) {
    for (std::uint64_t limit = 1 << 20; limit <= std::uint64_t{1} << 40; limit *= 2) {
        const SpaceLimits limits = space_limits(limit);
        EXPECT_EQ(limits.limit_bytes, limit);
        EXPECT_GE(limits.segment_bytes, 64u * 1024);
        EXPECT_LE(limits.segment_bytes, (std::uint64_t{1} << kOffsetBits) * kRecordAlignment);
        EXPECT_LE(limits.segment_bytes, limit / 16);
    }
}

// Each segment costs a file that is made, measured and deleted.
TEST(SpaceLimitsTest, ASegmentOfASmallCacheIsNoTinyFileUnlessTheCacheRefuses) {
    for (std::uint64_t mib = 1; mib <= 64; ++mib) {
        const std::uint64_t limit = mib << 20;
        const std::uint64_t worth = std::min<std::uint64_t>(limit / 32, 128 * 1024);
        EXPECT_GT(space_limits(limit).segment_bytes, worth / 2) << mib;
        EXPECT_LE(space_limits(limit).segment_bytes, limit / 16) << mib;
        // Who refuses when full compresses into what is kept free.
        const SpaceLimits refusing = space_limits(limit, WhenFull::refuse);
        EXPECT_LE(refusing.segment_bytes, std::max<std::uint64_t>(limit / 64, 64 * 1024)) << mib;
    }
}

// Without the lock, each writer may take a step at the same moment.
TEST(SpaceLimitsTest, StepsOfManyWritersFitInWhereNobodyTakesALock) {
    for (const unsigned mib : {1u, 6u, 16u, 32u, 64u}) {
        const std::uint64_t limit = std::uint64_t{mib} << 20;
        testing::CacheFiles files(limit);
        const SpaceLimits limits = space_limits(limit);
        bool is_far = true;
        for (std::uint64_t bytes = 0; is_far; bytes += limits.segment_bytes) {
            ASSERT_LT(bytes, limits.put_bytes);
            const std::string name = segment_file_name(static_cast<std::uint32_t>(bytes >> 16));
            ASSERT_TRUE(files.directory().create_file(name)->extend(limits.segment_bytes).ok());
            const auto space = files.account().take(files.index());
            ASSERT_TRUE(space.ok());
            is_far = !space.value().lock.has_value();
            if (!is_far) break;
            EXPECT_LE(space.value().use.bytes + 64 * limits.step_bytes, limits.put_bytes) << mib;
        }
    }
}

TEST_F(WriterTest, RecordsFollowOneAnotherInOneSegment) {
    const auto one = append(files_.writer(), "one", "first value");
    const auto two = append(files_.writer(), "two", std::string(1000, 'x'));
    ASSERT_TRUE(one.ok());
    ASSERT_TRUE(two.ok());
    EXPECT_EQ(one->location.segment, two->location.segment);
    EXPECT_EQ(one->location.offset, kSegmentHeaderSize);
    EXPECT_GT(two->location.offset, one->location.offset);
    EXPECT_EQ(two->location.offset % kRecordAlignment, 0u);
    EXPECT_TRUE(readable(one->location, "one", "first value"));
    EXPECT_TRUE(readable(two->location, "two", std::string(1000, 'x')));
}

TEST_F(WriterTest, AFullSegmentIsFollowedByAnother) {
    std::set<std::uint32_t> segments;
    for (int i = 0; i < 12; ++i) {
        const auto record = append(files_.writer(), "key", std::string(30'000, 'x'));
        ASSERT_TRUE(record.ok());
        segments.insert(record->location.segment);
    }
    EXPECT_GE(segments.size(), 3u);
    for (const SegmentFile &file : use().segments) EXPECT_LE(file.size_bytes, 128u * 1024);
}

TEST_F(WriterTest, AnEmptyValueAndTheLargestKeyAreRecords) {
    const std::string key(kKeySizeMax, 'k');
    const auto record = append(files_.writer(), key, "");
    ASSERT_TRUE(record.ok());
    EXPECT_TRUE(readable(record->location, key, ""));
}

TEST_F(WriterTest, ALargeRecordGetsASegmentOfItsOwn) {
    const auto small = append(files_.writer(), "small", "value");
    const std::string value(500'000, 'v');
    const auto large = append(files_.writer(), "large", value);
    ASSERT_TRUE(large.ok());
    EXPECT_NE(large->location.segment, small->location.segment);
    EXPECT_TRUE(readable(large->location, "large", value));
    const auto next = append(files_.writer(), "next", "value");
    EXPECT_EQ(next->location.segment, small->location.segment) << "the other one is still in use";
}

// The writer is killed in the write: it had reserved blocks and written a part.
TEST_F(WriterTest, ALargeRecordThatIsNotWholeGoesWithTheNextSegment) {
    const std::string large(1 << 20, 'l');
    for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{10}, std::uint64_t{500'000},
                                     std::uint64_t{(1 << 20) + 64}}) {
        const auto whole = append(files_.writer(), "whole", large);
        auto torn = append(files_.writer(), "torn", large);
        ASSERT_TRUE(whole.ok() && torn.ok());
        const std::uint32_t segment = torn->location.segment;
        const std::string name = segment_file_name(segment);
        const auto file = files_.directory().open_file(name, Access::read_write);
        const auto tear = [&] {
            return file.ok() && file->truncate(kSegmentHeaderSize + left).ok() &&
                   file->reserve(0, 1 << 20).ok();
        };
        ASSERT_TRUE(tear());
        const auto next_segment = [&] {
            files_.writer().release_segment();
            return append(*files_.open_writer(), "next", std::string(1000, 'n')).ok();
        };
        ASSERT_TRUE(next_segment());
        EXPECT_TRUE(files_.directory().info(name).ok()) << "its writer is still there";
        torn->segment.reset();
        ASSERT_TRUE(tear());
        ASSERT_TRUE(next_segment());
        EXPECT_FALSE(files_.directory().info(name).ok()) << left << " bytes are left";
        EXPECT_TRUE(readable(whole->location, "whole", large));
        ASSERT_TRUE(
            files_.directory().remove_file(segment_file_name(whole->location.segment)).ok());
    }
}

TEST_F(WriterTest, WhatIsLargerThanTheCacheMayBecomeIsRefusedAtOnce) {
    EXPECT_EQ(append(files_.writer(), "key", std::string(kLimit, 'x')).error(), Error::too_large);
    EXPECT_TRUE(use().segments.empty());
}

TEST_F(WriterTest, TheLimitHoldsAtEveryMoment) {
    std::string value(20'000, 'x');
    Error refused = Error::none;
    for (int i = 0; i < 2000 && refused == Error::none; ++i) {
        const auto record = append(files_.writer(), "key" + std::to_string(i), value);
        if (!record.ok()) refused = record.error();
        ASSERT_LE(use().bytes, kLimit);
    }
    EXPECT_EQ(refused, Error::full);
    EXPECT_GT(use().bytes, kLimit * 8 / 10) << "and is made use of";
    EXPECT_TRUE(files_.account().pressed());
    EXPECT_TRUE(append(files_.writer(), "copied", value, Account::Purpose::copy).ok())
        << "some room is left for making room";
}

TEST_F(WriterTest, WritersOfOneCacheUseSegmentsOfTheirOwn) {
    const auto other = files_.open_writer();
    const auto mine = append(files_.writer(), "mine", "value");
    const auto theirs = append(*other, "theirs", "value");
    ASSERT_TRUE(theirs.ok());
    EXPECT_NE(mine->location.segment, theirs->location.segment);
}

TEST_F(WriterTest, ASegmentWithoutAWriterIsTakenOver) {
    auto first = files_.open_writer();
    const auto record = append(*first, "first", "value");
    ASSERT_TRUE(record.ok());
    const Location location = record->location;
    EXPECT_FALSE(has_no_writer(files_.directory(), location.segment));
    { const auto held = std::move(first); }
    // The unpublished record keeps the segment locked.
    EXPECT_FALSE(has_no_writer(files_.directory(), location.segment));
    const_cast<Result<Writer::Appended> &>(record) = Error::io;
    EXPECT_TRUE(has_no_writer(files_.directory(), location.segment));
    const auto second = append(files_.writer(), "second", "value");
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second->location.segment, location.segment);
    EXPECT_GT(second->location.offset, location.offset);
    EXPECT_TRUE(readable(location, "first", "value"));
}

// A client of a broker can take such a lock on a lent segment.
TEST_F(WriterTest, ASharedLockOnASegmentKeepsNobodyAway) {
    auto first = files_.open_writer();
    Location location;
    {
        const auto record = append(*first, "first", "value");
        ASSERT_TRUE(record.ok());
        location = record->location;
    }
    first.reset();
    const auto lent =
        files_.directory().open_file(segment_file_name(location.segment), Access::read_only);
    ASSERT_TRUE(lent.ok());
    EXPECT_TRUE(lent->try_lock(0, LockKind::shared).value());

    EXPECT_TRUE(has_no_writer(files_.directory(), location.segment));
    EXPECT_TRUE(SegmentLock::of_segment(files_.directory(), location.segment).ok());
    const auto second = append(files_.writer(), "second", "value");
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second->location.segment, location.segment) << "it is gone on with";
    const auto other = files_.open_writer();
    EXPECT_FALSE(has_no_writer(files_.directory(), location.segment));
    EXPECT_EQ(SegmentLock::of_segment(files_.directory(), location.segment).error(), Error::busy);
    const auto third = append(*other, "third", "value");
    ASSERT_TRUE(third.ok());
    EXPECT_NE(third->location.segment, location.segment) << "by one writer only";
}

TEST_F(WriterTest, WritersWithDifferentLockFilesUseSegmentsOfTheirOwn) {
    const auto mine = append(files_.writer(), "mine", "value");
    ASSERT_TRUE(files_.directory().remove_file(kLockFileName).ok());
    const auto other = files_.open_writer();
    EXPECT_FALSE(has_no_writer(files_.directory(), mine->location.segment));
    const auto theirs = append(*other, "theirs", "value");
    ASSERT_TRUE(theirs.ok());
    EXPECT_NE(theirs->location.segment, mine->location.segment);
}

TEST_F(WriterTest, ADeletedSegmentHoldsNoBlocksOnceItsWriterLetsGo) {
    const auto record = append(files_.writer(), "key", std::string(20'000, 'v'));
    const std::string name = segment_file_name(record->location.segment);
    const auto lent = files_.directory().open_file(name, Access::read_only);
    ASSERT_TRUE(files_.directory().remove_file(name).ok());
    EXPECT_GT(lent->info()->disk_bytes, 0u);
    const_cast<Result<Writer::Appended> &>(record) = Error::io;
    files_.writer().release_segment();
    EXPECT_EQ(lent->info()->disk_bytes, 0u);
}

TEST_F(WriterTest, TakingOverGoesOnBehindAnUnfinishedRecord) {
    auto first = files_.open_writer();
    Location location;
    {
        const auto record = append(*first, "first", "value");
        location = record->location;
    }
    first.reset();
    // As a process that dies in a write leaves it.
    const std::string name = segment_file_name(location.segment);
    const std::uint64_t end = files_.directory().info(name)->size_bytes;
    files_.overwrite(name, end, as_bytes("half a reco"));
    const auto second = append(files_.writer(), "second", "value");
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second->location.segment, location.segment);
    EXPECT_GE(second->location.offset, end + 11);
    EXPECT_TRUE(readable(second->location, "second", "value"));
    EXPECT_TRUE(readable(location, "first", "value"));
}

TEST_F(WriterTest, ASegmentOfAnotherCacheIsNotTakenOver) {
    testing::CacheFiles other(kLimit);
    other.put("key", "value");
    const auto strange = measure_disk_use(other.directory())->segments.at(0);
    std::vector<std::byte> bytes(strange.size_bytes);
    ASSERT_TRUE(other.directory()
                    .open_file(segment_file_name(strange.segment), Access::read_only)
                    ->read_at(0, bytes)
                    .ok());
    { const auto file = files_.directory().create_file(segment_file_name(77)); }
    files_.overwrite(segment_file_name(77), 0, bytes);
    const auto record = append(files_.writer(), "key", "value");
    ASSERT_TRUE(record.ok());
    EXPECT_NE(record->location.segment, 77u);
}

TEST_F(WriterTest, ADeletedSegmentIsNoticedAndLeft) {
    const auto before = append(files_.writer(), "key", "value");
    EXPECT_FALSE(Writer::was_deleted(before.value()));
    ASSERT_TRUE(files_.directory().remove_file(segment_file_name(before->location.segment)).ok());
    EXPECT_TRUE(Writer::was_deleted(before.value()));
    files_.writer().release_segment();
    const auto after = append(files_.writer(), "key", "value");
    ASSERT_TRUE(after.ok());
    EXPECT_FALSE(Writer::was_deleted(after.value()));
    EXPECT_TRUE(readable(after->location, "key", "value"));
}

TEST_F(WriterTest, MarkingSaysWhatASearchIsToMakeOfARecord) {
    const auto record = append(files_.writer(), "key", "value");
    const std::uint64_t stamp = stamp_;
    const auto state = [&] {
        const ReadRecord read =
            files_.reader().read_any_key(files_.identity().cache_id, record->location);
        EXPECT_EQ(read.outcome, ReadOutcome::found) << "a marked record still verifies";
        return read.header.state;
    };
    EXPECT_EQ(state(), RecordState::live);
    EXPECT_TRUE(
        mark_state(files_.directory(), {record->location, stamp + 1}, RecordState::removed).ok());
    EXPECT_EQ(state(), RecordState::live) << "another record is meant";
    EXPECT_TRUE(
        mark_state(files_.directory(), {record->location, stamp}, RecordState::removed).ok());
    EXPECT_EQ(state(), RecordState::removed);
}

TEST_F(WriterTest, MarkingAPlaceInTheMiddleOfAValueChangesNothing) {
    const std::string value(5000, 'v');
    const auto record = append(files_.writer(), "key", value);
    const Location inside = {record->location.segment, record->location.offset + 1024};
    EXPECT_TRUE(mark_state(files_.directory(), {inside, stamp_}, RecordState::unused).ok());
    EXPECT_TRUE(readable(record->location, "key", value));
}

TEST_F(WriterTest, ReservedBlocksAreGivenBackAtTheEnd) {
    { ASSERT_TRUE(append(files_.writer(), "key", "value").ok()); }
    files_.writer().release_segment();
    for (const SegmentFile &file : use().segments) EXPECT_LE(file.disk_bytes, 4096u);
}

TEST_F(WriterTest, ThreadsShareASegmentWithoutOverlap) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kEach = 100;
    std::vector<std::vector<Location>> places(kThreads);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (unsigned i = 0; i < kEach; ++i) {
                const std::string key = std::to_string(t) + "/" + std::to_string(i);
                const std::string value(100 + i * 13, static_cast<char>('a' + t));
                const auto record = files_.append(key, value, i + 1);
                places[t].push_back(record.location);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    for (unsigned t = 0; t < kThreads; ++t) {
        for (unsigned i = 0; i < kEach; ++i) {
            EXPECT_TRUE(readable(places[t][i], std::to_string(t) + "/" + std::to_string(i),
                                 std::string(100 + i * 13, static_cast<char>('a' + t))));
        }
    }
}

TEST_F(WriterTest, TheEvictionLockExcludesOtherThreadsToo) {
    {
        const auto held = lock_eviction(files_.directory(), 0);
        ASSERT_TRUE(held.ok());
        std::thread other(
            [&] { EXPECT_EQ(lock_eviction(files_.directory(), 0).error(), Error::busy); });
        other.join();
        EXPECT_EQ(lock_eviction(files_.directory(), 0).error(), Error::busy) << "still held";
    }
    EXPECT_TRUE(lock_eviction(files_.directory(), 0).ok());
}

// A child must not write where its parent writes.
TEST_F(WriterTest, AForkedChildTakesASegmentOfItsOwn) {
    const auto before = append(files_.writer(), "before", "value");
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto record = append(files_.writer(), "child", "value of the child");
        const Location location = record.ok() ? record->location : Location{};
        const bool told = ::write(pipe_ends[1], &location, sizeof location) == sizeof location;
        ::_exit(record.ok() && told ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    Location location = {};
    ASSERT_EQ(::read(pipe_ends[0], &location, sizeof location),
              static_cast<ssize_t>(sizeof location));
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    EXPECT_NE(location.segment, before->location.segment);
    EXPECT_TRUE(readable(location, "child", "value of the child"));
    const auto after = append(files_.writer(), "after", "value");
    EXPECT_EQ(after->location.segment, before->location.segment) << "the parent goes on";
    EXPECT_TRUE(readable(after->location, "after", "value"));
}

TEST_F(WriterTest, OnlyThatMuchOfTheIndexIsTakenAtOnceAsItIsWorth) {
    Index &index = files_.index();
    const std::uint64_t before = use().bytes;
    ASSERT_TRUE(files_.account().grow_index(index, 1).ok());
    EXPECT_EQ(use().bytes, before + index_size(2) - index_size(1));
    // A level of two megabytes is not worth it with a limit of eight.
    ASSERT_TRUE(index.grow_for(1).ok()) << "the page of the level that was just added";
    ASSERT_TRUE(files_.account().grow_index(index, 1).ok());
    EXPECT_EQ(use().bytes, before + index_size(2) - index_size(1) + 3 * kPage);
    const Slot slot = Slot::make({1, 64}, 0, Slot::tag_of(1));
    for (unsigned i = 0; i < 3 * kSlotsPerBucket; ++i) EXPECT_TRUE(index.insert(1, slot).ok()) << i;
    EXPECT_FALSE(index.insert(1, slot).ok());
    EXPECT_EQ(use().bytes, before + index_size(2) - index_size(1) + 3 * kPage);
}

TEST_F(WriterTest, NobodyMakesRoomForAnIndexThatIsLargerThanItIsWorth) {
    while (files_.account().grow_index(files_.index(), 1).ok()) {
    }
    EXPECT_EQ(files_.account().grow_index(files_.index(), 1).error(), Error::too_large);
}

}  // namespace
}  // namespace cairn
