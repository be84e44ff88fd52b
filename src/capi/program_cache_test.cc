// SPDX-License-Identifier: MIT
#include <cairn/cairn_broker.h>
#include <signal.h>

#include <array>
#include <chrono>

#include "capi/testing/programs.h"
#include "os/environment.h"
#include "support/cache.h"
#include "support/files.h"

namespace {

namespace fs = std::filesystem;
using cairn::testing::ProgramCacheTest;
using cairn::testing::Programs;
using cairn_test::Child;
using cairn_test::LogLines;

TEST_F(ProgramCacheTest, WhatIsPutIsFoundAtOnceAndByTheNextProcess) {
    {
        const Programs programs(options());
        ASSERT_EQ(programs.result(), CAIRN_OK);
        EXPECT_EQ(programs.get("key"), "(miss)");
        EXPECT_EQ(programs.put("key", "binary"), CAIRN_OK);
        EXPECT_EQ(programs.get("key"), "binary");
        EXPECT_EQ(programs.contains("key"), CAIRN_OK);
    }
    const Programs again(options());
    EXPECT_EQ(again.get("key"), "binary");
    EXPECT_EQ(again.stats().memory_hits, 0u);
    EXPECT_EQ(again.get("key"), "binary");
    EXPECT_EQ(again.stats().memory_hits, 1u) << "what was read from disk is in memory then";
}

TEST_F(ProgramCacheTest, WhatIsFlushedIsFoundAlthoughTheProcessIsKilled) {
    Child child([&] {
        const Programs programs(options());
        programs.put("key", "binary");
        if (programs.flush() != CAIRN_OK) return 1;
        raise(SIGKILL);
        return 2;
    });
    EXPECT_EQ(cairn_test::describe_status(child.wait()), "signal 9 (Killed)");
    EXPECT_EQ(Programs(options()).get("key"), "binary");
}

TEST_F(ProgramCacheTest, AnotherProcessFindsItWithoutAFlush) {
    const Programs programs(options());
    ASSERT_EQ(programs.put("key", "binary"), CAIRN_OK);
    const Programs other(options());
    for (int i = 0; i < 60'000 && other.get("key") != "binary"; ++i) cairn::sleep_us(1000);
    EXPECT_EQ(other.get("key"), "binary");
}

TEST_F(ProgramCacheTest, ADriverUpdateTestedForReal) {
    EXPECT_EQ(Programs(options("driver 1")).put("key", "of 1"), CAIRN_OK);
    {
        const Programs updated(options("driver 2"));
        EXPECT_EQ(updated.get("key"), "(miss)");
        EXPECT_EQ(updated.put("key", "of 2"), CAIRN_OK);
    }
    EXPECT_EQ(Programs(options("driver 1")).get("key"), "of 1");
    EXPECT_EQ(Programs(options("driver 2")).get("key"), "of 2");
    auto build = options("driver 1");
    build.build = "7";
    EXPECT_EQ(Programs(build).get("key"), "(miss)");
    auto application = options("driver 1");
    application.application = "editor";
    EXPECT_EQ(Programs(application).get("key"), "(miss)");
    EXPECT_EQ(generations().size(), 4u);
}

TEST_F(ProgramCacheTest, AGenerationSaysWhatItIs) {
    auto build = options("driver 1\nlibGL abcd");
    build.build = "7";
    Programs programs(build);
    ASSERT_EQ(generations().size(), 1u);
    const std::string folder = directory_ / generations().front();
    EXPECT_EQ(fs::path(folder).filename().string().substr(0, 7), "engine-");
    EXPECT_EQ(cairn_test::as_string(cairn_test::read_file(folder + "/generation")),
              "Cairn generation\napplication: engine\nbuild: 7\n\ndriver 1\nlibGL abcd");
}

TEST_F(ProgramCacheTest, OpeningOneRemovesThoseThatNobodyUses) {
    EXPECT_EQ(Programs(options("driver 1")).put("key", "of 1"), CAIRN_OK);
    const std::string old = directory_ / generations().front();
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(31 * 24);
    fs::last_write_time(old + "/generation", long_ago);
    cairn_test::write_file(directory_ / ".upkeep", {});
    EXPECT_EQ(Programs(options("driver 2")).result(), CAIRN_OK);
    EXPECT_TRUE(fs::exists(old)) << "somebody has looked less than an hour ago";
    fs::last_write_time(directory_ / ".upkeep", long_ago);
    const Programs programs(options("driver 2"));
    for (int i = 0; i < 60'000 && fs::exists(old); ++i) cairn::sleep_us(1000);
    EXPECT_FALSE(fs::exists(old));
    EXPECT_EQ(Programs(options("driver 1")).get("key"), "(miss)");
}

// The directory's name says whose the entries are, and each file of the store agrees with it.
TEST_F(ProgramCacheTest, DamageToTheFileGenerationCostsNoEntry) {
    EXPECT_EQ(Programs(options()).put("key", "binary"), CAIRN_OK);
    const std::string file = directory_ / generations().front() + "/generation";
    const std::string text = "Cairn generation\nof somebody else";
    cairn_test::write_file(file, cairn_test::as_bytes(text));
    auto reader = options();
    reader.flags = CAIRN_OPEN_READ_ONLY;
    EXPECT_EQ(Programs(reader).get("key"), "binary");
    EXPECT_EQ(cairn_test::as_string(cairn_test::read_file(file)), text) << "it only reads";
    EXPECT_EQ(Programs(options()).get("key"), "binary");
    EXPECT_NE(cairn_test::as_string(cairn_test::read_file(file)), text);
}

TEST_F(ProgramCacheTest, EntriesAreNotServedUnderAnotherName) {
    EXPECT_EQ(Programs(options("driver 1")).put("key", "of 1"), CAIRN_OK);
    const std::string first = directory_ / generations().front();
    EXPECT_EQ(Programs(options("driver 2")).put("other key", "of 2"), CAIRN_OK);
    for (const std::string &name : generations()) {
        const std::string second = directory_ / name;
        if (second == first) continue;
        fs::remove_all(second);
        fs::rename(first, second);
    }
    auto reader = options("driver 2");
    reader.flags = CAIRN_OPEN_READ_ONLY;
    EXPECT_NE(Programs(reader).get("key"), "of 1");
    EXPECT_EQ(Programs(options("driver 2")).get("key"), "(miss)");
    EXPECT_EQ(Programs(options("driver 1")).get("key"), "(miss)");
}

TEST_F(ProgramCacheTest, ExactlyTheEntryThatADriverDiesWithIsDropped) {
    {
        const Programs programs(options());
        for (int i = 0; i < 20; ++i) programs.put("key" + std::to_string(i), "binary");
    }
    die_with("key7");
    LogLines log;
    auto logged = options();
    logged.log = LogLines::receive;
    logged.log_user = &log;
    {
        const Programs programs(logged);
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(programs.get("key" + std::to_string(i)), i == 7 ? "(miss)" : "binary");
        }
        EXPECT_EQ(programs.stats().crashes_dropped, 1u);
        EXPECT_EQ(programs.put("key7", "another"), CAIRN_OK);
        EXPECT_EQ(programs.get("key7"), "another");
    }
    ASSERT_EQ(log.complaints().size(), 1u);
    EXPECT_NE(log.complaints().front().find("6b657937"), std::string::npos) << "the key";

    die_with("key7");
    {
        const Programs programs(options());
        EXPECT_EQ(programs.get("key7"), "(miss)");
        EXPECT_EQ(programs.put("key7", "a third"), CAIRN_KEPT_OUT);
        EXPECT_EQ(programs.get("key7"), "(miss)");
        EXPECT_EQ(programs.stats().crashes_kept_out, 1u);
        EXPECT_EQ(programs.get("key8"), "binary");
    }
    EXPECT_EQ(Programs(options("driver 2")).put("key7", "of 2"), CAIRN_OK) << "another generation";
}

TEST_F(ProgramCacheTest, AnEntryThatADriverTookStays) {
    for (int round = 0; round < 3; ++round) {
        Child child([&] {
            const Programs programs(options());
            programs.put("key", "binary");
            cairn_use_end(programs.handle(), programs.begin_use("key"));
            programs.flush();
            raise(SIGKILL);
            return 2;
        });
        child.wait();
    }
    EXPECT_EQ(Programs(options()).get("key"), "binary");
}

TEST_F(ProgramCacheTest, TheLevelInMemoryIsExactlyTheLeastRecentlyUsed) {
    auto small = options();
    small.memory_bytes = 40;  // of entries of 20 bytes
    const Programs programs(small);
    for (const char *key : {"aa", "bb"}) programs.put(key, std::string(18, 'v'));
    EXPECT_EQ(programs.flush(), CAIRN_OK);
    programs.get("aa");
    programs.put("cc", std::string(18, 'v'));
    EXPECT_EQ(programs.stats().memory_bytes, 40u);
    EXPECT_EQ(programs.flush(), CAIRN_OK);
    const uint64_t hits = programs.stats().memory_hits;
    programs.get("aa");
    programs.get("cc");
    EXPECT_EQ(programs.stats().memory_hits, hits + 2);
    EXPECT_NE(programs.get("bb"), "(miss)") << "on disk";
    EXPECT_EQ(programs.stats().memory_hits, hits + 2);
    uint64_t freed = 0;
    EXPECT_EQ(cairn_trim(programs.handle(), 40, &freed), CAIRN_OK);
    EXPECT_EQ(freed, 0u);
    EXPECT_EQ(cairn_trim(programs.handle(), 39, &freed), CAIRN_OK);
    EXPECT_EQ(freed, 20u);
    EXPECT_EQ(cairn_resize(programs.handle(), 20, 20, nullptr), CAIRN_ERROR_UNSUPPORTED);
}

TEST_F(ProgramCacheTest, MemoryIsBoundByTheDefaultOrTheLimitWhereThatIsLess) {
    EXPECT_EQ(Programs(options()).stats().memory_limit_bytes, CAIRN_MEMORY_BYTES_DEFAULT);
    auto small = options();
    small.limit_bytes = 8u << 20;
    EXPECT_EQ(Programs(small).stats().memory_limit_bytes, 8u << 20);
    small.memory_bytes = 16u << 20;
    EXPECT_EQ(Programs(small).stats().memory_limit_bytes, 16u << 20);
    small.memory_bytes = CAIRN_NONE;
    EXPECT_EQ(Programs(small).stats().memory_limit_bytes, 0u);
}

// The table in cairn.h; tests/broker has the column of caches behind a broker.
TEST_F(ProgramCacheTest, EachKindOfCacheHasTheCallsOfTheTable) {
    cairn_options open = {};
    open.size = sizeof open;
    open.root = directory_.path().c_str();
    open.identifier = "plain";
    cairn_cache *disk = nullptr, *memory = nullptr;
    ASSERT_EQ(cairn_open(&open, &disk), CAIRN_OK);
    open.mode = CAIRN_MODE_MEMORY;
    ASSERT_EQ(cairn_open(&open, &memory), CAIRN_OK);
    const Programs programs(options());
    constexpr int kNo = CAIRN_ERROR_UNSUPPORTED;
    const auto expect = [&](const char *what, auto call, std::array<int, 3> results) {
        EXPECT_EQ(call(disk), results[0]) << what << " on disk";
        EXPECT_EQ(call(memory), results[1]) << what << " in memory";
        EXPECT_EQ(call(programs.handle()), results[2]) << what << " of a program cache";
    };
    cairn_blob *blob = nullptr;
    size_t size = 0;
    uint32_t ticket = 0;
    cairn_program_cache_stats of_programs = {};
    of_programs.size = sizeof of_programs;
    cairn_broker_stats of_broker = {};
    of_broker.size = sizeof of_broker;
    const auto within = [&](cairn_cache *c) { return cairn_get_within(c, "k", 1, 9999, &blob); };
    expect("get_within", within, {kNo, CAIRN_MISS, CAIRN_MISS});
    const auto range = [&](cairn_cache *c) { return cairn_clear_range(c, 0, 1, nullptr); };
    expect("clear_range", range, {CAIRN_OK, CAIRN_OK, CAIRN_OK});
    expect("trim", [](auto *c) { return cairn_trim(c, 0, nullptr); }, {kNo, CAIRN_OK, CAIRN_OK});
    const auto resize = [](cairn_cache *c) { return cairn_resize(c, 9, 9, nullptr); };
    expect("resize", resize, {kNo, CAIRN_OK, kNo});
    expect("flush", [](auto *c) { return cairn_flush(c, 9999); }, {CAIRN_OK, CAIRN_OK, CAIRN_OK});
    expect("sync", [](auto *c) { return cairn_sync(c); }, {CAIRN_OK, CAIRN_OK, CAIRN_OK});
    expect("compress", [](auto *c) { return cairn_compress(c); }, {CAIRN_OK, CAIRN_OK, CAIRN_OK});
    const auto nth = [&](auto *c) { return cairn_get_nth(c, 0, nullptr, 0, &size, &blob); };
    expect("get_nth", nth, {kNo, CAIRN_MISS, kNo});
    const auto use = [&](auto *c) { return cairn_use_begin(c, "k", 1, &ticket); };
    expect("use_begin", use, {kNo, kNo, CAIRN_OK});
    cairn_use_end(programs.handle(), ticket);
    const auto stats = [&](auto *c) { return cairn_program_cache_stats_get(c, &of_programs); };
    expect("program_cache_stats_get", stats, {kNo, kNo, CAIRN_OK});
    const auto broker = [&](auto *c) { return cairn_broker_stats_get(c, &of_broker); };
    expect("broker_stats_get", broker, {kNo, kNo, kNo});
    cairn_close(disk);
    cairn_close(memory);
}

TEST_F(ProgramCacheTest, WhatIsRemovedOrClearedIsGone) {
    const Programs programs(options());
    programs.put("a", "1");
    programs.put("b", "1");
    EXPECT_EQ(programs.remove("a"), CAIRN_OK);
    EXPECT_EQ(programs.remove("a"), CAIRN_MISS);
    EXPECT_EQ(programs.get("a"), "(miss)");
    EXPECT_EQ(cairn_clear(programs.handle()), CAIRN_OK);
    EXPECT_EQ(programs.get("b"), "(miss)");
    EXPECT_EQ(programs.flush(), CAIRN_OK);
    EXPECT_EQ(Programs(options()).get("a"), "(miss)");
    EXPECT_EQ(Programs(options()).get("b"), "(miss)");
}

TEST_F(ProgramCacheTest, WhatOthersClearIsGoneFromMemory) {
    const Programs programs(options());
    programs.put("a", "1");
    programs.flush();
    EXPECT_EQ(programs.get("a"), "1");
    {
        cairn_test::Cache tool = open_tool();
        EXPECT_EQ(tool.clear(), CAIRN_OK);
    }
    EXPECT_EQ(programs.get("a"), "(miss)");
    EXPECT_EQ(programs.put("a", "2"), CAIRN_OK);
    EXPECT_EQ(programs.get("a"), "2");
}

// The index that this program has open is not the one that the tool clears.
TEST_F(ProgramCacheTest, WhatOthersClearInAnotherIndexIsGoneFromMemory) {
    const Programs programs(options());
    programs.put("a", "1");
    programs.flush();
    EXPECT_EQ(programs.get("a"), "1");
    {
        cairn_test::Cache tool = open_tool();
        EXPECT_TRUE(tool.make_index_anew());
        EXPECT_EQ(programs.get("a"), "1");
        EXPECT_EQ(tool.clear(), CAIRN_OK);
    }
    EXPECT_EQ(programs.get("a"), "(miss)");
}

TEST_F(ProgramCacheTest, ATimeRangeIsClearedForEverybody) {
    const Programs programs(options());
    const Programs other(options());
    const auto now_ms = [] { return cairn::wall_clock_ns() / 1'000'000; };
    programs.put("old", "1");
    programs.flush();
    EXPECT_EQ(other.get("old"), "1");
    cairn::sleep_us(3000);
    const uint64_t begin = now_ms();
    cairn::sleep_us(3000);
    programs.put("mid", "1");
    programs.flush();
    EXPECT_EQ(other.get("mid"), "1");
    cairn::sleep_us(3000);
    const uint64_t end = now_ms();
    cairn::sleep_us(3000);
    programs.put("new", "1");
    uint64_t removed = 0;
    EXPECT_EQ(cairn_clear_range(programs.handle(), begin, end, &removed), CAIRN_OK);
    EXPECT_EQ(removed, 1u);
    for (const Programs *each : {&programs, &other}) {
        EXPECT_EQ(each->get("old"), "1");
        EXPECT_EQ(each->get("mid"), "(miss)");
        EXPECT_EQ(each->get("new"), "1");
    }
    EXPECT_EQ(cairn_clear_range(programs.handle(), begin, begin, &removed), CAIRN_OK);
    EXPECT_EQ(removed, 0u);
    EXPECT_EQ(cairn_clear_range(programs.handle(), 0, UINT64_MAX, &removed), CAIRN_OK);
    EXPECT_EQ(removed, 2u);
    EXPECT_EQ(cairn_clear_range(programs.handle(), 2, 1, &removed), CAIRN_ERROR_INVALID_ARGUMENT);
}

TEST_F(ProgramCacheTest, IfAbsentIsDecidedBeforeThePutReturns) {
    const Programs programs(options());
    EXPECT_EQ(programs.put("a", "1"), CAIRN_OK);
    EXPECT_EQ(programs.put("a", "2", CAIRN_PUT_IF_ABSENT), CAIRN_EXISTS);
    EXPECT_EQ(programs.put("b", "2", CAIRN_PUT_IF_ABSENT), CAIRN_OK);
    const Programs other(options());
    EXPECT_EQ(other.put("b", "3", CAIRN_PUT_IF_ABSENT), CAIRN_EXISTS);
    EXPECT_EQ(other.get("b"), "2");
}

// As after an eviction, or a removal by others.
TEST_F(ProgramCacheTest, WhatIsInMemoryOnlyIsRemovedAndCleared) {
    const Programs programs(options());
    const Programs other(options());
    const auto put_in_memory_only = [&] {
        EXPECT_EQ(programs.put("a", "1"), CAIRN_OK);
        EXPECT_EQ(programs.flush(), CAIRN_OK);
        EXPECT_EQ(other.remove("a"), CAIRN_OK);
        EXPECT_EQ(programs.get("a"), "1");
    };
    put_in_memory_only();
    EXPECT_EQ(programs.remove("a"), CAIRN_OK);
    EXPECT_EQ(programs.remove("a"), CAIRN_MISS);
    put_in_memory_only();
    EXPECT_EQ(cairn_clear_range(other.handle(), 0, UINT64_MAX, nullptr), CAIRN_OK);
    EXPECT_EQ(programs.get("a"), "(miss)");
}

TEST_F(ProgramCacheTest, AReaderWritesNothing) {
    auto reader = options();
    reader.flags = CAIRN_OPEN_READ_ONLY;
    EXPECT_EQ(Programs(reader).result(), CAIRN_ERROR_NOT_FOUND);
    EXPECT_TRUE(generations().empty());
    EXPECT_EQ(Programs(options()).put("a", "1"), CAIRN_OK);
    const Programs programs(reader);
    EXPECT_EQ(programs.get("a"), "1");
    EXPECT_EQ(programs.put("b", "1"), CAIRN_ERROR_READ_ONLY);
    EXPECT_EQ(programs.remove("a"), CAIRN_ERROR_READ_ONLY);
    uint32_t ticket = 0;
    EXPECT_EQ(cairn_use_begin(programs.handle(), "a", 1, &ticket), CAIRN_ERROR_UNSUPPORTED);
    cairn_use_end(programs.handle(), ticket);
}

TEST_F(ProgramCacheTest, BadArgumentsAreRefused) {
    cairn_cache *cache = nullptr;
    const auto refused = [&](const cairn_program_cache_options &given) {
        EXPECT_EQ(cairn_program_cache_open(&given, &cache), CAIRN_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(cache, nullptr);
    };
    auto bad = options();
    bad.size = 0;
    refused(bad);
    for (const char *application :
         {"", ".hidden", "a/b", "a b", static_cast<const char *>(nullptr)}) {
        bad = options();
        bad.size = sizeof bad;
        bad.application = application;
        refused(bad);
    }
    const std::string long_name(65, 'a');
    const std::string long_identity(CAIRN_IDENTITY_SIZE_MAX + 1, 'i');
    bad = options();
    bad.size = sizeof bad;
    bad.application = long_name.c_str();
    refused(bad);
    for (const char *identity : {"", long_identity.c_str(), static_cast<const char *>(nullptr)}) {
        bad = options(identity);
        bad.size = sizeof bad;
        refused(bad);
    }
    bad = options();
    bad.size = sizeof bad;
    bad.build = "two\nlines";
    refused(bad);
    bad = options();
    bad.size = sizeof bad;
    bad.flags = CAIRN_OPEN_REFUSE_WHEN_FULL;
    refused(bad);
    EXPECT_EQ(cairn_program_cache_open(nullptr, &cache), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_flush(nullptr, 0), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_use_begin(nullptr, "a", 1, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    cairn_use_end(nullptr, 0);
    EXPECT_TRUE(generations().empty());
}

}  // namespace
