// The calls of cairn_program_cache.h on what a cache does in its own thread.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "os/environment.h"
#include "support/temp_directory.h"

namespace {

constexpr uint32_t kPatienceMs = 60'000;

class ProgramLoadingTest : public testing::Test {
  protected:
    ~ProgramLoadingTest() override { cairn_close(cache_); }

    cairn_program_cache_options options() const {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = directory_.path().c_str();
        options.application = "engine";
        options.identity = "GL: driver 1";
        options.memory_bytes = 1'000'000;
        return options;
    }
    void open(const cairn_program_cache_options &options) {
        cairn_close(cache_);
        ASSERT_EQ(cairn_program_cache_open(&options, &cache_), CAIRN_OK);
    }
    int put(const std::string &key, const std::string &value) const {
        return cairn_put(cache_, key.data(), key.size(), value.data(), value.size(), nullptr);
    }
    int get_within(const std::string &key, uint32_t patience_ms) const {
        cairn_blob *blob = nullptr;
        const int result = cairn_get_within(cache_, key.data(), key.size(), patience_ms, &blob);
        EXPECT_EQ(blob != nullptr, result == CAIRN_OK);
        cairn_blob_free(blob);
        return result;
    }
    cairn_program_cache_stats stats() const {
        cairn_program_cache_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_program_cache_stats_get(cache_, &stats), CAIRN_OK);
        return stats;
    }

    cairn_test::TempDirectory directory_;
    cairn_cache *cache_ = nullptr;
};

TEST_F(ProgramLoadingTest, StatsShowWhatIsLoaded) {
    open(options());
    for (int i = 0; i < 20; ++i) put("key" + std::to_string(i), "value");
    open(options());
    while (stats().load_done == 0) cairn::sleep_us(200);
    EXPECT_EQ(stats().loaded_entries, 20u);
    EXPECT_EQ(stats().memory_entries, 20u);
    cairn_program_cache_options off = options();
    off.flags = CAIRN_PROGRAM_CACHE_NO_LOADING;
    open(off);
    EXPECT_EQ(stats().load_done, 1u);
    EXPECT_EQ(get_within("key1", kPatienceMs), CAIRN_OK);
    EXPECT_EQ(stats().memory_entries, 1u);
    EXPECT_EQ(stats().start_keys, 1u);
}

TEST_F(ProgramLoadingTest, ABoundedGetIsAHitAMissOrLate) {
    open(options());
    put("key", "value");
    EXPECT_EQ(get_within("key", 0), CAIRN_OK) << "what is in memory is never late";
    EXPECT_EQ(get_within("absent", kPatienceMs), CAIRN_MISS);
    EXPECT_EQ(stats().late, 0u);
    const int result = get_within("absent", 0);
    EXPECT_TRUE(result == CAIRN_LATE || result == CAIRN_MISS) << result;
    EXPECT_EQ(stats().late, result == CAIRN_LATE ? 1u : 0u);
    EXPECT_STREQ(cairn_result_string(CAIRN_LATE), "not known in time");
}

TEST_F(ProgramLoadingTest, ABoundedGetOfOtherCaches) {
    cairn_options plain = {};
    plain.size = sizeof plain;
    plain.root = directory_.path().c_str();
    plain.identifier = "plain";
    ASSERT_EQ(cairn_open(&plain, &cache_), CAIRN_OK);
    EXPECT_EQ(get_within("key", 10), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_trim(cache_, 0, nullptr), CAIRN_ERROR_UNSUPPORTED);
    cairn_close(cache_);
    plain.mode = CAIRN_MODE_MEMORY;
    ASSERT_EQ(cairn_open(&plain, &cache_), CAIRN_OK);
    EXPECT_EQ(get_within("key", 0), CAIRN_MISS);
    put("key", "value");
    EXPECT_EQ(get_within("key", 0), CAIRN_OK);
}

TEST_F(ProgramLoadingTest, TrimmingLeavesWhatIsAskedForAndTheDiskKeepsAll) {
    open(options());
    for (int i = 0; i < 100; ++i) put("key" + std::to_string(i), std::string(8000, 'v'));
    const uint64_t held = stats().memory_bytes;
    ASSERT_GT(held, 800'000u);
    uint64_t freed = 0;
    EXPECT_EQ(cairn_trim(cache_, stats().memory_limit_bytes / 4, &freed), CAIRN_OK);
    EXPECT_LE(stats().memory_bytes, 250'000u);
    EXPECT_GT(stats().memory_bytes, 240'000u);
    EXPECT_EQ(freed, held - stats().memory_bytes);
    EXPECT_EQ(cairn_trim(cache_, 0, nullptr), CAIRN_OK);
    EXPECT_EQ(stats().memory_bytes, 0u);
    EXPECT_EQ(get_within("key1", kPatienceMs), CAIRN_OK) << "the disk has it still";
}

TEST_F(ProgramLoadingTest, ArgumentsAreChecked) {
    open(options());
    cairn_blob *blob = nullptr;
    EXPECT_EQ(cairn_get_within(nullptr, "a", 1, 0, &blob), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_get_within(cache_, nullptr, 1, 0, &blob), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_get_within(cache_, "a", 0, 0, &blob), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_get_within(cache_, "a", 1, 0, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
}

}  // namespace
