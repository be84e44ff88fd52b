// Packs under caches, by the calls of the C interface: the table of docs/formats/pack.md, "What hides an
// entry", a test for each cell.
// SPDX-License-Identifier: MIT
#include "capi/testing/layers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/layered_cache.h"
#include "os/testing/failing_calls.h"
#include "support/eventually.h"
#include "support/process.h"

namespace {

namespace fs = std::filesystem;
using cairn::testing::Call;
using cairn::testing::FailingCalls;
using cairn::testing::Fault;
using cairn::testing::kAbsent;
using cairn::testing::Layered;
using cairn::testing::LayersTest;
using cairn::testing::PackedPart;
using cairn::testing::write_pack;
using cairn_test::Child;
using cairn_test::LogLines;

TEST_F(LayersTest, WhatTheCacheDoesNotHaveALayerAnswers) {
    const Layered cache(given());
    ASSERT_EQ(cache.result(), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(cache.get_into("a"), "of the pack");
    EXPECT_EQ(cache.get("c"), "");
    EXPECT_EQ(cache.contains("a"), CAIRN_OK);
    EXPECT_EQ(cache.get("d"), kAbsent);
    EXPECT_EQ(cache.contains("d"), CAIRN_MISS);
    const cairn_stats stats = cache.stats();
    EXPECT_EQ(stats.layers, 1u);
    EXPECT_EQ(stats.layer_entries, 3u);
    EXPECT_EQ(stats.layer_hits, 3u);
    EXPECT_EQ(stats.hits, 3u);
    EXPECT_EQ(stats.misses, 1u);
    EXPECT_EQ(stats.entries, 0u);
}

TEST_F(LayersTest, TheyAreLookedForAtTheFirstMissAndNotForAHit) {
    EXPECT_EQ(Layered(given()).put("own", "value"), CAIRN_OK);
    fs::remove(pack_);
    const Layered cache(given());
    EXPECT_EQ(cache.get("own"), "value");
    EXPECT_EQ(cache.get_into("own"), "value");
    write_pack(pack_, {part_});
    EXPECT_EQ(cache.get("a"), "of the pack");
    const cairn_stats stats = cache.stats();
    EXPECT_EQ(stats.misses, 0u);
    EXPECT_EQ(stats.layers, 1u);
}

TEST_F(LayersTest, APutGoesBeforeALayerAndHidesItsEntry) {
    {
        const Layered cache(given());
        EXPECT_EQ(cache.put("a", "newer"), CAIRN_OK);
        EXPECT_EQ(cache.get("a"), "newer");
        EXPECT_EQ(cache.get("b"), "also");
    }
    // As if it had been evicted.
    for (const std::string &file : cairn_test::files_in(root_ + "/example", ".val")) {
        fs::remove(file);
    }
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
    EXPECT_EQ(Layered(given()).get("b"), "also");
}

TEST_F(LayersTest, APutIfAbsentFindsTheEntryOfALayer) {
    const Layered cache(given());
    EXPECT_EQ(cache.put("a", "other", CAIRN_PUT_IF_ABSENT), CAIRN_EXISTS);
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(cache.put("d", "other", CAIRN_PUT_IF_ABSENT), CAIRN_OK);
    EXPECT_EQ(cache.remove("a"), CAIRN_OK);
    EXPECT_EQ(cache.put("a", "other", CAIRN_PUT_IF_ABSENT), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), "other");
}

TEST_F(LayersTest, ARemovedEntryStaysAwayForAllProcesses) {
    const Layered other(given());
    EXPECT_EQ(other.get("a"), "of the pack");
    {
        const Layered cache(given());
        EXPECT_EQ(cache.remove("a"), CAIRN_OK);
        EXPECT_EQ(cache.remove("a"), CAIRN_MISS);
        EXPECT_EQ(cache.get("a"), kAbsent);
        EXPECT_EQ(cache.get_into("a"), kAbsent);
        EXPECT_EQ(cache.contains("a"), CAIRN_MISS);
    }
    EXPECT_EQ(other.get("a"), kAbsent);
    EXPECT_EQ(other.get("b"), "also");
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
}

TEST_F(LayersTest, EvictingLeavesLayersAlone) {
    Layered::Given small = given();
    small.limit_bytes = 1u << 20;
    const Layered cache(small);
    const std::string value(20'000, 'v');
    for (int i = 0; i < 300; ++i) ASSERT_EQ(cache.put("k" + std::to_string(i), value), CAIRN_OK);
    // A thread makes room meanwhile, and may have had no processor yet.
    int compressed = CAIRN_ERROR_FULL;
    EXPECT_TRUE(cairn_test::eventually(
        [&] { return (compressed = cairn_compress(cache.handle())) != CAIRN_ERROR_FULL; }));
    EXPECT_EQ(compressed, CAIRN_OK);
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(cache.stats().layer_hits, 1u);
}

TEST_F(LayersTest, AnotherVersionIsNotSeen) {
    Layered::Given other = given();
    other.version = 2;
    EXPECT_EQ(Layered(other).get("a"), kAbsent);
    EXPECT_EQ(Layered(other).stats().layers, 0u);
}

TEST_F(LayersTest, AnEntryIsHiddenUntilThePackHasOtherEntries) {
    EXPECT_EQ(Layered(given()).remove("a"), CAIRN_OK);
    write_pack(pack_, {part_}, "The same entries with another text");
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
    PackedPart newer = part_;
    newer.entries["b"] = "changed";
    write_pack(pack_, {newer});
    EXPECT_EQ(Layered(given()).get("a"), "of the pack");
    EXPECT_EQ(Layered(given()).get("b"), "changed");
}

TEST_F(LayersTest, TheFirstLayerGoesBeforeTheOthers) {
    const std::string second = directory_.path() + "/b.pack";
    write_pack(second, {{"example", 1, "", {{"a", "of the second"}, {"d", "of the second"}}}});
    Layered::Given both = given();
    both.paths.push_back(second);
    const Layered cache(both);
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(cache.get("d"), "of the second");
    EXPECT_EQ(cache.remove("a"), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), kAbsent) << "the entry of the second comes through";
}

TEST_F(LayersTest, InstalledPacksAreFound) {
    Layered::Given none = given();
    none.paths = {};
    EXPECT_EQ(Layered(none).get("a"), kAbsent);
    fs::create_directories(root_ + "/.packs/example");
    write_pack(root_ + "/.packs/example/user.pack", {{"example", 1, "", {{"a", "user's"}}}});
    fs::create_directories(directory_.path() + "/system/example");
    write_pack(directory_.path() + "/system/example/system.pack",
               {{"example", 1, "", {{"a", "system's"}, {"b", "system's"}}}});
    EXPECT_EQ(Layered(none).get("a"), "user's");
    EXPECT_EQ(Layered(none).get("b"), "system's");
    Layered::Given refused = none;
    refused.flags = CAIRN_OPEN_NO_LAYERS;
    EXPECT_EQ(Layered(refused).get("a"), kAbsent);
}

TEST_F(LayersTest, APackThatOthersMayWriteIsRefusedAndTheLogSaysWhy) {
    const auto refused = [&] {
        LogLines log;
        Layered::Given with_log = given();
        with_log.log = &log;
        EXPECT_EQ(Layered(with_log).get("a"), kAbsent);
        return log.complaints().size() == 1 &&
               log.complaints()[0].find("others may write") != std::string::npos;
    };
    ASSERT_EQ(::chmod(pack_.c_str(), 0666), 0);
    EXPECT_TRUE(refused());
    ASSERT_EQ(::chmod(pack_.c_str(), 0644), 0);
    EXPECT_EQ(Layered(given()).get("a"), "of the pack");
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0777), 0);
    EXPECT_TRUE(refused());
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0700), 0);
}

TEST_F(LayersTest, AFileThatIsNoPackIsPassedOver) {
    cairn_test::write_file(pack_, cairn_test::as_bytes("no pack"));
    LogLines log;
    Layered::Given with_log = given();
    with_log.log = &log;
    EXPECT_EQ(Layered(with_log).get("a"), kAbsent);
    EXPECT_EQ(log.complaints().size(), 1u);
    Layered::Given nowhere = given();
    nowhere.paths = {directory_.path() + "/none.pack"};
    EXPECT_EQ(Layered(nowhere).result(), CAIRN_OK);
}

TEST_F(LayersTest, APathThatIsNullIsAnInvalidArgument) {
    const char *paths[] = {pack_.c_str(), nullptr};
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root_.c_str();
    options.identifier = "example";
    options.layers = paths;
    options.layer_count = 2;
    cairn_cache *cache = nullptr;
    EXPECT_EQ(cairn_open(&options, &cache), CAIRN_ERROR_INVALID_ARGUMENT);
    options.layers = nullptr;
    EXPECT_EQ(cairn_open(&options, &cache), CAIRN_ERROR_INVALID_ARGUMENT);
}

TEST_F(LayersTest, AReaderHasLayersAndChangesNothing) {
    EXPECT_EQ(Layered(given()).remove("b"), CAIRN_OK);
    Layered::Given reading = given();
    reading.flags = CAIRN_OPEN_READ_ONLY;
    const Layered cache(reading);
    ASSERT_EQ(cache.result(), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(cache.get("b"), kAbsent);
    EXPECT_EQ(cache.remove("a"), CAIRN_ERROR_READ_ONLY);
    EXPECT_EQ(cache.get("a"), "of the pack");
}

TEST_F(LayersTest, WithoutADiskThereAreLayersAndMemory) {
    fs::create_directories(root_);
    FailingCalls calls;
    Fault fault;
    fault.error = EROFS;
    fault.extent = Fault::Extent::from_then_on;
    fault.only = Call::mkdirat;
    calls.arm(fault);
    const Layered cache(given());
    Layered::Given without = given();
    without.paths = {};
    EXPECT_EQ(Layered(without).result(), CAIRN_ERROR_READ_ONLY);
    calls.disarm();
    ASSERT_EQ(cache.result(), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), "of the pack");
    EXPECT_EQ(cache.put("a", "own"), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), "own");
    EXPECT_EQ(cache.remove("a"), CAIRN_OK);
    EXPECT_EQ(cache.get("a"), kAbsent);
    EXPECT_EQ(cache.get("b"), "also");
    EXPECT_EQ(cairn_clear(cache.handle()), CAIRN_OK);
    EXPECT_EQ(cache.get("b"), kAbsent);
    EXPECT_FALSE(fs::exists(root_ + "/example"));
}

// Nothing that a layer needs for hiding is left to be had when the disk is full.
TEST_F(LayersTest, HidingNeedsNoSpace) {
    const Layered cache(given());
    EXPECT_EQ(cache.get("d"), kAbsent);  // the first miss makes the layer's file
    FailingCalls calls;
    for (const Call call : {Call::fallocate, Call::openat, Call::ftruncate}) {
        Fault fault;
        fault.error = ENOSPC;
        fault.extent = Fault::Extent::from_then_on;
        fault.only = call;
        calls.arm(fault);
        EXPECT_EQ(cache.remove(call == Call::openat      ? "b"
                               : call == Call::fallocate ? "a"
                                                         : "c"),
                  CAIRN_OK);
        calls.disarm();
    }
    EXPECT_EQ(cache.get("a"), kAbsent);
    EXPECT_EQ(cache.get("b"), kAbsent);
}

TEST_F(LayersTest, ThreadsThatMeetANewPackAtOnceAllFindItsEntries) {
    (void)Layered({root_, {}}).put("own", "value");
    for (unsigned round = 0; round < 200; ++round) {
        forget_layers();
        std::atomic<unsigned> missed = 0;
        std::vector<std::thread> threads(4);
        for (std::thread &thread : threads) {
            thread = std::thread([&] { missed += Layered(given()).get("a") == kAbsent ? 1u : 0u; });
        }
        for (std::thread &thread : threads) thread.join();
        ASSERT_EQ(missed, 0u) << round;
    }
}

TEST_F(LayersTest, WhereEntriesCouldNotBeHiddenALayerIsNotUsed) {
    (void)Layered({root_, {}}).put("own", "value");
    for (uint64_t first = 1;; ++first) {
        forget_layers();
        FailingCalls calls;
        Fault fault;
        fault.error = ENOSPC;
        fault.extent = Fault::Extent::from_then_on;
        fault.first = first;
        calls.arm(fault);
        const Layered cache(given());
        const bool is_used = cache.get("a") != kAbsent;
        calls.disarm();
        if (is_used) {
            EXPECT_EQ(cache.remove("a"), CAIRN_OK);
            EXPECT_EQ(cache.get("a"), kAbsent);
        }
        if (calls.failures() == 0) break;
        ASSERT_LT(first, 500u);
    }
    EXPECT_TRUE(cairn_test::files_in(root_ + "/example", ".tmp").empty());
}

TEST_F(LayersTest, ADamagedLayerFileHidesEverythingAndHarmsNobody) {
    (void)Layered(given()).get("a");
    std::string file;
    for (const std::string &each : cairn_test::files_in(root_ + "/example")) {
        if (each.find("layer-") != std::string::npos) file = each;
    }
    ASSERT_FALSE(file.empty());
    cairn_test::cut(file, 10);
    EXPECT_EQ(Layered(given()).get("a"), kAbsent);
    EXPECT_EQ(Layered(given()).remove("a"), CAIRN_MISS);
    EXPECT_EQ(Layered(given()).put("a", "own"), CAIRN_OK);
    EXPECT_EQ(Layered(given()).get("a"), "own");
    EXPECT_EQ(cairn_clear(Layered(given()).handle()), CAIRN_OK);
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_EQ(Layered(given()).get("a"), "of the pack");
}

TEST_F(LayersTest, ALayerWhoseEntriesAreRefusedOneAfterTheOtherIsDropped) {
    PackedPart part = {"example", 1, "", {}};
    for (int i = 0; i < 30; ++i) part.entries["k" + std::to_string(i)] = "refused";
    write_pack(pack_, {part});
    const auto refused = [](const Layered &cache, int from, int to, int accepted) {
        int count = 0;
        for (int i = from; i < to; ++i) {
            const std::string key = "k" + std::to_string(i);
            if (cache.get(key) != "refused") continue;
            ++count;
            if (i == accepted) continue;
            EXPECT_EQ(cache.remove(key), CAIRN_OK);
            EXPECT_EQ(cache.put(key, "compiled"), CAIRN_OK);
        }
        return count;
    };
    constexpr int kMax = cairn::LayeredCache::kRefusalsMax;
    LogLines log;
    Layered::Given with_log = given();
    with_log.log = &log;
    {
        const Layered cache(with_log);
        EXPECT_EQ(refused(cache, 0, 30, -1), kMax);
        EXPECT_EQ(log.complaints().size(), 1u);
    }
    const Layered again(given());
    EXPECT_EQ(refused(again, kMax, 30, kMax + 3), kMax + 4) << "another process tries again";
}

TEST_F(LayersTest, OverwritingWhatNobodyReadDropsNothing) {
    PackedPart part = {"example", 1, "", {}};
    for (int i = 0; i < 30; ++i) part.entries["k" + std::to_string(i)] = "of the pack";
    write_pack(pack_, {part});
    const Layered cache(given());
    for (int i = 0; i < 20; ++i) ASSERT_EQ(cache.put("k" + std::to_string(i), "own"), CAIRN_OK);
    EXPECT_EQ(cache.get("k25"), "of the pack");
}

TEST_F(LayersTest, FiftyProcessesReadAPackWhileItIsReplacedAndRemoved) {
    const auto part_of = [](int generation) {
        PackedPart part = {"example", 1, "", {}};
        for (int i = 0; i < 40; ++i) {
            part.entries["k" + std::to_string(i)] =
                "k" + std::to_string(i) + " " +
                std::string(200, static_cast<char>('a' + generation % 26));
        }
        return part;
    };
    write_pack(pack_, {part_of(0)});
    std::vector<std::unique_ptr<Child>> readers;
    for (int n = 0; n < 50; ++n) {
        readers.push_back(std::make_unique<Child>([&] {
            for (int round = 0; round < 100; ++round) {
                const Layered cache(given());
                if (cache.result() != CAIRN_OK) return 1;
                for (int i = 0; i < 40; ++i) {
                    const std::string key = "k" + std::to_string(i);
                    const std::string value = cache.get(key);
                    if (value == kAbsent) continue;
                    const bool is_right =
                        value.starts_with(key + " ") && value.size() == key.size() + 201 &&
                        value.find_first_not_of(value.back(), key.size() + 1) == std::string::npos;
                    if (!is_right) return 2;
                }
            }
            return 0;
        }));
    }
    const auto are_done = [&] {
        return std::all_of(readers.begin(), readers.end(),
                           [](const auto &reader) { return reader->ended(); });
    };
    for (int generation = 1; generation < 60 || !are_done(); ++generation) {
        if (generation % 7 == 0) fs::remove(pack_);
        if (generation % 5 == 0 && fs::exists(pack_)) fs::resize_file(pack_, 9000);
        write_pack(pack_, {part_of(generation)});
    }
    for (auto &reader : readers) {
        EXPECT_EQ(cairn_test::describe_status(reader->wait()), "");
    }
}

TEST_F(LayersTest, TwoProcessesThatHideAtOnceLoseNothing) {
    PackedPart part = {"example", 1, "", {}};
    for (int i = 0; i < 400; ++i) part.entries["k" + std::to_string(i)] = "value";
    write_pack(pack_, {part});
    const auto hide = [&](int from) {
        return std::make_unique<Child>([this, from] {
            const Layered cache(given());
            for (int i = from; i < 400; i += 2) {
                if (cache.remove("k" + std::to_string(i)) != CAIRN_OK) return 1;
            }
            return 0;
        });
    };
    const auto even = hide(0), odd = hide(1);
    EXPECT_EQ(cairn_test::describe_status(even->wait()), "");
    EXPECT_EQ(cairn_test::describe_status(odd->wait()), "");
    const Layered cache(given());
    for (int i = 0; i < 400; ++i) EXPECT_EQ(cache.get("k" + std::to_string(i)), kAbsent);
}

TEST_F(LayersTest, WhatWasRemovedStaysAwayAfterAKill) {
    PackedPart part = {"example", 1, "", {}};
    for (int i = 0; i < 200; ++i) part.entries["k" + std::to_string(i)] = "value";
    write_pack(pack_, {part});
    int removed = 0;
    for (int round = 0; round < 5; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        Child child([&] {
            const Layered cache(given());
            for (int i = removed; i < 200; ++i) {
                if (cache.remove("k" + std::to_string(i)) < 0) return 1;
                const char byte = 0;
                (void)!::write(ends[1], &byte, 1);
            }
            return 0;
        });
        ::close(ends[1]);
        char bytes[200];
        ssize_t size = ::read(ends[0], bytes, 20);
        child.kill();
        for (; size > 0; size = ::read(ends[0], bytes, sizeof bytes)) {
            removed += static_cast<int>(size);
        }
        ::close(ends[0]);
        const Layered cache(given());
        for (int i = 0; i < removed; ++i) {
            ASSERT_EQ(cache.get("k" + std::to_string(i)), kAbsent) << i;
        }
    }
    EXPECT_GT(removed, 0);
}

}  // namespace
