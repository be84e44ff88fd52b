// Between the seal of the old index and the name of the new one: puts, removals and look-ups at
// that moment, and rebuilds that die then.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "os/environment.h"
#include "os/system_calls.h"
#include "os/testing/scratch.h"
#include "store/marks.h"
#include "store/store.h"
#include "store/testing/calls.h"
#include "store/testing/rebuild_fixture.h"

namespace cairn {
namespace {

using testing::compress;
using testing::get;
using testing::put;

// Called once, before the system call that it is set for.
std::function<void()> before_call;
std::atomic<bool> is_call_due = false;
thread_local bool t_may_call = false;

void set_call(std::function<void()> call) {
    before_call = std::move(call);
    is_call_due = true;
}

void call_once() {
    if (is_call_due.exchange(false)) before_call();
}

// Not in the threads of stores.
void call_once_here() {
    if (t_may_call) call_once();
}

class SealTest : public ::testing::Test {
  protected:
    SealTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.version = 1;
        options_.limit_bytes = 64 << 20;
        t_may_call = true;
        store_ = open();
        directory_.emplace(std::move(
            Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat)).value()));
    }
    // Threads of stores use the calls until these are closed.
    ~SealTest() override {
        store_.reset();
        system_calls = &kKernel;
        t_may_call = false;
    }

    std::unique_ptr<Store> open() const {
        auto opened = Store::open(options_);
        if (!opened.ok()) return nullptr;
        return std::move(opened.value());
    }
    // The index that has the name now, as another process has it.
    std::unique_ptr<Index> open_index() const {
        File file = std::move(directory_->open_file(kIndexFileName, Access::read_write).value());
        const CacheIdentity identity = read_index_identity(file, options_.identifier).value();
        return std::move(Index::open(std::move(file), identity, Access::read_write).value());
    }
    // Has another store rebuild the index, and calls `call` when that is complete and does not have
    // the name yet.
    void rebuild_and_before_the_name(std::function<void()> call) {
        const auto other = open();
        ASSERT_NE(other, nullptr);
        open_index()->ask_for_rebuild();
        set_call(std::move(call));
        calls_.renameat = [](int from, const char *old_path, int to, const char *path) {
            if (std::strcmp(path, kIndexFileName) == 0) call_once();
            return kKernel.renameat(from, old_path, to, path);
        };
        system_calls = &calls_;
        (void)other->compress();  // that rebuilds first
        EXPECT_FALSE(is_call_due);
    }

    // What opens a segment in this thread makes the call first.
    void call_at_segments() {
        calls_.openat = [](int directory, const char *path, int flags, mode_t mode) {
            if (std::string_view(path).starts_with("rebuild-") && fails_) {
                errno = EIO;
                return -1;
            }
            if (std::string_view(path).ends_with(".val")) call_once_here();
            return kKernel.openat(directory, path, flags, mode);
        };
        system_calls = &calls_;
    }
    // The store does not try again for some time.
    void fail_at_a_rebuild(Store &store) {
        open_index()->ask_for_rebuild();
        fails_ = true;
        call_at_segments();
        EXPECT_EQ(get(store, "another key"), "(miss)");
        fails_ = false;
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    std::unique_ptr<Store> store_;
    std::optional<Directory> directory_;
    SystemCalls calls_;
    static inline std::atomic<bool> fails_ = false;  // at making a new index
};

// The process that set the seal has died.
TEST_F(SealTest, APutTakesTheSealOfADeadRebuildAway) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    open_index()->seal();
    EXPECT_EQ(put(*store_, "key", "newer"), Error::none);
    EXPECT_FALSE(open_index()->is_sealed());
    EXPECT_EQ(get(*store_, "key"), "newer");
}

TEST_F(SealTest, ARemovalTakesTheSealOfADeadRebuildAway) {
    ASSERT_EQ(put(*store_, "key", "value"), Error::none);
    open_index()->seal();
    const auto removed = store_->remove(as_bytes("key"));
    EXPECT_TRUE(removed.ok() && removed.value());
    EXPECT_FALSE(open_index()->is_sealed());
    EXPECT_EQ(get(*store_, "key"), "(miss)");
}

// Look-ups find everything; nobody waits for ever.
TEST_F(SealTest, ChangesGiveInWhileTheRebuildIsStopped) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    {
        const auto lock = lock_eviction(*directory_, 0);
        ASSERT_TRUE(lock.ok());
        open_index()->seal();
        EXPECT_EQ(get(*store_, "key"), "older");
        EXPECT_EQ(put(*store_, "key", "newer"), Error::busy);
        EXPECT_EQ(store_->remove(as_bytes("another key")).error(), Error::busy);
        EXPECT_EQ(get(*store_, "key"), "older");
        EXPECT_EQ(get(*open(), "key"), "older");
    }
    EXPECT_EQ(put(*store_, "key", "newest"), Error::none);
    EXPECT_EQ(get(*store_, "key"), "newest");
}

TEST_F(SealTest, WhatIsPutBehindTheSealIsPutInTheNewIndex) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    ASSERT_EQ(put(*store_, "removed", "value"), Error::none);
    std::thread putter, remover;
    std::atomic<unsigned> waiting = 0;
    rebuild_and_before_the_name([&] {
        // They give in where the rebuild gets no processor for long.
        putter = std::thread([&] {
            do {
                ++waiting;
            } while (put(*store_, "key", "newer") == Error::busy);
        });
        remover = std::thread([&] {
            do {
                ++waiting;
            } while (store_->remove(as_bytes("removed")).error() == Error::busy);
        });
        while (waiting < 2) sleep_us(100);
        sleep_us(1000);
    });
    putter.join();
    remover.join();
    EXPECT_EQ(get(*store_, "key"), "newer");
    EXPECT_EQ(get(*store_, "removed"), "(miss)");
    EXPECT_EQ(get(*open(), "key"), "newer");
    EXPECT_EQ(get(*open(), "removed"), "(miss)");
}

TEST_F(SealTest, APutThatGaveInHasChangedNothing) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    rebuild_and_before_the_name([&] {
        EXPECT_EQ(put(*store_, "key", "newer"), Error::busy);
        EXPECT_EQ(get(*store_, "key"), "older");
    });
    EXPECT_EQ(get(*store_, "key"), "older");
    EXPECT_EQ(get(*open(), "key"), "older");
}

// The same of one that finds the seal only when it has published.
TEST_F(SealTest, APutThatGaveInAfterItHadPublishedHasChangedNothing) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    calls_.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) {
        call_once_here();
        return kKernel.pwritev(fd, pieces, count, offset);
    };
    system_calls = &calls_;
    for (const std::string key : {"key", "new key"}) {
        const std::string before = get(*store_, key);
        std::optional<Result<ByteLock>> lock;
        set_call([&] {
            lock.emplace(lock_eviction(*directory_, 0));
            open_index()->seal();
        });
        EXPECT_EQ(put(*store_, key, "newer"), Error::busy);
        ASSERT_TRUE(lock && lock->ok());
        EXPECT_EQ(get(*store_, key), before);
        EXPECT_EQ(get(*open(), key), before);
        lock.reset();
        EXPECT_EQ(put(*store_, "another key", "value"), Error::none);  // takes the seal away
        EXPECT_EQ(get(*open(), key), before);
    }
}

// It began before the seal, and publishes when the new index has the name.
TEST_F(SealTest, WhatIsPublishedTooLateIsPutAgain) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    const auto other = open();
    set_call([&] {
        open_index()->ask_for_rebuild();
        (void)other->compress();
    });
    calls_.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) {
        call_once_here();
        return kKernel.pwritev(fd, pieces, count, offset);
    };
    system_calls = &calls_;
    EXPECT_EQ(put(*store_, "key", "newer"), Error::none);
    EXPECT_FALSE(is_call_due);
    EXPECT_EQ(get(*store_, "key"), "newer");
    EXPECT_EQ(get(*open(), "key"), "newer");
    // The record that it left behind is dead, also when that of the entry is damaged.
    RecordReader reader(*directory_);
    reader.set_boot(boot_number());
    const CacheIdentity identity = open_index()->identity();
    unsigned live = 0;
    const auto use = measure_disk_use(*directory_);
    for (const SegmentFile &file : use->segments) {
        SegmentScan scan(identity, file.segment, file.size_bytes);
        for (auto record = scan.next(reader); record.ok() && record.value();
             record = scan.next(reader)) {
            live += !reader.is_dead(record.value()->header);
        }
    }
    EXPECT_EQ(live, 1u);
}

// Others keep what they have in memory, on disk or in packs until they see another count.
TEST_F(SealTest, AClearBehindTheSealIsCountedInTheNewIndex) {
    const std::uint64_t before = store_->clears();
    std::thread clearer;
    std::atomic<bool> clears = false;
    rebuild_and_before_the_name([&] {
        clearer = std::thread([&] {
            clears = true;
            EXPECT_TRUE(store_->clear_range(0, UINT64_MAX).ok());
        });
        while (!clears) sleep_us(100);
        sleep_us(1000);
    });
    clearer.join();
    EXPECT_GT(open()->clears(), before);
}

// Where the rebuild is stopped for so long that who clears does not wait for it.
TEST_F(SealTest, AClearThatDidNotWaitIsCountedInTheNewIndex) {
    ASSERT_EQ(put(*store_, "key", "value"), Error::none);
    const std::uint64_t before = store_->clears();
    rebuild_and_before_the_name([&] { (void)store_->clear_range(0, UINT64_MAX); });
    EXPECT_GT(open_index()->clears(), before);
    EXPECT_NE(open_index()->cleared_at_s(), 0u);
}

// It has the old index, and a whole rebuild passes before it counts.
TEST_F(SealTest, AClearThatCountsTooLateCountsAgain) {
    calls_.lock = [](int fd, int command, struct flock *range) {
        const bool gives_up = range->l_type == F_UNLCK && range->l_start == kEvictionByte;
        const int result = kKernel.lock(fd, command, range);
        if (gives_up) call_once_here();
        return result;
    };
    const auto other = open();
    system_calls = &calls_;
    for (const bool all : {false, true}) {
        ASSERT_EQ(put(*store_, "key", "value"), Error::none);
        const std::uint64_t before = store_->clears();
        set_call([&] {
            open_index()->ask_for_rebuild();
            EXPECT_EQ(compress(*other), Error::none);
        });
        EXPECT_TRUE(all ? store_->clear().ok() : store_->clear_range(0, UINT64_MAX).ok());
        EXPECT_FALSE(is_call_due);
        EXPECT_GT(open_index()->clears(), before);
        EXPECT_EQ(get(*open(), "key"), "(miss)");
    }
}

// Who finds all in memory asks the store for nothing else.
TEST_F(SealTest, AClearInTheNewIndexIsSeenByWhoHasTheOldOne) {
    ASSERT_EQ(put(*store_, "key", "value"), Error::none);
    const std::uint64_t before = store_->clears();
    rebuild_and_before_the_name([] {});
    ASSERT_TRUE(open()->clear().ok());
    EXPECT_GT(store_->clears(), before);
    EXPECT_NE(store_->cleared_at_s(), 0u);
}

TEST_F(SealTest, ARebuildIsNoClear) {
    ASSERT_EQ(put(*store_, "key", "value"), Error::none);
    ASSERT_TRUE(store_->clear_range(0, 1).ok());
    const std::uint64_t before = store_->clears();
    rebuild_and_before_the_name([] {});
    EXPECT_EQ(get(*store_, "key"), "value");
    EXPECT_EQ(store_->clears(), before);
    EXPECT_EQ(open()->clears(), before);
}

TEST_F(SealTest, LookUpsFindEverythingBeforeAndAfterTheName) {
    ASSERT_EQ(put(*store_, "key", "value"), Error::none);
    rebuild_and_before_the_name([&] {
        EXPECT_EQ(get(*store_, "key"), "value");
        EXPECT_EQ(get(*open(), "key"), "value");
    });
    EXPECT_EQ(get(*store_, "key"), "value");
    EXPECT_EQ(get(*open(), "key"), "value");
}

// The entry moves in the new index while a look-up follows the slot of the old one.
TEST_F(SealTest, ALookUpThatComesTooLateLooksInTheNewIndex) {
    const std::string value(4096, 'v');
    call_at_segments();
    for (const Access access : {Access::read_write, Access::read_only}) {
        ASSERT_EQ(put(*store_, "key", value), Error::none);
        options_.access = access;
        const auto late = open();
        options_.access = Access::read_write;
        const auto other = open();
        store_.reset();
        set_call([&] {
            open_index()->ask_for_rebuild();
            EXPECT_EQ(compress(*other), Error::none);
        });
        EXPECT_EQ(get(*late, "key"), value);
        EXPECT_FALSE(is_call_due);
        store_ = open();
    }
}

// Each time another process rebuilds the index, moves the value and replaces it.
TEST_F(SealTest, ALookUpThatComesTooLateAgainAndAgainLooksInTheNewestIndex) {
    const auto value = [](int round) { return std::string(4096, static_cast<char>('a' + round)); };
    ASSERT_EQ(put(*store_, "key", value(0)), Error::none);
    const auto late = open();
    store_.reset();
    call_at_segments();
    int rounds = 0;
    const std::function<void()> overtake = [&] {
        const auto other = open();  // writes to a segment of its own
        open_index()->ask_for_rebuild();
        EXPECT_EQ(compress(*other), Error::none);
        EXPECT_EQ(put(*other, "key", value(++rounds)), Error::none);
        if (rounds < 4) set_call(overtake);
    };
    set_call(overtake);
    EXPECT_EQ(get(*late, "key"), value(4));
    EXPECT_EQ(rounds, 4);
}

// Another thread has noticed the new index already, and is busy with a rebuild or has failed at one.
TEST_F(SealTest, ALookUpThatComesTooLateNeedsNoRebuildOfTheIndexThatItsProcessLeft) {
    ASSERT_EQ(put(*store_, "key", "older"), Error::none);
    const auto late = open();
    const auto other = open();
    store_.reset();
    fail_at_a_rebuild(*late);
    set_call([&] {
        EXPECT_EQ(compress(*other), Error::none);
        EXPECT_EQ(put(*other, "key", "newer"), Error::none);
        EXPECT_EQ(put(*late, "noticed", "value"), Error::none);
    });
    EXPECT_EQ(get(*late, "key"), "newer");
    EXPECT_FALSE(is_call_due);
}

// Another thread has noticed the new index already.
TEST_F(SealTest, AnEnumerationThatComesTooLateGoesOnInTheNewIndex) {
    ASSERT_EQ(put(*store_, "key", std::string(4096, 'v')), Error::none);
    const auto late = open();
    const auto other = open();
    store_.reset();
    call_at_segments();
    set_call([&] {
        open_index()->ask_for_rebuild();
        EXPECT_EQ(compress(*other), Error::none);
        EXPECT_EQ(put(*late, "noticed", "value"), Error::none);
    });
    bool is_seen = false;
    late->enumerate([&](const EntryInfo &info) {
        is_seen = is_seen || same_bytes(info.key, as_bytes("key"));
        return true;
    });
    EXPECT_FALSE(is_call_due);
    EXPECT_TRUE(is_seen);
}

// Its own rebuild has failed just before, and is not tried again for some time.
TEST_F(SealTest, ALookUpThatComesTooLateNeedsNoRebuildOfItsOwn) {
    const std::string value(4096, 'v');
    ASSERT_EQ(put(*store_, "key", value), Error::none);
    const auto late = open();
    const auto other = open();
    store_.reset();
    fail_at_a_rebuild(*late);
    set_call([&] { EXPECT_EQ(compress(*other), Error::none); });
    EXPECT_EQ(get(*late, "key"), value);
    EXPECT_FALSE(is_call_due);
}

TEST_F(SealTest, ARebuildThatCannotTakeTheNameLeavesNoSeal) {
    ASSERT_EQ(put(*store_, "key", "value"), Error::none);
    open_index()->ask_for_rebuild();
    calls_.renameat = [](int from, const char *old_path, int to, const char *path) {
        if (std::strcmp(path, kIndexFileName) != 0) {
            return kKernel.renameat(from, old_path, to, path);
        }
        errno = EIO;
        return -1;
    };
    system_calls = &calls_;
    EXPECT_EQ(store_->compress().error(), Error::busy);
    EXPECT_FALSE(open_index()->is_sealed());
    EXPECT_EQ(get(*store_, "key"), "value");
}

// The records of a key, listed at different times.

using testing::RebuildTest;

// Of a record and its copy the dead one counts, also when it died after it was listed.
TEST_F(RebuildTest, NeitherOfTwoCopiesComesWhenOneIsRemovedMeanwhile) {
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    bool over = false;
    for (unsigned moment = 0; moment < 14; ++moment) {
        const std::string name = "name " + std::to_string(moment);
        const std::uint64_t stamp = files_.index().next_stamp();
        const Location copy = files_.append(name, "value", stamp).location;
        files_.append(name, "value", stamp);  // the original: behind the copy, so it is taken first
        Index &index = files_.index();
        const std::uint64_t hash = index.hash(as_bytes(name));
        ASSERT_TRUE(publish(index, hash, files_.slot_of(name, "value", copy),
                            PublishPolicy::replace, stamp, files_.examiner(name))
                        .ok());
        Rebuild rebuild(files_.directory(), index, files_.reader(), files_.account(), nullptr);
        over = false;
        for (unsigned i = 0; i < moment; ++i) ASSERT_FALSE(rebuild.step(0).value());
        // A removal that began before the rebuild did.
        ASSERT_TRUE(mark_state(files_.directory(), {copy, stamp}, RecordState::removed).ok());
        Evictor::drop(index, hash, copy);
        while (!over) over = rebuild.step(0).value();
        ASSERT_FALSE(files_.get(name)) << moment;
        lose_index();
        ASSERT_TRUE(this->rebuild().ok());
        ASSERT_FALSE(files_.get(name)) << moment;
    }
}

// The same while the segment of the dead one is being evicted.
TEST_F(RebuildTest, NorWhileTheDeadOneIsBeingEvicted) {
    const std::uint64_t stamp = files_.index().next_stamp();
    const Location original = files_.append("key", "value", stamp).location;
    files_.writer().release_segment();
    const auto other = files_.open_writer();
    auto lock = std::optional(SegmentLock::of_segment(files_.directory(), original.segment));
    ASSERT_TRUE(lock->ok());
    const Location dead = files_.append("key", "value", stamp).location;
    ASSERT_NE(dead.segment, original.segment);
    lock.reset();
    Rebuild rebuild(files_.directory(), files_.index(), files_.reader(), files_.account(), nullptr);
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    unsigned steps = 0;
    while (rebuild.bytes_left() != 0 || steps == 0) {
        ASSERT_FALSE(rebuild.step(0).value());
        ++steps;
    }
    ASSERT_TRUE(mark_state(files_.directory(), {dead, stamp}, RecordState::removed).ok());
    files_.index().name_victim_without_writer(dead.segment);
    ASSERT_TRUE(rebuild.step(UINT64_MAX).value());
    EXPECT_FALSE(files_.get("key"));
}

// As many as there are, however often a key was looked at.
TEST_F(RebuildTest, CountsEachEntryOnce) {
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t stamp = files_.index().next_stamp();
        files_.append(key(i), "older", stamp);
        files_.append(key(i), "newer", stamp + 1);
    }
    lose_index();
    ASSERT_TRUE(rebuild().value());
    EXPECT_EQ(files_.index().entries(), 100u);
}

// A segment with a writer is listed from its first gap again; what was known of a key before still
// holds.
TEST_F(RebuildTest, WhatIsListedAgainIsJudgedWithAllRecordsOfItsKey) {
    const std::uint64_t stamp = files_.index().next_stamp();
    const Location copy = files_.append("key", "value", stamp).location;
    ASSERT_TRUE(mark_state(files_.directory(), {copy, stamp}, RecordState::removed).ok());
    const Location torn = files_.append("torn", "value", stamp + 1).location;
    files_.append("key", "value", stamp);
    const std::vector<std::byte> zeroes(kRecordHeaderSize);
    files_.overwrite(segment_file_name(torn.segment), torn.offset, zeroes);
    ASSERT_TRUE(rebuild().value());
    EXPECT_FALSE(files_.get("key"));
    EXPECT_EQ(files_.index().rebuild_due(), RebuildReason::none);
}

// The rebuild that made an index ends while the next one has begun in it: removals still note
// themselves.
TEST_F(RebuildTest, ItStaysDueWhenTheOneBeforeItEnds) {
    for (int i = 0; i < 100; ++i) files_.put(key(i), value(i));
    Index &index = files_.index();
    index.ask_for_rebuild();  // as the one before it did in this index
    const std::uint64_t before = index.rebuild_request();
    Rebuild next(files_.directory(), index, files_.reader(), files_.account(), nullptr);
    ASSERT_FALSE(next.step(0).value());
    index.take_back(before);
    EXPECT_NE(index.rebuild_due(), RebuildReason::none);
}

}  // namespace
}  // namespace cairn
