// What docs/browser.md tells those who build browsers: profiles, private sessions, clearing.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "broker/broker.h"
#include "broker/sandbox.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

namespace fs = std::filesystem;

// Every file below a folder, with its bytes.
using Tree = std::map<std::string, std::string>;
Tree tree_of(const std::string &folder) {
    Tree tree;
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
        std::string &bytes = tree[entry.path()];
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    return tree;
}

std::uint64_t now_ms() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

// A browser whose profile has the programs, with a broker of its own.
class BrowserTest : public testing::Test {
  protected:
    BrowserTest() : profile_(directory_ / "profile"), broker_(make(profile_)) {}

    // In the browser process, which may open files.
    Cache opened(const std::string &identifier = "browser.default") const {
        return Cache({.root = broker_.root(), .identifier = identifier});
    }
    BrokerCache connected(const std::string &identifier = "browser.default") const {
        return BrokerCache(broker_, identifier);
    }
    static const std::string &make(const std::string &folder) {
        fs::create_directory(folder);
        fs::permissions(folder, fs::perms::owner_all);
        return folder;
    }

    TempDirectory directory_;
    const std::string profile_;
    Broker broker_;
};

TEST_F(BrowserTest, ProfilesFindNothingOfEachOther) {
    BrokerCache one = connected("browser.one"), two = connected("browser.two");
    ASSERT_EQ(one.put("program", "of one"), CAIRN_OK);
    ASSERT_EQ(one.flush(), CAIRN_OK);
    ASSERT_EQ(one.get_soon("program"), "of one");
    EXPECT_EQ(two.get("program"), std::nullopt);
    ASSERT_EQ(two.put("program", "of two"), CAIRN_OK);
    ASSERT_EQ(two.flush(), CAIRN_OK);
    EXPECT_EQ(two.get_soon("program"), "of two");
    EXPECT_EQ(one.get("program"), "of one");
    EXPECT_EQ(connected("browser.three").get("program"), std::nullopt);
}

TEST_F(BrowserTest, APrivateSessionLeavesNothingAndFindsNothing) {
    BrokerCache regular = connected();
    ASSERT_EQ(regular.put("regular", "binary"), CAIRN_OK);
    ASSERT_EQ(regular.flush(), CAIRN_OK);
    ASSERT_EQ(regular.get_soon("regular"), "binary");
    const Tree before = tree_of(directory_.path());
    ASSERT_GT(before.size(), 3u);
    const std::string problem = run_in_child(60, [] {
        if (!forbid_system_calls()) return 1;
        cairn_options options = {};
        options.size = sizeof options;
        options.identifier = "browser.default";
        options.mode = CAIRN_MODE_MEMORY;
        cairn_cache *cache = nullptr;
        if (cairn_open(&options, &cache) != CAIRN_OK) return 2;
        if (cairn_contains(cache, "regular", 7) != CAIRN_MISS) return 3;
        for (unsigned i = 0; i < 200; ++i) {
            const std::string key = "private " + std::to_string(i);
            if (cairn_put(cache, key.data(), key.size(), "binary", 6, nullptr) != CAIRN_OK) {
                return 4;
            }
            if (cairn_contains(cache, key.data(), key.size()) != CAIRN_OK) return 5;
        }
        return 0;
    });
    EXPECT_EQ(problem, "");
    EXPECT_EQ(tree_of(directory_.path()), before);
    EXPECT_EQ(regular.get("private 7"), std::nullopt);
    EXPECT_FALSE(opened().get(as_bytes("private 7")));
}

// Why a private session has no connection at all.
TEST_F(BrowserTest, LookingUpThroughTheBrokerLeavesATrace) {
    constexpr unsigned kCount = 200;
    {
        BrokerCache regular = connected();
        for (unsigned i = 0; i < kCount; ++i) {
            ASSERT_EQ(regular.put("regular " + std::to_string(i), "binary"), CAIRN_OK);
        }
        ASSERT_EQ(regular.flush(), CAIRN_OK);
    }
    const std::string index = broker_.root() + "/browser.default/format-2/cache.idx";
    const std::string before = tree_of(broker_.root()).at(index);
    BrokerCache reading = connected();
    for (unsigned i = 0; i < kCount; ++i) {
        ASSERT_EQ(reading.get_soon("regular " + std::to_string(i)), "binary");
    }
    ASSERT_EQ(reading.flush(), CAIRN_OK);
    EXPECT_GT(reading.stats().hits_reported, 0u);
    EXPECT_NE(tree_of(broker_.root()).at(index), before);
}

TEST_F(BrowserTest, ClearsATimeAndAllWhileTheGpuProcessRuns) {
    BrokerCache gpu = connected();
    ASSERT_EQ(gpu.put("last week", "binary"), CAIRN_OK);
    ASSERT_EQ(gpu.flush(), CAIRN_OK);
    pause_ms(20);
    const std::uint64_t begin_ms = now_ms();
    pause_ms(20);
    ASSERT_EQ(gpu.put("today", "binary"), CAIRN_OK);
    ASSERT_EQ(gpu.flush(), CAIRN_OK);
    // Often enough that the GPU process has copies in its memory.
    for (unsigned i = 0; i < 4; ++i) {
        ASSERT_EQ(gpu.get_soon("last week"), "binary");
        ASSERT_EQ(gpu.get_soon("today"), "binary");
    }
    Cache browser = opened();
    ASSERT_EQ(browser.result(), CAIRN_OK);
    std::uint64_t removed = 0;
    ASSERT_EQ(cairn_clear_range(browser.handle(), begin_ms, UINT64_MAX, &removed), CAIRN_OK);
    EXPECT_EQ(removed, 1u);
    EXPECT_EQ(gpu.get("today"), std::nullopt);
    EXPECT_EQ(gpu.get("last week"), "binary");
    ASSERT_EQ(cairn_clear(browser.handle()), CAIRN_OK);
    EXPECT_EQ(gpu.get("last week"), std::nullopt);
    ASSERT_EQ(gpu.put("today", "compiled again"), CAIRN_OK);
    ASSERT_EQ(gpu.flush(), CAIRN_OK);
    EXPECT_EQ(gpu.get_soon("today"), "compiled again");
}

TEST_F(BrowserTest, AProfileIsDeletedOnceItsBrokerHasEnded) {
    BrokerCache gpu = connected();
    ASSERT_EQ(gpu.put("program", "binary"), CAIRN_OK);
    ASSERT_EQ(gpu.flush(), CAIRN_OK);
    ASSERT_EQ(gpu.get_soon("program"), "binary");
    ASSERT_EQ(broker_.end(SIGTERM), 0);
    fs::remove_all(profile_);
    EXPECT_EQ(gpu.put("other", "binary"), CAIRN_ERROR_IO);
    (void)gpu.get("program");
    EXPECT_FALSE(fs::exists(profile_));
}

// Why the broker has to end before.
TEST_F(BrowserTest, AProfileThatIsDeletedBeforeIsMadeAnewByTheNextStore) {
    BrokerCache gpu = connected();
    ASSERT_EQ(gpu.put("program", "binary"), CAIRN_OK);
    ASSERT_EQ(gpu.flush(), CAIRN_OK);
    ASSERT_EQ(gpu.get_soon("program"), "binary");
    fs::remove_all(profile_);
    ASSERT_EQ(gpu.put("other", "binary"), CAIRN_OK);
    ASSERT_EQ(gpu.flush(), CAIRN_OK);
    EXPECT_TRUE(fs::exists(broker_.root() + "/browser.default"));
    EXPECT_FALSE(opened().get(as_bytes("program")));
    EXPECT_TRUE(opened().get(as_bytes("other")));
}

}  // namespace
}  // namespace cairn_test
