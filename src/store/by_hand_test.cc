// What somebody does to the files of a cache while stores have it open.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/system_calls.h"
#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"
#include "store/index_file.h"
#include "store/locks.h"
#include "store/reuse.h"
#include "store/segment_format.h"
#include "store/space.h"
#include "store/store.h"
#include "store/testing/calls.h"

namespace fs = std::filesystem;

namespace cairn {
namespace {

using testing::compress;
using testing::get;
using testing::put;

// Called once, when a file that has no name any more is asked for.
std::function<void()> when_seen_deleted;
std::atomic<bool> may_write = true, may_write_index = true;

int fstat_and_tell(int fd, struct stat *out) {
    const int result = kKernel.fstat(fd, out);
    if (result != 0 || out->st_nlink != 0 || !when_seen_deleted) return result;
    const auto call = std::exchange(when_seen_deleted, {});
    call();
    return result;
}

const SystemCalls *next_calls;

int openat_as_allowed(int directory, const char *path, int flags, mode_t mode) {
    const bool may = may_write && (may_write_index || std::string_view(path) != kIndexFileName);
    if (may || (flags & O_ACCMODE) != O_RDWR)
        return next_calls->openat(directory, path, flags, mode);
    errno = EROFS;
    return -1;
}

class ByHandTest : public ::testing::Test {
  protected:
    ByHandTest() {
        next_calls = system_calls;
        table_ = *next_calls;
        table_.fstat = &fstat_and_tell;
        table_.openat = &openat_as_allowed;
        system_calls = &table_;
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.version = 1;
        options_.limit_bytes = 64 << 20;
        first_ = open();
        EXPECT_NE(first_, nullptr);
        // Writes another segment, as the first store has one.
        second_ = open();
        EXPECT_NE(second_, nullptr);
    }
    // Their threads use the system calls.
    ~ByHandTest() override {
        second_.reset();
        first_.reset();
        system_calls = next_calls;
        when_seen_deleted = {};
        may_write = true;
        may_write_index = true;
    }

    std::unique_ptr<Store> open() const {
        auto opened = Store::open(options_);
        return opened.ok() ? std::move(opened.value()) : nullptr;
    }
    Directory directory() const {
        return std::move(
            Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat)).value());
    }
    std::unique_ptr<Index> open_index() const {
        File file = std::move(directory().open_file(kIndexFileName, Access::read_write).value());
        const CacheIdentity identity = read_index_identity(file, options_.identifier).value();
        return std::move(Index::open(std::move(file), identity, Access::read_write).value());
    }
    void lose_newest_segment_and_index() {
        second_.reset();
        first_.reset();
        std::uint32_t newest = 0;
        auto use = measure_disk_use(directory());
        ASSERT_TRUE(use.ok());
        for (const SegmentFile &file : use->segments) newest = std::max(newest, file.segment);
        ASSERT_TRUE(directory().remove_file(segment_file_name(newest)).ok());
        ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    }
    // Takes the slot away, as damage does. Nothing tells of it.
    static Slot lose_slot(Index &index, const std::string &key) {
        Slot lost{0};
        Index::Candidates candidates(index, index.hash(as_bytes(key)));
        if (const auto found = candidates.next()) {
            lost = found->slot;
            EXPECT_TRUE(index.drop(found->place, found->slot));
        }
        return lost;
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    testing::FailingCalls calls_;  // before there are threads
    SystemCalls table_;
    StoreOptions options_;
    std::unique_ptr<Store> first_;
    std::unique_ptr<Store> second_;
};

// It found its segment deleted, and got no other one.
TEST_F(ByHandTest, APutThatIsRefusedLeavesTheOlderValueEvenIfItsSegmentWasDeleted) {
    ASSERT_EQ(put(*first_, "key", "old"), Error::none);
    ASSERT_EQ(put(*second_, "another", "value"), Error::none);
    ASSERT_TRUE(directory().remove_file(segment_file_name(1)).ok());
    testing::Fault fault;
    fault.error = ENOLCK;
    fault.only = testing::Call::lock;
    fault.extent = testing::Fault::Extent::from_then_on;
    calls_.arm(fault);
    EXPECT_NE(put(*second_, "key", "new"), Error::none);
    EXPECT_NE(put(*second_, "new key", "new"), Error::none);
    calls_.disarm();
    EXPECT_EQ(get(*first_, "key"), "old");
    EXPECT_EQ(get(*second_, "key"), "old");
    EXPECT_EQ(get(*second_, "new key"), "(miss)");
    EXPECT_EQ(first_->stats().entries, 2u);
    ASSERT_EQ(put(*second_, "key", "new"), Error::none);
    EXPECT_EQ(get(*first_, "key"), "new");
}

TEST_F(ByHandTest, ARemovalThatIsOnlyWrittenDownIsNotWrittenIntoADeletedSegment) {
    ASSERT_EQ(put(*first_, "key", "value"), Error::none);
    ASSERT_EQ(put(*second_, "another", "value"), Error::none);
    const auto index = open_index();
    (void)lose_slot(*index, "key");
    index->ask_for_rebuild();
    ASSERT_TRUE(directory().remove_file(segment_file_name(1)).ok());
    auto removed = second_->remove(as_bytes("key"));
    EXPECT_TRUE(removed.ok() && *removed);
    EXPECT_EQ(compress(*first_), Error::none);
    EXPECT_EQ(get(*first_, "key"), "(miss)");
}

// Another process found that, and emptied the slot, before the put did.
TEST_F(ByHandTest, AnOlderValueThatAPutCannotTakeBackIsGivenUp) {
    ASSERT_EQ(put(*first_, "key", "old"), Error::none);
    ASSERT_EQ(put(*second_, "another", "value"), Error::none);
    ASSERT_TRUE(directory().remove_file(segment_file_name(1)).ok());
    std::string seen;
    when_seen_deleted = [&] { seen = get(*first_, "key"); };
    EXPECT_EQ(put(*second_, "key", "new"), Error::none);
    EXPECT_EQ(seen, "(miss)");
    EXPECT_EQ(get(*first_, "key"), "new");
    lose_newest_segment_and_index();
    EXPECT_EQ(get(*open(), "key"), "(miss)");
}

TEST_F(ByHandTest, AnEntryThatAPutCannotTakeBackIsCountedOnce) {
    ASSERT_EQ(put(*second_, "another", "value"), Error::none);
    const auto index = open_index();
    ASSERT_TRUE(directory().remove_file(segment_file_name(0)).ok());
    when_seen_deleted = [&] { (void)get(*first_, "key"); };
    EXPECT_EQ(put(*second_, "key", "value"), Error::none);
    EXPECT_EQ(index->entries(), index->count_entries());
}

// Where another file stood in the place of a segment for a while, an entry was stored once more.
TEST_F(ByHandTest, AnEntryWithTwoSlotsIsEnumeratedAsItIsFoundAndRemovedWhole) {
    ASSERT_EQ(put(*first_, "key", "first value"), Error::none);
    const auto index = open_index();
    const Slot first = lose_slot(*index, "key");
    ASSERT_EQ(put(*second_, "key", "second"), Error::none);
    ASSERT_TRUE(index->insert(index->hash(as_bytes("key")), first).ok());
    std::vector<std::size_t> sizes;
    second_->enumerate([&](const EntryInfo &info) {
        sizes.push_back(info.value_size);
        return true;
    });
    EXPECT_EQ(sizes, std::vector{get(*second_, "key").size()});
    auto removed = second_->remove(as_bytes("key"));
    EXPECT_TRUE(removed.ok() && *removed);
    EXPECT_EQ(get(*first_, "key"), "(miss)");
    EXPECT_EQ(get(*second_, "key"), "(miss)");
}

// A backup has another name of the segment, so that it stays when all names here are gone.
TEST_F(ByHandTest, ASegmentThatABackupKeepsIsGoneAllTheSame) {
    ASSERT_EQ(put(*first_, "key", "value"), Error::none);
    ASSERT_TRUE(directory().link(segment_file_name(0), "backup").ok());
    ASSERT_EQ(put(*first_, "key", "value"), Error::none);
    ASSERT_TRUE(second_->clear().ok());
    ASSERT_EQ(put(*first_, "key", "newer"), Error::none);
    EXPECT_EQ(get(*second_, "key"), "newer");
    first_.reset();
    EXPECT_GT(directory().info("backup")->size_bytes, kSegmentHeaderSize) << "it is not ours";
}

// As by a program that locks whole files before it copies them.
TEST_F(ByHandTest, APutGivesInSoonWhereTheWholeLockFileIsLocked) {
    ASSERT_EQ(put(*first_, "key", "value"), Error::none);
    const auto file = directory().open_file(kLockFileName, Access::read_write);
    ASSERT_TRUE(file.ok());
    struct flock all = {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    all.l_start = kFirstSegmentByte + 1;  // the first store has number 0
    ASSERT_EQ(fcntl(file->fd(), F_OFD_SETLK, &all), 0);
    calls_.arm({});
    EXPECT_EQ(put(*second_, "another", "value"), Error::busy);
    EXPECT_LT(calls_.calls(), 100'000u);
    calls_.disarm();
}

TEST_F(ByHandTest, ClearingARangeInACacheThatMayOnlyBeReadByNowSaysSo) {
    ASSERT_EQ(put(*first_, "key", "value"), Error::none);
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    ASSERT_NE(open(), nullptr);
    may_write = false;
    EXPECT_EQ(first_->clear_range(0, UINT64_MAX).error(), Error::read_only);
    EXPECT_EQ(put(*second_, "key", "value"), Error::read_only);
}

// A process that rebuilds the index has its lock in the file that was deleted.
TEST_F(ByHandTest, WithAnotherLockFileNobodyTakesTheSealOfALivingRebuildAway) {
    ASSERT_EQ(put(*first_, "key", "older"), Error::none);
    {
        const auto rebuilding = IndexNameLock::acquire(directory(), 0);
        ASSERT_TRUE(rebuilding.ok());
        open_index()->seal();
        ASSERT_TRUE(directory().remove_file(kLockFileName).ok());
        EXPECT_EQ(put(*first_, "key", "newer"), Error::busy);
        EXPECT_TRUE(open_index()->is_sealed());
    }
    EXPECT_EQ(put(*first_, "key", "newest"), Error::none);
    EXPECT_EQ(get(*second_, "key"), "newest");
}

// Where it was given back just after it could not be had, nobody holds it.
TEST_F(ByHandTest, TheNameOfAnIndexIsHeldByOneAlsoWhereItWasGivenBackAtThatMoment) {
    second_.reset();  // their threads use the system calls
    first_.reset();
    static std::atomic<bool> is_taken;
    is_taken = true;
    table_.lock = [](int fd, int command, struct flock *range) {
        const bool refuses = range->l_type == F_WRLCK && range->l_start == kNameByte &&
                             command == F_OFD_SETLK && is_taken.exchange(false);
        if (!refuses) return next_calls->lock(fd, command, range);
        errno = EAGAIN;
        return -1;
    };
    const auto held = IndexNameLock::acquire(directory(), 0);
    ASSERT_TRUE(held.ok());
    EXPECT_FALSE(is_taken) << "it was not asked for";
    ASSERT_TRUE(directory().remove_file(kLockFileName).ok());
    EXPECT_EQ(IndexNameLock::acquire(directory(), 0).error(), Error::busy);
}

// Another index takes the place between opening the old one and locking it.
TEST_F(ByHandTest, TheIndexThatIsHeldIsTheOneThatHasTheName) {
    second_.reset();
    first_.reset();
    const std::string folder = options_.root + "/cache/" + format_folder(kNewestFormat) + "/";
    static std::function<void()> when_locked;
    when_locked = [&] {
        fs::copy_file(folder + kIndexFileName, folder + "another");
        fs::rename(folder + "another", folder + kIndexFileName);
    };
    table_.lock = [](int fd, int command, struct flock *range) {
        if (range->l_start == kNameByte && when_locked) std::exchange(when_locked, {})();
        return next_calls->lock(fd, command, range);
    };
    const auto held = IndexNameLock::acquire(directory(), 1'000'000);
    ASSERT_TRUE(held.ok());
    ASSERT_FALSE(when_locked) << "it was not asked for";
    const auto named = directory().open_file(kIndexFileName, Access::read_only);
    ASSERT_TRUE(named.ok());
    EXPECT_TRUE(named->is_locked(kNameByte, LockKind::shared).value());
}

// A process with another lock file must not give the name away meanwhile.
TEST_F(ByHandTest, WhoWipesTheCacheHoldsTheNameOfTheIndex) {
    ASSERT_EQ(put(*first_, "key", "value"), Error::none);
    second_.reset();
    first_.reset();
    static std::function<void()> when_wiped;
    static Error error;
    error = Error::none;
    when_wiped = [&] {
        ASSERT_TRUE(directory().remove_file(kLockFileName).ok());
        error = IndexNameLock::acquire(directory(), 0).error();
    };
    table_.unlinkat = [](int in, const char *path, int flags) {
        const bool is_segment = std::string_view(path).ends_with(".val");
        if (is_segment && when_wiped) std::exchange(when_wiped, {})();
        return next_calls->unlinkat(in, path, flags);
    };
    options_.version = 2;
    first_ = open();
    ASSERT_NE(first_, nullptr);
    EXPECT_FALSE(when_wiped) << "no segment was removed";
    EXPECT_EQ(error, Error::busy);
    EXPECT_EQ(get(*first_, "key"), "(miss)");
}

// Closing takes in what look-ups have noted.
TEST_F(ByHandTest, ClosingWhereTheIndexMayOnlyBeReadByNowLearnsNothing) {
    options_.limit_bytes = 1 << 20;
    auto store = open();
    for (int i = 0; i < 40; ++i) {
        const std::string key = "key " + std::to_string(i);
        ASSERT_EQ(put(*store, key, std::string(64 * 1024, 'v')), Error::none);
        EXPECT_TRUE(store->get(as_bytes(key)));
    }
    ASSERT_TRUE(directory().info(kReuseFileName).ok());
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    ASSERT_NE(open(), nullptr);
    may_write_index = false;
    EXPECT_EQ(put(*store, "key", "value"), Error::read_only);
    store.reset();
}

}  // namespace
}  // namespace cairn
