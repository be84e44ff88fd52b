// How much of its limit a cache uses before it refuses or evicts an entry.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "os/file.h"
#include "os/testing/scratch.h"
#include "store/index_file.h"
#include "store/space.h"
#include "store/store.h"

namespace cairn {
namespace {

struct Load {
    std::uint64_t limit_bytes;
    std::uint64_t value_bytes;
    unsigned seeds;  // one cache for each
};

// With values of these sizes the index needs another level when that no longer fits.
constexpr Load kLoads[] = {
    {1 << 20, 1, 3},       {1 << 20, 64, 5},      {1 << 20, 100, 10},     {1 << 20, 200, 5},
    {1 << 20, 250, 10},    {1 << 20, 300, 10},    {1 << 20, 400, 10},     {1 << 20, 1000, 5},
    {1 << 20, 4000, 3},    {1 << 20, 16'384, 3},  {1 << 20, 65'536, 3},   {1 << 20, 262'144, 2},
    {1'500'000, 100, 5},   {2 << 20, 250, 5},     {2 << 20, 1000, 3},     {3 << 20, 64, 3},
    {4 << 20, 100, 5},     {4 << 20, 280, 5},     {4 << 20, 350, 5},      {4 << 20, 500, 3},
    {4 << 20, 1 << 20, 2}, {8 << 20, 64, 3},      {8 << 20, 400, 3},      {16 << 20, 100, 2},
    {16 << 20, 600, 2},    {16 << 20, 50'000, 2}, {16 << 20, 1 << 20, 2}, {64 << 20, 64, 1},
    {64 << 20, 450, 1},    {64 << 20, 4096, 1},   {64 << 20, 1 << 20, 1},
};

class FullTest : public ::testing::TestWithParam<Load> {
  protected:
    FullTest() {
        options_.root = scratch_ / "root";
        options_.limit_bytes = GetParam().limit_bytes;
        options_.about = "of the test";
    }
    std::unique_ptr<Store> open(unsigned seed) {
        options_.identifier = "cache" + std::to_string(seed);
        auto opened = Store::open(options_);
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }
    std::uint64_t index_bytes() const {
        return std::filesystem::file_size(options_.root + "/" + options_.identifier + "/" +
                                          format_folder(kNewestFormat) + "/" + kIndexFileName);
    }
    static std::string key(std::uint64_t number) { return "key " + std::to_string(number); }
    std::string value_ = std::string(GetParam().value_bytes, 'v');

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
};

TEST_P(FullTest, NothingIsRefusedBelow95Percent) {
    options_.refuse_when_full = true;
    for (unsigned seed = 0; seed < GetParam().seeds; ++seed) {
        const auto store = open(seed);
        std::uint64_t count = 0;
        Error error = Error::none;
        for (; error == Error::none; ++count) {
            error = store->put(as_bytes(key(count)), as_bytes(value_), {}).error();
        }
        EXPECT_EQ(error, Error::full);
        const StoreStats stats = store->stats();
        EXPECT_EQ(stats.entries, count - 1);
        // One more large value would not have fitted.
        const std::uint64_t needed = value_.size() < 16'384 ? 0 : value_.size() + 8192;
        EXPECT_GE(stats.disk_bytes + needed, stats.limit_bytes / 100 * 95) << count << " entries";
        EXPECT_LE(stats.disk_bytes, stats.limit_bytes);
        EXPECT_TRUE(store->contains(as_bytes(key(0))));
        EXPECT_TRUE(store->contains(as_bytes(key(count - 2))));
    }
}

TEST_P(FullTest, NothingIsGivenUpWhileThereIsSpace) {
    // The evictor keeps a few segments free.
    const SpaceLimits limits = space_limits(GetParam().limit_bytes);
    if (GetParam().value_bytes > limits.segment_bytes / 4) GTEST_SKIP() << "fill segments alone";
    const std::uint64_t used = GetParam().limit_bytes - 64 * 1024 - 4 * limits.segment_bytes;
    const std::uint64_t batch = limits.segment_bytes / 4 / (GetParam().value_bytes + 200) + 1;
    for (unsigned seed = 0; seed < GetParam().seeds; ++seed) {
        const auto store = open(seed);
        std::uint64_t count = 0;
        StoreStats before = {};
        std::uint64_t index_before = 0;
        for (StoreStats now = {}; now.entries == count; now = store->stats()) {
            before = now;
            index_before = index_bytes();
            for (unsigned i = 0; i < batch; ++i) {
                ASSERT_TRUE(store->put(as_bytes(key(count++)), as_bytes(value_), {}).ok());
            }
            EXPECT_LE(now.disk_bytes, GetParam().limit_bytes);
        }
        // By how the keys' hashes fall, what had to have room may be another level of the index.
        EXPECT_GE(before.disk_bytes + index_bytes() - index_before, used) << count << " entries";
    }
}

class BesideALargeFile : public ::testing::Test {
  protected:
    BesideALargeFile() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
    }
    static std::string key(int number) { return "key " + std::to_string(number); }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    const std::string value_ = std::string(1000, 'v');
};

// A file that is none of ours, or that damage has made large, cannot be evicted.
TEST_F(BesideALargeFile, HalfOfTheLimitIsLeft) {
    options_.limit_bytes = 2 << 20;
    auto store = std::move(Store::open(options_).value());
    for (int i = 0; i < 300; ++i)
        ASSERT_TRUE(store->put(as_bytes(key(i)), as_bytes(value_), {}).ok());
    for (const char *name : {"cache/about", "cache/format-2/strange"}) {
        const auto root = Directory::open(options_.root);
        ASSERT_TRUE(root->create_file(name)->extend(4 << 20).ok());
    }
    store = std::move(Store::open(options_).value());
    for (int i = 300; i < 400; ++i) {
        ASSERT_TRUE(store->put(as_bytes(key(i)), as_bytes(value_), {}).ok()) << i;
    }
    for (int i = 0; i < 400; ++i) EXPECT_TRUE(store->contains(as_bytes(key(i)))) << i;
}

// It would be the last one to be evicted, as it was changed last.
TEST_F(BesideALargeFile, ASegmentThatDamageHasExtendedGivesThatBack) {
    options_.limit_bytes = 32 << 20;
    {
        const auto one = std::move(Store::open(options_).value());
        const auto other = std::move(Store::open(options_).value());
        for (int i = 0; i < 200; ++i) {
            Store &store = i % 2 == 0 ? *one : *other;
            ASSERT_TRUE(store.put(as_bytes(key(i)), as_bytes(value_), {}).ok());
        }
    }
    const auto files = Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat));
    const auto segment = files->open_file(segment_file_name(1), Access::read_write);
    ASSERT_TRUE(segment->extend(80 << 20).ok());
    // Its first record is damaged, too.
    const std::vector<std::byte> damage(300);
    const Bytes pieces[] = {damage};
    ASSERT_TRUE(segment->write_at(0, pieces).ok());
    const auto store = std::move(Store::open(options_).value());
    for (int i = 200; i < 300; ++i) {
        ASSERT_TRUE(store->put(as_bytes(key(i)), as_bytes(value_), {}).ok()) << i;
    }
    for (int i = 0; i < 300; ++i) {
        EXPECT_TRUE(i == 1 || store->contains(as_bytes(key(i)))) << i;
    }
    EXPECT_LT(store->stats().disk_bytes, options_.limit_bytes);
}

// What can be large and is ours counts whole, whatever deletes it.
TEST_F(BesideALargeFile, OnlyTheOthersCountApart) {
    auto directory = Directory::open(scratch_.path());
    ASSERT_TRUE(directory.ok());
    for (const char *name : {"about", "strange.tmp", "cache.idx", "index-1.tmp", "rebuild-1.tmp",
                             "00000001.val", "00000002.val.tmp", "discarded-00000003.val.tmp"}) {
        ASSERT_TRUE(directory->create_file(name)->extend(8192).ok());
    }
    const auto use = measure_disk_use(*directory);
    ASSERT_TRUE(use.ok());
    EXPECT_EQ(use->other_bytes, 2u * 8192);
    EXPECT_EQ(use->bytes, 8u * 8192);
}

// Its process died before it had deleted it.
TEST_F(BesideALargeFile, ARetiredSegmentOfADeadProcessGoesAtOnce) {
    options_.limit_bytes = 2 << 20;
    ASSERT_TRUE(Store::open(options_).value()->put(as_bytes(key(0)), as_bytes(value_), {}).ok());
    const auto files = Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat));
    const std::string name = "discarded-" + segment_file_name(7) + ".tmp";
    ASSERT_TRUE(files->create_file(name)->extend(3 << 20).ok());
    const auto store = std::move(Store::open(options_).value());
    ASSERT_TRUE(store->put(as_bytes(key(1)), as_bytes(value_), {}).ok());
    EXPECT_TRUE(store->contains(as_bytes(key(0))));
    EXPECT_FALSE(files->info(name).ok());
}

INSTANTIATE_TEST_SUITE_P(Loads, FullTest, ::testing::ValuesIn(kLoads), [](const auto &load) {
    return std::to_string(load.param.value_bytes) + "In" + std::to_string(load.param.limit_bytes);
});

}  // namespace
}  // namespace cairn
