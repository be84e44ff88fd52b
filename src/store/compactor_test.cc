// SPDX-License-Identifier: MIT
#include "store/compactor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "os/environment.h"
#include "os/system_calls.h"
#include "os/testing/failing_calls.h"
#include "os/testing/power_loss.h"
#include "os/testing/scratch.h"
#include "store/index_file.h"
#include "store/segment_format.h"
#include "store/space.h"
#include "store/store.h"
#include "store/testing/calls.h"
#include "support/long_form.h"

namespace cairn {
namespace {

using testing::compress;

constexpr std::size_t kValueSize = 4000;

// Compresses to less than a tenth, and differs from all others.
std::string value_of(int number, int generation = 0) {
    const std::string word = "mov r" + std::to_string(number) + ", c" + std::to_string(generation);
    std::string value;
    while (value.size() < kValueSize) value += word + "\n";
    return value;
}

std::string key_of(int number) {
    return "program " + std::to_string(number);
}

class CompactorTest : public ::testing::Test {
  protected:
    CompactorTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.version = 1;
        options_.limit_bytes = 64 << 20;
        open();
    }
    void open() {
        store_.reset();
        auto opened = Store::open(options_);
        ASSERT_TRUE(opened.ok()) << error_name(opened.error());
        store_ = std::move(opened.value());
    }
    Error try_put(int number, int generation) {
        return store_->put(as_bytes(key_of(number)), as_bytes(value_of(number, generation)), {})
            .error();
    }
    void put(int number, int generation = 0) {
        const Error error = try_put(number, generation);
        ASSERT_EQ(error, Error::none) << error_name(error);
    }
    // Where others evict and compress, and may be slow.
    void put_patiently(int number, int generation) {
        Error error = try_put(number, generation);
        for (int i = 0; i < 20'000 && (error == Error::full || error == Error::busy); ++i) {
            sleep_us(1'000);
            error = try_put(number, generation);
        }
        ASSERT_EQ(error, Error::none) << error_name(error);
    }
    // The generation that is found; -1: none.
    int get(int number) {
        const auto blob = store_->get(as_bytes(key_of(number)));
        if (!blob) return -1;
        const Bytes value = blob->value();
        for (const int generation : {0, 1, 2}) {
            if (same_bytes(value, as_bytes(value_of(number, generation)))) return generation;
        }
        ADD_FAILURE() << "not what was stored for " << number;
        return -2;
    }
    struct Sizes {
        std::uint64_t entries = 0, values = 0, stored = 0;
    };
    Sizes sizes() {
        Sizes sizes;
        store_->enumerate([&](const EntryInfo &info) {
            ++sizes.entries;
            sizes.values += info.value_size;
            sizes.stored += info.stored_size;
            return true;
        });
        return sizes;
    }
    std::uint64_t disk_bytes() { return store_->stats().disk_bytes; }
    void overwrite_index(std::uint64_t offset, std::uint64_t word) {
        std::array<std::byte, 8> bytes;
        put_le<std::uint64_t>(bytes, 0, word);
        const auto index = directory().open_file(kIndexFileName, Access::read_write);
        const Bytes pieces[] = {bytes};
        ASSERT_TRUE(index.ok() && index->write_at(offset, pieces).ok());
    }
    void remove_temporary_files() {
        const auto use = measure_disk_use(directory());
        ASSERT_TRUE(use.ok());
        for (const std::string &name : use->temporary_files) (void)directory().remove_file(name);
    }
    void delete_index() { ASSERT_TRUE(directory().remove_file(kIndexFileName).ok()); }
    Directory directory() {
        return std::move(Directory::open(options_.root + "/" + options_.identifier + "/" +
                                         format_folder(kNewestFormat))
                             .value());
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    std::unique_ptr<Store> store_;
};

TEST_F(CompactorTest, NothingIsLostAndTheCacheIsSmaller) {
    for (int i = 0; i < 2000; ++i) put(i);
    const std::uint64_t before = disk_bytes();
    ASSERT_TRUE(store_->compress().ok());
    EXPECT_LT(disk_bytes(), before / 4);
    const Sizes now = sizes();
    EXPECT_EQ(now.entries, 2000u);
    EXPECT_GE(now.values, 2000 * kValueSize);
    EXPECT_LT(now.stored, now.values / 8);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(get(i), 0) << i;
    open();
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(get(i), 0) << i;
}

TEST_F(CompactorTest, EveryKindOfLookUpGivesTheWholeValue) {
    put(1);
    ASSERT_TRUE(store_->compress().ok());
    ASSERT_LT(sizes().stored, kValueSize);
    const std::string value = value_of(1);
    std::string buffer(value.size(), '-');
    const MutableBytes target(reinterpret_cast<std::byte *>(buffer.data()), buffer.size());
    for (const std::size_t capacity : {std::size_t{0}, value.size() - 1, value.size()}) {
        const auto size = store_->get_into(as_bytes(key_of(1)), target.first(capacity));
        EXPECT_EQ(size, value.size()) << capacity;
    }
    EXPECT_EQ(buffer, value);
    const auto view = store_->get(as_bytes(key_of(1)));
    ASSERT_TRUE(view);
    EXPECT_TRUE(same_bytes(view->value(), as_bytes(value)));
    EXPECT_TRUE(store_->contains(as_bytes(key_of(1))));
}

TEST_F(CompactorTest, WhatIsCompressedIsNotDoneAgain) {
    for (int i = 0; i < 500; ++i) put(i);
    ASSERT_TRUE(store_->compress().ok());
    std::map<std::string, std::uint64_t> before, after;
    const auto list = [&](auto &files) {
        ASSERT_TRUE(
            directory()
                .list([&](const char *name) { files[name] = directory().info(name)->modified_ns; })
                .ok());
    };
    list(before);
    open();
    ASSERT_TRUE(store_->compress().ok());
    list(after);
    EXPECT_EQ(before, after);
}

TEST_F(CompactorTest, WhatWasRemovedOrReplacedDoesNotComeBack) {
    for (int i = 0; i < 300; ++i) put(i);
    for (int i = 0; i < 300; i += 3) put(i, 1);
    for (int i = 1; i < 300; i += 3) ASSERT_TRUE(store_->remove(as_bytes(key_of(i))).value());
    ASSERT_TRUE(store_->compress().ok());
    for (int i = 2; i < 300; i += 6) ASSERT_TRUE(store_->remove(as_bytes(key_of(i))).value());
    for (int i = 0; i < 300; i += 6) put(i, 2);
    const auto check = [&] {
        for (int i = 0; i < 300; ++i) {
            const int expected = i % 6 == 0 ? 2 : i % 3 == 0 ? 1 : i % 6 == 5 ? 0 : -1;
            ASSERT_EQ(get(i), expected) << i;
        }
    };
    check();
    store_.reset();
    delete_index();
    open();
    check();
}

TEST_F(CompactorTest, SmallAndRandomValuesStayAsTheyAre) {
    std::string noise(5000, '-');
    random_bytes({reinterpret_cast<std::byte *>(noise.data()), noise.size()});
    ASSERT_TRUE(store_->put(as_bytes("noise"), as_bytes(noise), {}).ok());
    ASSERT_TRUE(store_->put(as_bytes("small"), as_bytes("yes"), {}).ok());
    ASSERT_TRUE(store_->put(as_bytes("none"), {}, {}).ok());
    ASSERT_TRUE(store_->compress().ok());
    const Sizes now = sizes();
    EXPECT_EQ(now.entries, 3u);
    EXPECT_EQ(now.stored, now.values);
    const auto found = store_->get(as_bytes("noise"));
    ASSERT_TRUE(found);
    EXPECT_TRUE(same_bytes(found->value(), as_bytes(noise)));
}

TEST_F(CompactorTest, FinishedSegmentsAreCompressedInTheBackground) {
    options_.compress = true;
    options_.limit_bytes = 8 << 20;  // segments of 128 KiB
    open();
    for (int i = 0; i < 1000; ++i) put(i);
    for (int patience = 0; sizes().stored > sizes().values / 2; ++patience) {
        ASSERT_LT(patience, 1000) << "nothing happens";
        sleep_us(10'000);
    }
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(get(i), 0) << i;
}

TEST_F(CompactorTest, ALimitHoldsMoreThanWithout) {
    options_.limit_bytes = 2 << 20;
    options_.identifier = "plain";
    open();
    for (int i = 0; i < 2000; ++i) put(i);
    const std::uint64_t plain = sizes().entries;
    options_.identifier = "compressed";
    open();
    for (int i = 0; i < 2000; ++i) {
        put(i);
        if (i % 16 == 15) (void)store_->compress();
        ASSERT_LE(disk_bytes(), options_.limit_bytes);
    }
    EXPECT_GT(sizes().entries, plain * 2);
    for (int i = 1900; i < 2000; ++i) ASSERT_EQ(get(i), 0) << "one of the newest: " << i;
}

TEST_F(CompactorTest, AFailureAtAnyCallLosesNothing) {
    store_.reset();
    testing::FailingCalls failing;  // set up while no thread of a store makes calls
    open();
    for (int i = 0; i < 40; ++i) put(i);
    testing::Fault fault;
    fault.error = EIO;
    const std::uint64_t step = cairn_test::is_long_form() ? 1 : 3;
    for (;; fault.first += step) {
        ASSERT_LT(fault.first, 3000u);
        failing.arm(fault);
        (void)store_->compress();
        failing.disarm();
        for (int i = 0; i < 40; ++i) ASSERT_EQ(get(i), 0) << i << ", call " << fault.first;
        if (failing.failures() == 0) break;
        open();
        remove_temporary_files();             // a failed deletion leaves one for ten minutes
        for (int i = 0; i < 40; ++i) put(i);  // to be compressed the next time
    }
    EXPECT_EQ(sizes().entries, 40u);
    store_.reset();
}

TEST_F(CompactorTest, OneProcessAtATime) {
    put(1);
    const auto file = directory().open_or_create_file(kLockFileName);
    ASSERT_TRUE(file.ok() && file->try_lock(kCompactByte, LockKind::exclusive).value());
    EXPECT_EQ(store_->compress().error(), Error::busy);
    EXPECT_EQ(get(1), 0);
}

TEST_F(CompactorTest, EntriesInLevelsThatACounterDoesNotTellOfStay) {
    put(0);
    auto other = Store::open(options_);
    ASSERT_TRUE(other.ok());
    for (int i = 1; i < 12'000; ++i) {
        const std::string value = value_of(i).substr(0, 300);
        ASSERT_TRUE(other.value()->put(as_bytes(key_of(i)), as_bytes(value), {}).ok());
    }
    overwrite_index(counter_offset(Counter::levels), 1);
    other.value().reset();
    (void)store_->compress();
    open();
    for (int i = 1; i < 12'000; ++i) {
        ASSERT_TRUE(store_->contains(as_bytes(key_of(i)))) << i;
    }
}

TEST_F(CompactorTest, ARemovalIsKeptAsLongAsAnOlderRecordMayBe) {
    ASSERT_TRUE(store_->sync().ok());  // from now on, replaced records wait for the next
    auto other = Store::open(options_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other.value()->put(as_bytes(key_of(1)), as_bytes(value_of(1)), {}).ok());
    put(1, 1);
    put(2);
    ASSERT_TRUE(store_->remove(as_bytes(key_of(1))).value());
    ASSERT_TRUE(store_->compress().ok());  // not the segment that the other one writes to
    store_.reset();
    other.value().reset();
    delete_index();
    open();
    EXPECT_EQ(get(1), -1);
    EXPECT_EQ(get(2), 0);
}

// As after a process that died in the middle of it.
TEST_F(CompactorTest, ARemovedCopyIsKeptAsLongAsItsOriginalMayBe) {
    store_.reset();
    testing::FailingCalls failing;
    open();
    put(1);
    testing::Fault fault;
    fault.error = EIO;
    fault.only = testing::Call::renameat;
    failing.arm(fault);
    EXPECT_FALSE(store_->compress().ok());  // could not retire the segment
    failing.disarm();
    EXPECT_EQ(failing.failures(), 1u);
    ASSERT_TRUE(store_->remove(as_bytes(key_of(1))).value());
    open();
    {
        const auto first = SegmentLock::of_segment(directory(), 0);
        ASSERT_TRUE(first.ok());
        ASSERT_TRUE(store_->compress().ok());
    }
    store_.reset();
    delete_index();
    open();
    EXPECT_EQ(get(1), -1);
    store_.reset();
}

// What was removed stays removed, whatever compressing does, and whenever the system starts.
class CompactorRemovalTest : public CompactorTest {
  protected:
    CompactorRemovalTest() {
        store_.reset();  // calls are changed while no thread makes any
        disk_ = std::make_unique<testing::PowerLoss>(scratch_ / "root");
        below_ = system_calls;
        calls_ = *below_;
        calls_.pwritev = [](int fd, const iovec *pieces, int count, off_t offset) {
            const bool is_ours = std::this_thread::get_id() == thread_;
            if (const auto now = is_ours ? std::exchange(event_, nullptr) : nullptr) now();
            return below_->pwritev(fd, pieces, count, offset);
        };
        system_calls = &calls_;
        start(1);
        other_ = std::move(Store::open(options_).value());
    }
    ~CompactorRemovalTest() override {
        other_.reset();
        store_.reset();
        system_calls = below_;
    }
    // A system start.
    void start(std::uint64_t boot) {
        other_.reset();
        store_.reset();
        disk_->set_boot(boot);
        open();
        EXPECT_NE(compress(*store_), Error::busy);
    }
    void put_by_other(int number) {
        const auto outcome = other_->put(as_bytes(key_of(number)), as_bytes(value_of(number)), {});
        ASSERT_TRUE(outcome.ok());
    }
    // Runs `event` at the next write of this thread, before it.
    static void at_next_write(std::function<void()> event) { event_ = std::move(event); }

    std::unique_ptr<testing::PowerLoss> disk_;  // for its numbers of system starts
    std::unique_ptr<Store> other_;
    static inline const std::thread::id thread_ = std::this_thread::get_id();
    static inline std::function<void()> event_;  // of this thread
    static inline const SystemCalls *below_ = nullptr;
    static inline SystemCalls calls_;
};

TEST_F(CompactorRemovalTest, RemovedWhileItsSegmentIsCompressed) {
    put_by_other(1);
    put(2);
    put(1, 1);
    bool was_there = false;
    at_next_write([&] { was_there = other_->remove(as_bytes(key_of(1))).value(); });
    EXPECT_NE(compress(*store_), Error::busy);
    EXPECT_TRUE(was_there);
    EXPECT_EQ(get(1), -1);
    start(2);
    EXPECT_EQ(get(1), -1);
    EXPECT_EQ(get(2), 0);
}

// The mark that the older record was replaced is void after the start.
TEST_F(CompactorRemovalTest, KeptUntilTheRebuildAfterTheNextSystemStart) {
    put_by_other(1);
    put(1, 1);
    put(2);
    ASSERT_TRUE(store_->remove(as_bytes(key_of(1))).value());
    ASSERT_TRUE(store_->compress().ok());
    for (const std::uint64_t boot : {2u, 3u}) {
        start(boot);
        EXPECT_EQ(get(1), -1);
        EXPECT_EQ(get(2), 0);
    }
}

TEST_F(CompactorRemovalTest, PutByTwoAtOnce) {
    put_by_other(7);
    put(2);
    at_next_write([&] { put_by_other(1); });
    put(1, 1);
    EXPECT_EQ(get(1), 1);
    ASSERT_TRUE(store_->remove(as_bytes(key_of(1))).value());
    ASSERT_TRUE(store_->compress().ok());
    start(2);
    EXPECT_EQ(get(1), -1);
    EXPECT_EQ(get(2), 0);
}

TEST_F(CompactorRemovalTest, DamageToTheNumberOfTheStartChangesNothing) {
    put_by_other(1);
    put(1, 1);
    put(2);
    ASSERT_TRUE(store_->remove(as_bytes(key_of(1))).value());
    overwrite_index(counter_offset(Counter::boot), 0);
    ASSERT_TRUE(store_->compress().ok());
    start(2);
    EXPECT_EQ(get(1), -1);
    EXPECT_EQ(get(2), 0);
}

// Of what is removed, only that is left, and in the end nothing.
TEST_F(CompactorRemovalTest, RemovedEntriesGiveTheirRoomBack) {
    options_.identifier = "refusing";
    options_.limit_bytes = 2 << 20;
    options_.refuse_when_full = true;
    other_.reset();
    open();
    const auto fill = [&] {
        int count = 0;
        while (store_->put(as_bytes(key_of(count)), as_bytes(value_of(count)), {}).ok()) ++count;
        return count;
    };
    const int fits = fill();
    ASSERT_TRUE(store_->compress().ok());
    for (int round = 0; round < 3; ++round) {
        const int count = fill();
        EXPECT_GT(count, fits / 2) << round;
        for (int i = 0; i < std::max(count, fits); ++i) {
            ASSERT_TRUE(store_->remove(as_bytes(key_of(i))).ok());
        }
        ASSERT_TRUE(store_->compress().ok());
    }
    start(2);
    ASSERT_TRUE(store_->compress().ok());
    EXPECT_LT(disk_bytes(), 100'000u);
}

TEST_F(CompactorTest, ACacheThatRefusesWhenFullTakesMoreAfterwards) {
    options_.refuse_when_full = true;
    for (const unsigned mib : {2u, 4u, 5u, 7u, 8u}) {
        options_.identifier = "refusing-" + std::to_string(mib);
        options_.limit_bytes = std::uint64_t{mib} << 20;
        open();
        int count = 0;
        while (store_->put(as_bytes(key_of(count)), as_bytes(value_of(count)), {}).ok()) ++count;
        ASSERT_TRUE(store_->compress().ok()) << mib;
        for (int i = 0; i < count; ++i) ASSERT_EQ(get(i), 0) << i;
        for (int i = count; i < count + count / 2; ++i) put(i);
        EXPECT_LE(disk_bytes(), options_.limit_bytes);
    }
}

TEST_F(CompactorTest, ADamagedSlotCostsNoCompression) {
    for (int i = 0; i < 500; ++i) put(i);
    const std::uint64_t before = disk_bytes();
    // One bit of the first slot that is in use.
    std::array<std::byte, 8> slot;
    std::uint64_t offset = level_offset(0) + level_bitmap_pages(0) * kPage;
    const auto index = directory().open_file(kIndexFileName, Access::read_only);
    for (;; offset += 8) {
        ASSERT_TRUE(index.ok() && index->read_at(offset, slot).ok());
        const auto word = get_le<std::uint64_t>(slot, 0);
        if (word == 0 || is_empty_word(word)) continue;
        overwrite_index(offset, word ^ 0x100);
        break;
    }
    // The first compression has the index rebuilt, which finds the entry.
    for (int patience = 0; disk_bytes() >= before / 2; ++patience) {
        const Status status = store_->compress();
        ASSERT_LT(patience, 200) << error_name(status.error()) << disk_bytes();
        sleep_us(10'000);
    }
    for (int i = 0; i < 500; ++i) ASSERT_EQ(get(i), 0) << i;
}

TEST_F(CompactorTest, WhatAnIndexMayLackIsFoundFirst) {
    for (int i = 0; i < 100; ++i) put(i);
    for (int round = 0; round < 20; ++round) {
        overwrite_index(counter_offset(Counter::rebuild), 1);
        ASSERT_EQ(compress(*store_), Error::none) << round;
    }
    for (int i = 0; i < 100; ++i) ASSERT_EQ(get(i), 0) << i;
}

TEST_F(CompactorTest, AFewLargeValuesAmongManySmallOnesCount) {
    std::string large;
    for (int i = 0; large.size() < 700'000; ++i) large += value_of(i);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(store_->put(as_bytes(key_of(i)), {}, {}).ok());
    ASSERT_TRUE(store_->put(as_bytes("large"), as_bytes(large), {}).ok());
    for (int i = 5; i < 25; ++i) ASSERT_TRUE(store_->put(as_bytes(key_of(i)), {}, {}).ok());
    ASSERT_TRUE(store_->compress().ok());
    EXPECT_LT(sizes().stored, large.size() / 2);
}

TEST_F(CompactorTest, WritersReadersAndTheEvictorGoOnMeanwhile) {
    options_.compress = true;
    options_.limit_bytes = 4 << 20;
    open();
    std::atomic<bool> stop = false;
    std::thread compressing([&] {
        while (!stop.load()) {
            (void)store_->compress();
            sleep_us(1'000);
        }
    });
    const auto use = [&](int first) {
        for (int round = 0; round < 3; ++round) {
            for (int i = first; i < first + 600; ++i) {
                put_patiently(i, round);
                if (HasFatalFailure()) return;
                const int found = get(i);
                EXPECT_TRUE(found == round || found == -1) << i << " round " << round;
                if (i % 5 != 0) continue;
                (void)store_->remove(as_bytes(key_of(i)));
                EXPECT_EQ(get(i), -1) << i;
            }
        }
    };
    std::thread other([&] { use(10'000); });
    use(0);
    other.join();
    stop.store(true);
    compressing.join();
    EXPECT_LE(disk_bytes(), options_.limit_bytes);
    for (int i = 0; i < 600; i += 5) EXPECT_EQ(get(i), -1);
}

}  // namespace
}  // namespace cairn
