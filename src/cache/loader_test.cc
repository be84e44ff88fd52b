// The loader by itself, over a target that writes down what it is asked to do.
// SPDX-License-Identifier: MIT
#include "cache/loader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/environment.h"
#include "support/eventually.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

using cairn_test::eventually;

constexpr std::uint64_t kFast = 1u << 30;

// Writes down what it is asked to do.
class Diary final : public LoadTarget {
  public:
    Loaded load(Bytes key) override {
        const MutexLock lock(mutex_);
        lines_.emplace_back(reinterpret_cast<const char *>(key.data()), key.size());
        return {kept_, 100'000};
    }
    Loaded load_at(Location location) override {
        const MutexLock lock(mutex_);
        lines_.push_back("at " + std::to_string(location.offset));
        return {kept_, 100'000};
    }
    std::vector<Location> newest() override { return newest_; }
    Result<BlobRef> look_up(Bytes) override { return BlobRef(); }
    void note_use(Bytes key) override {
        const MutexLock lock(mutex_);
        lines_.push_back("used " +
                         std::string(reinterpret_cast<const char *>(key.data()), key.size()));
    }
    void trim(Pressure) override {}

    std::vector<std::string> lines() {
        const MutexLock lock(mutex_);
        return lines_;
    }

    std::vector<Location> newest_;
    Kept kept_ = Kept::yes;

  private:
    Mutex mutex_;
    std::vector<std::string> lines_ GUARDED_BY(mutex_);
};

class LoaderTest : public testing::Test {
  protected:
    std::unique_ptr<Loader> make(const Loader::Options &options) {
        return Loader::make(diary_, directory(), options);
    }
    Directory directory() const { return std::move(Directory::open(folder_.path()).value()); }

    cairn_test::TempDirectory folder_;
    Diary diary_;
};

TEST_F(LoaderTest, StartUpLoadsWhatTheLastStartUsedInItsOrderThenTheNewest) {
    ASSERT_TRUE(write_order(directory(), {"c", "a", "b"}).ok());
    diary_.newest_ = {{1, 640}, {1, 320}};
    Loader::Options options;
    options.bytes_per_second = kFast;
    const auto loader = make(options);
    EXPECT_TRUE(eventually([&] { return loader->stats().is_done; }));
    EXPECT_EQ(diary_.lines(), (std::vector<std::string>{"c", "a", "b", "at 640", "at 320"}));
    EXPECT_EQ(loader->stats().loaded_entries, 5u);
    EXPECT_EQ(loader->stats().left, 0u);
}

TEST_F(LoaderTest, StartUpReadsNotMoreBytesPerSecondThanTheBound) {
    for (std::uint64_t i = 1; i <= 11; ++i) diary_.newest_.push_back({1, i * 64});
    Loader::Options options;
    options.bytes_per_second = 20'000'000;
    const std::uint64_t begin = monotonic_ns();
    const auto loader = make(options);
    EXPECT_TRUE(eventually([&] { return loader->stats().is_done; }));
    // Ten pauses of 5 ms, but for the one that the last steps may owe.
    EXPECT_GE(monotonic_ns() - begin, 10 * 5'000'000u - 1'000'000u);
    EXPECT_EQ(diary_.lines().size(), 11u);
}

TEST_F(LoaderTest, StartUpEndsWhenMemoryIsFull) {
    for (std::uint64_t i = 1; i <= 100; ++i) diary_.newest_.push_back({1, i * 64});
    diary_.kept_ = LoadTarget::Kept::full;
    Loader::Options options;
    options.bytes_per_second = kFast;
    const auto loader = make(options);
    EXPECT_TRUE(eventually([&] { return loader->stats().is_done; }));
    EXPECT_LT(diary_.lines().size(), 20u);
    EXPECT_EQ(loader->stats().loaded_entries, 0u);
}

TEST_F(LoaderTest, HitsInMemoryAreToldInBatchesAndAtTheEnd) {
    {
        const auto loader = make({});
        loader->note(as_bytes("seen on disk"), UseNotes::Where::elsewhere);
        for (std::size_t i = 0; i < UseNotes::kBatch; ++i) {
            loader->note(as_bytes(std::to_string(i)), UseNotes::Where::memory);
        }
        EXPECT_TRUE(eventually([&] { return loader->stats().hits_told == UseNotes::kBatch; }));
        loader->note(as_bytes("last"), UseNotes::Where::memory);
    }
    EXPECT_EQ(diary_.lines().size(), UseNotes::kBatch + 1);
    EXPECT_EQ(diary_.lines().front(), "used 0");
    EXPECT_EQ(diary_.lines().back(), "used last");
}

TEST_F(LoaderTest, WhatWasForgottenLeavesNoOrderHoweverSoonTheCacheIsClosed) {
    Loader::Options options;
    options.first_write_ns = 3'000'000;
    for (int i = 0; i < 50; ++i) {
        auto loader = make(options);
        loader->note(as_bytes("secret"), UseNotes::Where::elsewhere);
        if (i % 2 == 0) {
            EXPECT_TRUE(eventually([&] { return !read_order(directory()).empty(); }));
        }
        loader->forget();
        loader.reset();
        ASSERT_EQ(directory().info(kOrderFileName).error(), Error::not_found) << i;
    }
}

}  // namespace
}  // namespace cairn
