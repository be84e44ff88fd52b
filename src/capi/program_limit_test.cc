// The room that program caches take, and what the user says about it.
// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include <chrono>

#include "capi/testing/programs.h"
#include "os/environment.h"
#include "support/files.h"

namespace {

namespace fs = std::filesystem;
using cairn::testing::ProgramCacheTest;
using cairn::testing::Programs;

// The user sets limits in the environment and in a file.
class ProgramCacheLimitTest : public ProgramCacheTest {
  protected:
    ProgramCacheLimitTest() {
        setenv("XDG_CONFIG_HOME", home_.path().c_str(), 1);
        unsetenv("CAIRN_LIMIT");
    }
    ~ProgramCacheLimitTest() override {
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("CAIRN_LIMIT");
    }
    void configure(const std::string &text) const {
        fs::create_directories(home_ / "cairn");
        cairn_test::write_file(home_ / "cairn/config", cairn_test::as_bytes(text));
    }
    static uint64_t limit_of(const cairn_program_cache_options &options) {
        const Programs programs(options);
        cairn_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_stats_get(programs.handle(), &stats), CAIRN_OK);
        return stats.limit_bytes;
    }
    uint64_t limit_of(const char *application, uint64_t limit_bytes = 0, uint32_t percent = 0) {
        cairn_program_cache_options asked = options();
        asked.application = application;
        asked.limit_bytes = limit_bytes;
        asked.limit_percent = percent;
        return limit_of(asked);
    }

    static constexpr uint64_t kMiB = 1u << 20;
    cairn_test::TempDirectory home_;
};

TEST_F(ProgramCacheLimitTest, TheCallersGoesBeforeTheEnvironmentsAndThatBeforeTheFiles) {
    EXPECT_EQ(limit_of("game"), CAIRN_LIMIT_BYTES_DEFAULT);
    configure("limit = 20M\n[application game]\nlimit = 8G\n");
    EXPECT_EQ(limit_of("game"), 8192 * kMiB);
    EXPECT_EQ(limit_of("gl-game"), 8192 * kMiB) << "people know it without the prefix";
    EXPECT_EQ(limit_of("editor"), 20 * kMiB);
    setenv("CAIRN_LIMIT", "30M", 1);
    EXPECT_EQ(limit_of("game"), 30 * kMiB);
    EXPECT_EQ(limit_of("editor"), 30 * kMiB);
    EXPECT_EQ(limit_of("game", 40 * kMiB), 40 * kMiB);
    setenv("CAIRN_LIMIT", "much", 1);
    EXPECT_EQ(limit_of("editor"), 20 * kMiB);
    setenv("CAIRN_LIMIT", "1", 1);
    EXPECT_EQ(limit_of("editor"), 4 * kMiB) << "the least";
}

// Whether stored values take less room than they have bytes, some time after they were put.
bool gets_compressed(const cairn_program_cache_options &options) {
    const Programs programs(options);
    for (unsigned i = 0; i < 10; ++i) {
        std::string value;
        while (value.size() < 1u << 20) value += std::to_string(value.size() * 2654435761u + i);
        EXPECT_EQ(programs.put("key " + std::to_string(i), value), CAIRN_OK);
    }
    EXPECT_EQ(programs.flush(), CAIRN_OK);
    bool is_smaller = false;
    const auto look = [](void *user, const cairn_entry *entry) {
        *static_cast<bool *>(user) |= entry->stored_size < entry->value_size;
        return 0;
    };
    for (int i = 0; i < 60'000 && !is_smaller; ++i) {
        EXPECT_EQ(cairn_enumerate(programs.handle(), look, &is_smaller), CAIRN_OK);
        cairn::sleep_us(1000);
    }
    return is_smaller;
}

TEST_F(ProgramCacheLimitTest, TheFileSaysWhetherEntriesAreCompressed) {
    cairn_program_cache_options asked = options();
    asked.application = "gl-game";
    configure("limit = 16M\n[application game]\ncompress = 1\n");
    EXPECT_TRUE(gets_compressed(asked));
}

TEST_F(ProgramCacheLimitTest, CachesThatAreUsedTogetherHaveTheirPartsOfIt) {
    setenv("CAIRN_LIMIT", "30M", 1);
    EXPECT_EQ(limit_of("game", 0, 25) + limit_of("game", 0, 75), 30 * kMiB);
    EXPECT_EQ(limit_of("game", 40 * kMiB, 25), 40 * kMiB) << "only of what the user gives";
    cairn_program_cache_options wrong = options();
    wrong.limit_percent = 101;
    EXPECT_EQ(Programs(wrong).result(), CAIRN_ERROR_INVALID_ARGUMENT);
}

TEST_F(ProgramCacheLimitTest, ASmallerOneMakesWhatIsThereSmallerAtOnce) {
    cairn_program_cache_options asked = options();
    asked.queue_bytes = CAIRN_NONE;
    asked.memory_bytes = CAIRN_NONE;
    const auto disk_bytes = [&] {
        const Programs programs(asked);
        cairn_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_stats_get(programs.handle(), &stats), CAIRN_OK);
        return stats.disk_bytes;
    };
    setenv("CAIRN_LIMIT", "40M", 1);
    {
        const Programs programs(asked);
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(programs.put(std::to_string(i), std::string(kMiB, 'v')), CAIRN_OK);
        }
    }
    EXPECT_GT(disk_bytes(), 20 * kMiB);
    setenv("CAIRN_LIMIT", "8M", 1);
    EXPECT_LE(disk_bytes(), 8 * kMiB);
    EXPECT_EQ(Programs(asked).get("19"), std::string(kMiB, 'v')) << "the newest stay";
}

// Somebody has looked after all generations less than an hour ago.
TEST_F(ProgramCacheLimitTest, SupersededOnesAreOfTheSameLimitAsSoonAsItIsAnother) {
    {
        cairn_program_cache_options asked = options("driver 1");
        asked.queue_bytes = CAIRN_NONE;
        const Programs programs(asked);
        for (int i = 0; i < 8; ++i) {
            EXPECT_EQ(programs.put(std::to_string(i), std::string(kMiB, 'v')), CAIRN_OK);
        }
    }
    const std::string old = directory_ / generations().front();
    fs::last_write_time(old + "/generation",
                        fs::file_time_type::clock::now() - std::chrono::hours(48));
    EXPECT_EQ(Programs(options("driver 2")).result(), CAIRN_OK);
    EXPECT_TRUE(fs::exists(old));
    setenv("CAIRN_LIMIT", "6M", 1);
    const Programs programs(options("driver 2"));
    for (int i = 0; i < 60'000 && fs::exists(old); ++i) cairn::sleep_us(1000);
    EXPECT_FALSE(fs::exists(old));
}

}  // namespace
