// SPDX-License-Identifier: MIT
// What a store says of entries that are gone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "os/environment.h"
#include "store/ghosts.h"
#include "store/index_file.h"
#include "store/space.h"
#include "store/store.h"
#include "store/testing/cache_files.h"
#include "store/writer.h"
#include "support/files.h"
#include "support/process.h"
#include "support/random.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using cairn_test::Child;
using Kind = Ghost::Kind;

std::uint64_t now_s() {
    return wall_clock_ns() / 1'000'000'000;
}

class FateTest : public ::testing::Test {
  protected:
    FateTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.limit_bytes = 4 << 20;
    }
    std::unique_ptr<Store> open() const {
        auto opened = Store::open(options_);
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }
    static std::string key(int number) { return "key " + std::to_string(number); }
    void put(Store &store, int begin, int end) const {
        for (int i = begin; i < end; ++i) {
            ASSERT_TRUE(store.put(as_bytes(key(i)), as_bytes(value_), {}).ok());
        }
    }
    // Of the keys before `end`: entries that are there, and that are said to be evicted, and others.
    struct Fates {
        int there = 0, evicted = 0, damaged = 0, unknown = 0;
    };
    Fates fates(Store &store, int end) const {
        Fates fates;
        for (int i = 0; i < end; ++i) {
            const BlobRef found = store.get(as_bytes(key(i)));
            const auto ghost = store.ghost_of(as_bytes(key(i)));
            if (found) {
                ++fates.there;
            } else if (!ghost) {
                ++fates.unknown;
            } else {
                ++(ghost->kind == Kind::evicted ? fates.evicted : fates.damaged);
                EXPECT_GT(ghost->when_s + 60, begin_s_);
                EXPECT_LE(ghost->when_s, now_s());
            }
        }
        return fates;
    }
    bool has_file() const { return fs::exists(directory_ + kGhostFileName); }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    const std::string directory_ = scratch_ / ("root/cache/" + format_folder(kNewestFormat) + "/");
    std::string value_ = std::string(16'000, 'v');
    const std::uint64_t begin_s_ = now_s();
};

TEST_F(FateTest, ASmallCacheHasNoFile) {
    const auto store = open();
    put(*store, 0, 10);
    EXPECT_TRUE(store->remove(as_bytes(key(3))).value());
    EXPECT_FALSE(store->ghost_of(as_bytes(key(3))));
    EXPECT_FALSE(store->ghost_of(as_bytes("never stored")));
    EXPECT_EQ(store->cleared_at_s(), 0u);
    ASSERT_TRUE(store->clear().ok());
    EXPECT_FALSE(has_file());
}

TEST_F(FateTest, AllThatWasEvictedIsSaidToBe) {
    constexpr int kCount = 300;
    const auto store = open();
    put(*store, 0, kCount);
    Fates seen = fates(*store, kCount);
    EXPECT_GT(seen.evicted, 30);
    EXPECT_EQ(seen.there + seen.evicted, kCount);
    EXPECT_EQ(store->stats().evicted, static_cast<std::uint64_t>(seen.evicted));
    EXPECT_EQ(store->evicted(), store->stats().evicted);
    EXPECT_LE(store->stats().disk_bytes, options_.limit_bytes);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_FALSE(store->ghost_of(as_bytes("never stored " + std::to_string(i))));
    }
    // The next process knows it, and one that only reads.
    EXPECT_EQ(fates(*open(), kCount).evicted, seen.evicted);
    options_.access = Access::read_only;
    EXPECT_EQ(fates(*open(), kCount).evicted, seen.evicted);
    EXPECT_EQ(open()->stats().evicted, 0u) << "by this store";
}

// All entries of a segment but the last are worth a copy, and these copies take the last room.
TEST_F(FateTest, TheFirstEvictionsOfAFullCacheAreRemembered) {
    constexpr int kFirst = 400, kCount = 700;
    value_.resize(4000);
    int in_segment = 0;
    {
        const auto store = open();
        for (int i = 0; i < kFirst; ++i) {
            put(*store, i, i + 1);
            const bool is_one = cairn_test::files_in(directory_, ".val").size() == 1;
            if (is_one) in_segment = i + 1;
        }
        for (int i = 0; i < 4 * kFirst; ++i) {
            const int number = i % kFirst;
            if (number % in_segment == in_segment - 1) continue;
            ASSERT_TRUE(store->get(as_bytes(key(number))));
        }
    }
    // What else is in the directory counts, too. No put has room now.
    const auto used = [&] { return measure_disk_use(*Directory::open(directory_))->bytes; };
    const std::uint64_t full = space_limits(options_.limit_bytes).put_bytes;
    ASSERT_LT(used(), full);
    cairn_test::write_file(directory_ + "other", cairn_test::ByteVector(full - used(), 'o'));
    ASSERT_FALSE(has_file());
    const auto store = open();
    put(*store, kFirst, kCount);
    const Fates seen = fates(*store, kCount);
    EXPECT_GT(seen.evicted, 30);
    EXPECT_EQ(seen.unknown + seen.damaged, 0);
    EXPECT_LE(used(), options_.limit_bytes);
}

TEST_F(FateTest, ALimitOnEntriesEvictsToo) {
    options_.limit_entries = 20;
    const auto store = open();
    put(*store, 0, 60);
    const Fates seen = fates(*store, 60);
    EXPECT_EQ(seen.there, 20);
    EXPECT_EQ(seen.evicted, 40);
    EXPECT_EQ(store->evicted(), 40u);
}

TEST_F(FateTest, ALowerLimitEvictsWhenItIsOpened) {
    put(*open(), 0, 100);
    options_.limit_bytes = 1 << 20;
    const Fates seen = fates(*open(), 100);
    EXPECT_GT(seen.evicted, 20);
    EXPECT_EQ(seen.unknown + seen.damaged, 0);
}

TEST_F(FateTest, DamageIsToldFromEviction) {
    put(*open(), 0, 20);
    for (const std::string &segment : cairn_test::files_in(directory_, ".val")) {
        auto bytes = cairn_test::read_file(segment);
        for (std::size_t i = 5000; i < bytes.size(); i += 16'000) bytes[i] ^= 1;
        cairn_test::write_file(segment, bytes);
    }
    const auto store = open();
    Fates seen = fates(*store, 20);
    EXPECT_GT(seen.damaged, 15);
    EXPECT_EQ(seen.evicted + seen.unknown, 0);
    EXPECT_EQ(store->evicted(), 0u);
    put(*store, 0, 20);
    EXPECT_EQ(fates(*store, 20).there, 20);
}

TEST_F(FateTest, AClearForgetsForAllProcessesAndSaysWhen) {
    const auto store = open();
    const auto other = open();
    put(*store, 0, 400);
    ASSERT_GT(fates(*other, 400).evicted, 50);
    ASSERT_TRUE(store->clear().ok());
    EXPECT_EQ(fates(*other, 400).unknown, 400);
    EXPECT_GE(other->cleared_at_s(), begin_s_);
    EXPECT_LE(other->cleared_at_s(), now_s());
    EXPECT_TRUE(has_file()) << "others have it mapped";
    put(*store, 0, 400);
    EXPECT_GT(fates(*other, 400).evicted, 50);
    ASSERT_TRUE(store->clear_range(0, UINT64_MAX).ok());
    EXPECT_EQ(fates(*other, 400).unknown, 400);
}

TEST_F(FateTest, WhatIsRemovedLaterWasNotEvicted) {
    const auto store = open();
    put(*store, 0, 400);
    ASSERT_TRUE(store->ghost_of(as_bytes(key(0))));
    put(*store, 0, 1);
    ASSERT_TRUE(store->remove(as_bytes(key(0))).value());
    EXPECT_FALSE(store->ghost_of(as_bytes(key(0))));
}

// The records are there until their segment goes.
TEST_F(FateTest, WhatWasEvictedAndIsRemovedThenDoesNotComeBack) {
    std::vector<int> removed;
    {
        const auto store = open();
        put(*store, 0, 400);
        for (int i = 0; i < 400; ++i) {
            if (!store->ghost_of(as_bytes(key(i)))) continue;
            const auto was_there = store->remove(as_bytes(key(i)));
            ASSERT_TRUE(was_there.ok());
            EXPECT_FALSE(was_there.value());
            removed.push_back(i);
        }
    }
    EXPECT_GT(removed.size(), 50u);
    ASSERT_TRUE(fs::remove(directory_ + kIndexFileName));
    const auto store = open();
    int entries = 0;
    for (int i = 0; i < 400; ++i) entries += store->contains(as_bytes(key(i))) ? 1 : 0;
    EXPECT_GT(entries, 100);
    for (const int i : removed) EXPECT_FALSE(store->contains(as_bytes(key(i)))) << i;
}

TEST_F(FateTest, ANonsensicalTimeOfAClearIsNone) {
    const auto store = open();
    const auto file = Directory::open(directory_)->open_file(kIndexFileName, Access::read_write);
    ASSERT_TRUE(file.ok());
    for (const std::uint64_t word : {std::uint64_t{1}, std::uint64_t{1'000'000'000}, now_s() + 100,
                                     UINT64_MAX, UINT64_MAX / 2}) {
        std::array<std::byte, 8> bytes = {};
        put_le(bytes, 0, word);
        const Bytes piece(bytes);
        ASSERT_TRUE(file->write_at(counter_offset(Counter::cleared_at), std::span(&piece, 1)).ok());
        EXPECT_EQ(store->cleared_at_s(), 0u) << word;
    }
}

TEST_F(FateTest, ACacheOfAnotherVersionHasNoGhosts) {
    put(*open(), 0, 400);
    ASSERT_TRUE(has_file());
    options_.version = 2;
    const auto store = open();
    EXPECT_FALSE(has_file());
    EXPECT_EQ(fates(*store, 400).unknown, 400);
}

TEST_F(FateTest, ADeletedDirectoryIsFollowed) {
    const auto store = open();
    for (int round = 0; round < 2; ++round) {
        put(*store, 0, 300);
        EXPECT_TRUE(has_file());
        const Fates seen = fates(*store, 300);
        EXPECT_GT(seen.evicted, 30);
        EXPECT_EQ(seen.unknown + seen.damaged, 0);
        fs::remove_all(directory_);
    }
}

TEST_F(FateTest, AChildOfForkGoesOn) {
    const auto store = open();
    put(*store, 0, 260);
    Child child([&] {
        put(*store, 260, 300);
        return fates(*store, 300).unknown == 0 ? 0 : 1;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "");
    const Fates seen = fates(*store, 300);
    EXPECT_GT(seen.evicted, 30);
    EXPECT_EQ(seen.unknown, 0);
}

// Each child stores until it is killed in the middle of something. What it had stored and is not
// there any more was evicted, and is said to be. The limit is large and the values are, so that no
// ghost goes for another one.
TEST_F(FateTest, KilledWhileItEvictsTheFatesAreRight) {
    options_.limit_bytes = 64 << 20;
    value_ = std::string(250'000, 'v');
    cairn_test::Random random(11);
    constexpr int kFull = 300;
    int begin = 0, evicted = 0;  // while it was killed
    for (int round = 0; round < 12; ++round) {
        ASSERT_TRUE(open()->clear().ok());
        put(*open(), begin, begin + kFull);
        const int gone = kFull - static_cast<int>(open()->stats().entries);
        Child child([&] {
            const auto store = open();
            for (int i = begin + kFull;; ++i) {
                if (!store->put(as_bytes(key(i)), as_bytes(value_), {}).ok()) return 1;
            }
        });
        sleep_us(static_cast<unsigned>(5000 + random.below(60'000)));
        child.kill();
        const auto store = open();
        int end = begin + kFull + 20'000;  // more than a child stores
        while (end > begin && !store->get(as_bytes(key(end - 1)))) --end;
        for (int i = begin; i < end; ++i) {
            if (store->get(as_bytes(key(i)))) continue;
            const auto ghost = store->ghost_of(as_bytes(key(i)));
            EXPECT_TRUE(ghost && ghost->kind == Kind::evicted) << key(i);
            ++evicted;
        }
        evicted -= gone;
        for (int i = end; i < end + 100; ++i) EXPECT_FALSE(store->ghost_of(as_bytes(key(i))));
        begin = end + 1000;
    }
    EXPECT_GT(evicted, 0);
}

}  // namespace
}  // namespace cairn
