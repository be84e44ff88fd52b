// An index that is damaged, moved or lost while a process has it open: what was acknowledged before and
// afterwards stays, and nothing older comes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "os/deadline.h"
#include "os/environment.h"
#include "os/system_calls.h"
#include "os/testing/scratch.h"
#include "store/index_file.h"
#include "store/index_format.h"
#include "store/segment_format.h"
#include "store/space.h"
#include "store/stamp.h"
#include "store/store.h"
#include "store/testing/calls.h"

namespace cairn {
namespace {

using testing::get;

constexpr std::uint64_t kSlots = level_offset(0) + level_bitmap_pages(0) * kPage;

class LostIndexTest : public ::testing::Test {
  protected:
    LostIndexTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.version = 1;
        options_.limit_bytes = 64 << 20;
        store_ = open();
    }
    ~LostIndexTest() override { be_patient(1); }
    std::unique_ptr<Store> open() const {
        auto opened = Store::open(options_);
        if (!opened.ok()) return nullptr;
        return std::move(opened.value());
    }
    static void put(Store &store, const std::string &key, const std::string &value) {
        const auto outcome = store.put(as_bytes(key), as_bytes(value), {});
        ASSERT_TRUE(outcome.ok());
        ASSERT_EQ(outcome.value(), PutOutcome::stored);
    }
    Directory directory() const {
        return std::move(
            Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat)).value());
    }
    void write(const std::string &name, std::uint64_t offset, Bytes bytes) const {
        const auto file = directory().open_file(name, Access::read_write);
        const Bytes pieces[] = {bytes};
        ASSERT_TRUE(file.ok() && file->write_at(offset, pieces).ok());
    }
    std::vector<std::byte> read(const std::string &name) const {
        const auto file = directory().open_file(name, Access::read_only);
        std::vector<std::byte> bytes(file.ok() ? file->info()->size_bytes : 0);
        if (file.ok()) (void)file->read_at(0, bytes);
        return bytes;
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    std::unique_ptr<Store> store_;
};

TEST_F(LostIndexTest, ASlotThatDamageHasCopiedElsewhereEnumeratesNothing) {
    put(*store_, "key", "value");
    const auto index = read(kIndexFileName);
    for (std::uint64_t at = kSlots; at < index.size(); at += 8) {
        const auto word = get_le<std::uint64_t>(index, at);
        if (is_empty_word(word)) continue;
        const std::uint64_t next_bucket = at + kSlotsPerBucket * 8;
        const std::uint64_t elsewhere = next_bucket < index.size() ? next_bucket : kSlots;
        write(kIndexFileName, elsewhere, Bytes(index).subspan(at, 8));
        break;
    }
    unsigned count = 0;
    store_->enumerate([&](const EntryInfo &) {
        ++count;
        return true;
    });
    EXPECT_EQ(count, 1u);
}

TEST_F(LostIndexTest, APutIntoAFirstLevelThatIsZerosLosesNothingForGood) {
    for (int i = 0; i < 50; ++i) put(*store_, "key" + std::to_string(i), "value");
    const std::vector<std::byte> zeros(index_size(1) - level_offset(0));
    write(kIndexFileName, level_offset(0), zeros);
    for (int i = 0; i < 50; ++i) put(*store_, "new" + std::to_string(i), "value");
    const auto later = open();
    ASSERT_NE(later, nullptr);
    be_patient(1000);  // with the thread that rebuilds
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(get(*later, "key" + std::to_string(i)), "value") << i;
        EXPECT_EQ(get(*later, "new" + std::to_string(i)), "value") << i;
    }
}

TEST_F(LostIndexTest, WhatIsStoredAfterItWasRenamedIsInTheOneThatOthersFind) {
    put(*store_, "key", "old");
    put(*store_, "removed", "value");
    ASSERT_TRUE(directory().rename(kIndexFileName, "aside").ok());
    const auto other = open();
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(get(*other, "key"), "old");
    EXPECT_EQ(get(*other, "removed"), "value");
    put(*store_, "key", "new");
    EXPECT_TRUE(store_->remove(as_bytes("removed")).ok());
    const auto later = open();
    ASSERT_NE(later, nullptr);
    EXPECT_EQ(get(*later, "key"), "new");
    EXPECT_EQ(get(*later, "removed"), "(miss)");
}

TEST_F(LostIndexTest, OneThatWasRenamedAndComesBackLeadsToNothingOlder) {
    put(*store_, "key", "old");
    put(*store_, "other", "value");
    ASSERT_TRUE(directory().rename(kIndexFileName, "aside").ok());
    put(*store_, "key", "new");
    ASSERT_TRUE(directory().rename("aside", kIndexFileName).ok());
    const auto later = open();
    ASSERT_NE(later, nullptr);
    EXPECT_EQ(get(*later, "key"), "new");
    EXPECT_EQ(get(*later, "other"), "value");
}

// The older record is marked with the number of the system start. The newer one is lost afterwards.
TEST_F(LostIndexTest, ADamagedNumberOfTheSystemStartBringsNoReplacedEntryBack) {
    put(*store_, "key", "an older value");
    const std::array<std::byte, 8> damage = {std::byte{0x55}, std::byte{0x55}, std::byte{0x55}};
    write(kIndexFileName, counter_offset(Counter::boot), damage);
    put(*store_, "key", "the newer value");
    store_.reset();
    const std::string segment = segment_file_name(0);
    const auto bytes = read(segment);
    const Bytes newer = as_bytes("the newer value");
    const auto at = std::search(bytes.begin(), bytes.end(), newer.begin(), newer.end());
    ASSERT_NE(at, bytes.end());
    write(segment, static_cast<std::uint64_t>(at - bytes.begin()), damage);
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    const auto later = open();
    ASSERT_NE(later, nullptr);
    EXPECT_EQ(get(*later, "key"), "(miss)");
}

// As if the first level had never been written. Who looked at its bitmap before does not do so again.
TEST_F(LostIndexTest, AFirstLevelThatBecomesZerosInUseIsNoticed) {
    for (int i = 0; i < 50; ++i) put(*store_, "key" + std::to_string(i), "value");
    EXPECT_EQ(get(*store_, "none"), "(miss)");
    write(kIndexFileName, level_offset(0), std::vector<std::byte>(index_size(1) - level_offset(0)));
    EXPECT_TRUE(store_->remove(as_bytes("key0")).value());
    for (int i = 1; i < 50; ++i) EXPECT_EQ(get(*store_, "key" + std::to_string(i)), "value") << i;
    EXPECT_EQ(get(*store_, "key0"), "(miss)");
}

// Who has it open reads what was in it, until it is cut: older values of the same keys at the same places.
TEST_F(LostIndexTest, TheNumberOfASegmentThatIsBeingDeletedIsNotUsedAgain) {
    put(*store_, "key", "value");
    ASSERT_TRUE(directory().create_file("discarded-" + segment_file_name(1) + ".tmp").ok());
    const std::array<std::byte, 8> damage = {};
    write(kIndexFileName, counter_offset(Counter::segment_hint), damage);
    const auto other = open();
    put(*other, "other", "value");
    EXPECT_EQ(directory().info(segment_file_name(1)).error(), Error::not_found);
    EXPECT_TRUE(directory().info(segment_file_name(2)).ok());
}

TEST_F(LostIndexTest, ADamagedHintBringsNoNumberBackInTheNextIndex) {
    for (int i = 0; i < 50; ++i) put(*store_, "key" + std::to_string(i), "value");
    ASSERT_TRUE(directory().rename(segment_file_name(0), segment_file_name(9)).ok());
    const std::vector<std::byte> zeros(index_size(1) - counter_offset(Counter::levels));
    write(kIndexFileName, counter_offset(Counter::levels), zeros);
    EXPECT_EQ(get(*store_, "key1"), "(miss)");
    const auto bytes = read(kIndexFileName);
    EXPECT_EQ(get_le<std::uint64_t>(bytes, counter_offset(Counter::segment_hint)), 10u);
}

// Only of one that has no writer any more were entries dropped.
TEST_F(LostIndexTest, ADamagedNameOfAVictimHidesNothing) {
    for (int i = 0; i < 50; ++i) put(*store_, "key" + std::to_string(i), "value");
    write(kIndexFileName, kSlots, std::vector<std::byte>(index_size(1) - kSlots));
    const std::array<std::byte, 8> first_segment = {std::byte{1}};
    write(kIndexFileName, counter_offset(Counter::victim), first_segment);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(get(*store_, "key" + std::to_string(i)), "value") << i;
}

// In memory the counter was damaged, and what was stored then is of a far future for ever.
TEST_F(LostIndexTest, ADamagedStampOutlivesNoLaterValue) {
    const std::vector<std::byte> damage(8, std::byte{0x55});
    write(kIndexFileName, counter_offset(Counter::last_stamp), damage);
    put(*store_, "key", "an older value");
    store_.reset();
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    store_ = open();
    put(*store_, "key", "the newer value");
    store_.reset();
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    store_ = open();
    EXPECT_EQ(get(*store_, "key"), "the newer value");
}

// Rebuilds have set the stamps forward, by less than a second.
// A second, which is more than the clock that the lost one went by can have been ahead.
TEST_F(LostIndexTest, AnIndexBesideSegmentsBeginsAheadOfTheClock) {
    put(*store_, "key", "value");
    const std::uint64_t now = wall_clock_ns();
    const auto identity =
        identity_for_new_index(directory(), kNewestFormat, options_.version, options_.identifier);
    ASSERT_TRUE(create_index_file(directory(), identity, Replace::yes).ok());
    auto file = directory().open_file(kIndexFileName, Access::read_write);
    ASSERT_TRUE(file.ok());
    const auto index = Index::open(std::move(*file), identity, Access::read_write);
    ASSERT_TRUE(index.ok());
    EXPECT_GT(index.value()->last_stamp(), now + 900'000'000);
}

// What it holds by then would not be newer than what is put in the other one.
TEST_F(LostIndexTest, AnIndexThatHasTakenTheDamagedOnesPlaceStays) {
    store_.reset();
    ASSERT_TRUE(directory().replace_file(kIndexFileName, as_bytes("some text")).ok());
    static std::atomic<int> made;
    made = 0;
    options_.log = Log(
        [](void *, int, const char *line) {
            made += std::string(line).ends_with("index damaged, rebuilding it") ? 1 : 0;
        },
        nullptr);
    static std::function<void()> at_lock;
    static const std::thread::id ours = std::this_thread::get_id();
    std::unique_ptr<Store> other;
    at_lock = [&] {
        other = open();
        put(*other, "key", "value");
    };
    SystemCalls calls = kKernel;
    calls.lock = [](int fd, int command, struct flock *range) {
        if (range->l_start == kEvictionByte && std::this_thread::get_id() == ours) {
            if (const auto now = std::exchange(at_lock, nullptr)) now();
        }
        return kKernel.lock(fd, command, range);
    };
    system_calls = &calls;
    open().reset();
    other.reset();
    system_calls = &kKernel;
    EXPECT_FALSE(at_lock) << "it was not called";
    EXPECT_EQ(made, 1);
    EXPECT_EQ(get(*open(), "key"), "value");
}

TEST_F(LostIndexTest, ALostIndexThatWasAheadOfTheClockIsFollowedByGreaterStamps) {
    const auto ahead = stamp_at(kNewestFormat, wall_clock_ns() + 500'000'000);
    std::array<std::byte, 8> word = {};
    put_le(word, 0, ahead);
    write(kIndexFileName, counter_offset(Counter::last_stamp), word);
    put(*store_, "key", "an older value");
    store_.reset();
    for (const char *value : {"a newer value", "the newest value"}) {
        ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
        put(*open(), "key", value);
    }
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    EXPECT_EQ(get(*open(), "key"), "the newest value");
}

// Its slots are empty or lead nowhere, and its counters say that all is well.
TEST_F(LostIndexTest, AnotherCachesIndexWrittenOverTheOwnIsNoticed) {
    for (int i = 0; i < 50; ++i) put(*store_, "key" + std::to_string(i), "value");
    options_.identifier = "other";
    ASSERT_NE(open(), nullptr);
    const auto strange = Directory::open(options_.root + "/other/" + format_folder(kNewestFormat));
    const auto file = strange->open_file(kIndexFileName, Access::read_only);
    std::vector<std::byte> bytes(file->info()->size_bytes);
    ASSERT_TRUE(file->read_at(0, bytes).ok());
    options_.identifier = "cache";
    write(kIndexFileName, 0, bytes);
    EXPECT_TRUE(store_->remove(as_bytes("key0")).value());
    for (int i = 1; i < 50; ++i) EXPECT_EQ(get(*store_, "key" + std::to_string(i)), "value") << i;
    EXPECT_EQ(get(*store_, "key0"), "(miss)");
}

// Of the cache, with as many segments as there are stores at once.
class LostIdentityTest : public LostIndexTest {
  protected:
    static constexpr int kKeys = 60;
    LostIdentityTest() {
        store_.reset();
        fill();
    }
    void fill() const {
        std::vector<std::unique_ptr<Store>> stores;
        for (int i = 0; i < 3; ++i) stores.push_back(open());
        for (int i = 0; i < kKeys; ++i) {
            put(*stores[static_cast<std::size_t>(i % 3)], "key" + std::to_string(i), "value");
        }
    }
    void lose_headers(std::uint32_t segments = 3) const {
        const std::vector<std::byte> zeros(kSegmentHeaderSize);
        for (std::uint32_t i = 0; i < segments; ++i) write(segment_file_name(i), 0, zeros);
        ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    }
    int found() const {
        const auto store = open();
        be_patient(1000);  // with the thread that rebuilds
        int count = 0;
        for (int i = 0; i < kKeys; ++i) count += get(*store, "key" + std::to_string(i)) == "value";
        return count;
    }
};

TEST_F(LostIdentityTest, WithoutAnyHeaderTheRecordsTellIt) {
    lose_headers();
    EXPECT_EQ(found(), kKeys);
}

TEST_F(LostIdentityTest, TheFirstRecordThatIsWholeTellsIt) {
    const std::vector<std::byte> damage(1024, std::byte{0x43});
    for (std::uint32_t i = 0; i < 3; ++i) write(segment_file_name(i), 0, damage);
    lose_headers();
    const int count = found();
    EXPECT_GT(count, kKeys / 4);
    EXPECT_LT(count, kKeys);
}

TEST_F(LostIdentityTest, RecordsOfAnotherVersionTellNothing) {
    lose_headers();
    options_.version = 2;
    EXPECT_EQ(found(), 0);
}

TEST_F(LostIdentityTest, RecordsOfAnotherNameTellNothing) {
    lose_headers();
    ASSERT_TRUE(Directory::open(options_.root)->rename("cache", "other").ok());
    options_.identifier = "other";
    EXPECT_EQ(found(), 0);
}

// One of a cache of the same name, which somebody has put there.
TEST_F(LostIdentityTest, AWholeSegmentOfAStrangerIsOutvoted) {
    ASSERT_TRUE(Directory::open(options_.root)->rename("cache", "own").ok());
    fill();
    const auto strange = read(segment_file_name(2));
    ASSERT_TRUE(Directory::open(options_.root)->rename("cache", "strange").ok());
    ASSERT_TRUE(Directory::open(options_.root)->rename("own", "cache").ok());
    lose_headers();
    write(segment_file_name(2), 0, strange);
    EXPECT_GE(found(), kKeys / 3 * 2);
}

// Its writer holds a lock on the byte that a session wants.
TEST_F(LostIndexTest, ASegmentUnderTheNameOfTheLockKeepsNobodyOut) {
    put(*store_, "key", "value");
    ASSERT_TRUE(directory().remove_file("cache.lock").ok());
    ASSERT_TRUE(directory().link(segment_file_name(0), "cache.lock").ok());
    const auto other = open();
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(get(*other, "key"), "value");
    put(*other, "other", "value");
    EXPECT_EQ(get(*store_, "other"), "value");
}

// Who retires a segment cuts it, so that its blocks are free at once. What others have mapped is not cut.
TEST_F(LostIndexTest, AnIndexUnderTheNameOfASegmentIsNotCut) {
    put(*store_, "key", "value");
    const auto index = directory().open_file(kIndexFileName, Access::read_only);
    ASSERT_TRUE(index.ok());
    ASSERT_TRUE(directory().rename(kIndexFileName, segment_file_name(7)).ok());
    ASSERT_TRUE(store_->clear().ok());
    EXPECT_FALSE(directory().info(segment_file_name(7)).ok());
    EXPECT_GE(index->info()->size_bytes, index_size(1));
}

}  // namespace
}  // namespace cairn
