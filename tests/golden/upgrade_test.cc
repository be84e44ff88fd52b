// What version 0.1.0 has left below a root is used by this one: docs/upgrading.md.
//
// tests/golden/0.1.0 was written by the library and the command of that version: a program cache of
// 20 entries, of a process that died while a driver had `key 7`, and conversions switched off.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_control.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cache/start_order.h"
#include "golden/entries.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

namespace fs = std::filesystem;

constexpr const char *kIdentifier = "gl-game-2fb3f59919da0e4f";

class UpgradeTest : public testing::Test {
  protected:
    UpgradeTest() {
        fs::copy(CAIRN_GOLDEN_DIRECTORY "/0.1.0", root_,
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        // As they were: git keeps no more than whether a file can be executed.
        fs::permissions(root_, fs::perms::owner_all);
        fs::permissions(root_ + "/" + kIdentifier, fs::perms::owner_all);
    }

    cairn_cache *open() const {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.application = "gl-game";
        options.build = "build 7";
        options.identity = "a driver\nof 0.1.0";
        options.version = 2;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
        return cache;
    }

    std::string magic_of_order() const {
        std::ifstream file(root_ + "/" + kIdentifier + "/order", std::ios::binary);
        std::string bytes(std::istreambuf_iterator<char>(file), {});
        return bytes.substr(0, 8);
    }

    TempDirectory directory_;
    const std::string root_ = directory_.path();
};

TEST_F(UpgradeTest, FindsEveryEntryButThatWhichADriverDiedWith) {
    cairn_cache *cache = open();
    ASSERT_NE(cache, nullptr);
    EXPECT_STREQ(cairn_program_cache_identifier(cache), kIdentifier);
    for (int i = 0; i < 20; ++i) {
        if (i != 7) expect_entry(cache, i);
    }
    EXPECT_EQ(cairn_contains(cache, "key 7", 5), CAIRN_MISS);
    cairn_program_cache_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(cairn_program_cache_stats_get(cache, &stats), CAIRN_OK);
    EXPECT_EQ(stats.crashes_dropped, 1u);
    EXPECT_EQ(cairn_put(cache, "new", 3, "value", 5, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_flush(cache, 60'000), CAIRN_OK);
    cairn_close(cache);
    cairn_cache *again = open();
    EXPECT_EQ(cairn_contains(again, "new", 3), CAIRN_OK);
    cairn_close(again);
}

TEST_F(UpgradeTest, RecordsAnewWhatStartsUse) {
    ASSERT_EQ(magic_of_order(), "CNORDER1");
    const auto folder = cairn::Directory::open(root_ + "/" + kIdentifier);
    ASSERT_TRUE(folder.ok());
    EXPECT_TRUE(cairn::read_order(folder.value()).empty());
    cairn_cache *cache = open();
    for (int i = 0; i < 7; ++i) expect_entry(cache, i);
    cairn_close(cache);
    EXPECT_EQ(magic_of_order(), "CNORDER2");
    EXPECT_EQ(cairn::read_order(folder.value()).size(), 7u);
}

TEST_F(UpgradeTest, LeavesSwitchedOffWhatWas) {
    cairn_control_options options = {};
    options.size = sizeof options;
    options.root = root_.c_str();
    cairn_control *control = nullptr;
    ASSERT_EQ(cairn_control_open(&options, &control), CAIRN_OK);
    EXPECT_EQ(cairn_control_disabled(control), uint32_t{CAIRN_KIND_CONVERSIONS});
    cairn_control_close(control);
}

}  // namespace
}  // namespace cairn_test
