// SPDX-License-Identifier: MIT
#include "cache/generations.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cache/crash_memory.h"
#include "cache/program_cache.h"
#include "cache/testing/generations_fixture.h"
#include "history/history.h"
#include "os/environment.h"
#include "os/system_calls.h"
#include "recipe/recipe.h"
#include "store/formats.h"
#include "store/index_format.h"
#include "store/space.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

TEST_F(GenerationsTest, WhatNobodyHasUsedForLongIsRemoved) {
    const std::string old = make("engine", "driver 1", 31);
    const std::string recent = make("engine", "driver 2", 29);
    const std::string from_the_future = make("engine", "driver 3", 0);
    remove_superseded();
    EXPECT_FALSE(exists(old));
    EXPECT_TRUE(exists(recent));
    EXPECT_TRUE(exists(from_the_future));
    for (const auto &entry : fs::directory_iterator(directory_.path())) {
        EXPECT_FALSE(entry.path().filename().string().starts_with(".removed")) << entry.path();
    }
}

TEST_F(GenerationsTest, WhatIsOpenIsNotRemoved) {
    const std::string identifier = make("engine", "driver 1", 0);
    const auto user = open("engine", "driver 1");
    age(identifier, 100);
    remove_superseded(0);
    EXPECT_TRUE(exists(identifier));
    const auto found = user->get(as_bytes("key"));
    EXPECT_TRUE(found.ok() && found.value());
}

// As one that has closed all its descriptors, and with them the lock of the cache.
TEST_F(GenerationsTest, WhoHasFilesOfARemovedOneMappedLivesOn) {
    const std::string identifier = make("engine", "driver 1", 100);
    EXPECT_EQ(
        cairn_test::run_in_child(
            60,
            [&] {
                const auto history = History::open({directory_.path(), identifier, 1, 64u << 20});
                const auto crashes = CrashMemory::open(root().open_directory(identifier).value());
                if (!history.ok() || !crashes.ok()) return 1;
                history.value()->note({1, 2, 3, 4}, true);
                remove_superseded();
                if (exists(identifier)) return 2;
                (void)crashes.value()->begin_use(as_bytes("key"));
                history.value()->note({1, 2, 3, 4}, true);
                return history.value()->find({1, 2, 3, 4}).how == Seen::How::never ? 0 : 3;
            }),
        "");
}

TEST_F(GenerationsTest, OpeningItAgainKeepsIt) {
    const std::string identifier = make("engine", "driver 1", 100);
    (void)open("engine", "driver 1");
    remove_superseded();
    EXPECT_TRUE(exists(identifier));
}

TEST_F(GenerationsTest, RecipesGoWithTheLastOtherGenerationOfTheirApplication) {
    const std::string recipes = make("engine", recipe::kIdentity, 300);
    const std::string driver = make("engine", "driver 1", 29);
    const std::string others = make("editor", recipe::kIdentity, 31);
    remove_superseded();
    EXPECT_TRUE(exists(recipes));
    EXPECT_TRUE(exists(driver));
    EXPECT_FALSE(exists(others)) << "another application's use does not count";
    age(driver, 31);
    remove_superseded();
    EXPECT_FALSE(exists(recipes));
    EXPECT_FALSE(exists(driver));
}

TEST_F(GenerationsTest, RecipesThatWereJustRecordedAreNotTheLatestGeneration) {
    constexpr std::size_t kMiB = 1u << 20;
    const std::string old = make("game", "driver 1", 9, 4 * kMiB);
    const std::string latest = make("game", "driver 2", 8, 4 * kMiB);
    const std::string recipes = make("game", recipe::kIdentity, 0, kMiB);
    remove_superseded(8 * kMiB);
    EXPECT_FALSE(exists(old));
    EXPECT_TRUE(exists(latest));
    EXPECT_TRUE(exists(recipes));
    // Not even one of them has room: both lose entries, and none goes.
    remove_superseded(kMiB);
    EXPECT_TRUE(exists(latest));
    EXPECT_TRUE(exists(recipes));
}

TEST_F(GenerationsTest, RecipesAreRemovedAfterOlderGenerationsHoweverLongAgoTheyWereRecorded) {
    constexpr std::size_t kMiB = 1u << 20;
    const std::string recipes = make("game", recipe::kIdentity, 29, kMiB);
    const std::string old = make("game", "driver 1", 9, 4 * kMiB);
    const std::string latest = make("game", "driver 2", 8, 4 * kMiB);
    remove_superseded(8 * kMiB);
    EXPECT_FALSE(exists(old));
    EXPECT_TRUE(exists(latest));
    EXPECT_TRUE(open("game", recipe::kIdentity)->contains(as_bytes("key")).value());
}

TEST_F(GenerationsTest, OnlyTheIdentityOfRecipesIsThatOfRecipes) {
    EXPECT_TRUE(is_of_recipes(describe({"engine", "1.2", recipe::kIdentity})));
    EXPECT_FALSE(is_of_recipes(describe({"engine", "", "driver 1"})));
    EXPECT_FALSE(is_of_recipes(describe({"engine", "", std::string(recipe::kIdentity) + "x"})));
    EXPECT_FALSE(is_of_recipes(recipe::kIdentity));
    EXPECT_FALSE(is_of_recipes(""));
}

TEST_F(GenerationsTest, OtherCachesAreLeftAlone) {
    StoreOptions options;
    options.root = directory_.path();
    options.identifier = "engine-0123456789abcdef";
    options.limit_bytes = 1u << 20;
    EXPECT_TRUE(Store::open(options).ok());
    // It claims to be what it is not.
    const std::string wrong = make("engine", "driver 1", 100);
    fs::rename(directory_ / wrong, directory_ / "editor-0123456789abcdef");
    remove_superseded(0);
    EXPECT_TRUE(exists("engine-0123456789abcdef"));
    EXPECT_TRUE(exists("editor-0123456789abcdef"));
}

TEST_F(GenerationsTest, OneApplicationCannotFlushTheOthers) {
    constexpr std::size_t kMiB = 1u << 20;
    std::vector<std::string> games;
    for (unsigned i = 0; i < 4; ++i) {
        games.push_back(make("game", std::to_string(i), 8 - i, 4 * kMiB));
    }
    const std::string small = make("editor", "driver 1", 20, kMiB);
    const auto all = list_generations(root());
    ASSERT_EQ(all.size(), 5u);
    std::uint64_t total = 0;
    for (const KnownGeneration &each : all) total += each.bytes;
    remove_superseded(total - 1);
    EXPECT_FALSE(exists(games[0])) << "the game's least recently used one";
    EXPECT_TRUE(exists(games[1]));
    EXPECT_TRUE(exists(small)) << "although it was used before";
    remove_superseded(total / 2);
    EXPECT_FALSE(exists(games[2]));
    EXPECT_TRUE(exists(games[3]));
    EXPECT_TRUE(exists(small));
}

TEST_F(GenerationsTest, AnApplicationWithALimitOfItsOwnHasThatWhateverTheOthersShare) {
    constexpr std::size_t kMiB = 1u << 20;
    const std::string oldest = make("game", "driver 1", 8, 4 * kMiB);
    const std::string older = make("game", "driver 2", 7, 4 * kMiB);
    const std::string latest = make("game", "driver 3", 0, 4 * kMiB);
    const std::string editor = make("editor", "driver 1", 5, 4 * kMiB);
    const std::string viewer = make("viewer", "driver 1", 6, kMiB);
    (void)open("game", "driver 3", 64 * kMiB);
    remove_superseded(8 * kMiB);
    for (const std::string &each : {oldest, older, latest, editor, viewer}) {
        EXPECT_TRUE(exists(each)) << each;
    }
    (void)open("game", "driver 3", 10 * kMiB);
    remove_superseded(kPlenty);
    EXPECT_FALSE(exists(oldest));
    EXPECT_TRUE(exists(older));
    EXPECT_TRUE(exists(latest));
    // Nobody says anything any more: it has its share again.
    (void)open("game", "driver 3");
    remove_superseded(8 * kMiB);
    EXPECT_FALSE(exists(older));
    EXPECT_TRUE(exists(latest));
    EXPECT_TRUE(exists(viewer));
}

TEST_F(GenerationsTest, AFileOfALimitThatCannotBeUnderstoodIsNone) {
    for (const char *text : {"", "12", "12\n\n", "x\n", "99999999999999999999\n", "-1\n"}) {
        cairn_test::write_file(directory_ / "limit", cairn_test::as_bytes(std::string(text)));
        EXPECT_EQ(recorded_limit(root()), std::nullopt) << text;
    }
    EXPECT_TRUE(record_limit(root(), 12));
    EXPECT_EQ(recorded_limit(root()), 12);
    EXPECT_FALSE(record_limit(root(), 12));
    EXPECT_TRUE(record_limit(root(), std::nullopt));
    EXPECT_EQ(recorded_limit(root()), std::nullopt);
}

// By default one cache may be as large as all together: it must not go as a whole.
TEST_F(GenerationsTest, TheLatestOfAnApplicationIsMadeSmaller) {
    constexpr std::size_t kMiB = 1u << 20;
    constexpr int kEntries = 200;
    const std::string value(kMiB / 20, 'v');
    std::string game;
    {
        const auto cache = open("game", "driver 1");
        game = cache->place()->identifier;
        for (int i = 0; i < kEntries; ++i) {
            ASSERT_TRUE(cache->put(as_bytes(std::to_string(i)), as_bytes(value), {}).ok());
        }
        remove_superseded(5 * kMiB);
        EXPECT_EQ(cache->stats().entries, std::uint64_t{kEntries}) << "it is open";
    }
    const std::string small = make("editor", "driver 1", 20, kMiB);
    remove_superseded(5 * kMiB);
    std::uint64_t total = 0;
    for (const KnownGeneration &each : list_generations(root())) total += each.bytes;
    EXPECT_LE(total, 5 * kMiB);
    EXPECT_TRUE(open("editor", "driver 1")->contains(as_bytes("key")).value());
    ASSERT_TRUE(exists(game));
    const std::uint64_t left = open("game", "driver 1")->stats().entries;
    EXPECT_GT(left, 30u);
    EXPECT_LT(left, 100u);
}

TEST_F(GenerationsTest, WhatAKilledProcessLeftIsDeleted) {
    fs::create_directory(directory_ / ".removed-engine-1");
    cairn_test::write_file(directory_ / ".removed-engine-1/00.val", cairn_test::as_bytes("x"));
    remove_superseded();
    EXPECT_FALSE(exists(".removed-engine-1"));
}

// Clients of a broker that has ended may have the index mapped, without a lock. Nobody maps
// segments.
TEST_F(GenerationsTest, OfWhatIsRemovedTheIndexStaysWholeAndSegmentsHoldNoBlocks) {
    const std::string old = make("engine", "driver 1", 31);
    const auto directory = Directory::open(cairn_test::store_files(directory_ / old));
    const auto index = directory->open_file(kIndexFileName, Access::read_only);
    const auto segments = cairn_test::files_in(directory_ / old, ".val");
    ASSERT_EQ(segments.size(), 1u);
    const auto segment = directory->open_file(fs::path(segments[0]).filename(), Access::read_only);
    const std::uint64_t size = index->info()->size_bytes;
    remove_superseded();
    EXPECT_FALSE(exists(old));
    EXPECT_GT(size, 0u);
    EXPECT_EQ(index->info()->size_bytes, size);
    EXPECT_EQ(segment->info()->disk_bytes, 0u);
}

// There may be any number, and closing a cache waits for the upkeep.
TEST_F(GenerationsTest, WhatIsStoppedLooksAtNothingMore) {
    const std::string old = make("engine", "driver 1", 31);
    fs::create_directory(directory_ / ".removed-engine-1");
    const std::atomic<bool> stop = true;
    EXPECT_TRUE(list_generations(root(), &stop).empty());
    (void)is_upkeep_due(root(), "another");
    EXPECT_FALSE(is_upkeep_due(root(), "another"));
    cairn::remove_superseded(directory_.path(), {30 * kDayNs, 0}, stop, Log());
    EXPECT_TRUE(exists(old));
    EXPECT_TRUE(exists(".removed-engine-1"));
    EXPECT_TRUE(is_upkeep_due(root(), "another")) << "somebody else has to go on";
}

// Does something when the lock file of a cache is about to be opened for the first time. By
// then the process has the cache's directory open, and no lock.
class BeforeTheLock {
  public:
    explicit BeforeTheLock(std::function<void()> action) {
        action_ = std::move(action);
        calls_ = kKernel;
        calls_.openat = [](int directory, const char *path, int flags, mode_t mode) {
            if (std::string(path) == "cache.lock" && action_) std::exchange(action_, nullptr)();
            return kKernel.openat(directory, path, flags, mode);
        };
        system_calls = &calls_;
    }
    ~BeforeTheLock() { system_calls = &kKernel; }

  private:
    static inline std::function<void()> action_;
    SystemCalls calls_;
};

TEST_F(GenerationsTest, WhatIsRenamedWhileItIsOpenedIsMadeAnew) {
    const std::string identifier = make("engine", "driver 1", 0);
    const BeforeTheLock remover(
        [&] { fs::rename(directory_ / identifier, directory_ / ".removed-engine"); });
    const auto cache = open("engine", "driver 1");
    ASSERT_NE(cache, nullptr);
    ASSERT_TRUE(cache->put(as_bytes("key"), as_bytes("new"), {}).ok());
    EXPECT_TRUE(open("engine", "driver 1")->contains(as_bytes("key")).value());
    remove_superseded();
    EXPECT_TRUE(cache->contains(as_bytes("key")).value());
    EXPECT_FALSE(exists(".removed-engine"));
}

TEST_F(GenerationsTest, WhoOpensItDoesNotWaitForItsDeletion) {
    const std::string identifier = make("engine", "driver 1", 0);
    File lock;
    const BeforeTheLock remover([&] {
        const auto directory = Directory::open(directory_ / identifier);
        lock = std::move(directory->open_or_create_file("cache.lock").value());
        EXPECT_TRUE(lock.try_lock(0, LockKind::exclusive).value());
        fs::rename(directory_ / identifier, directory_ / ".removed-engine");
    });
    EXPECT_NE(open("engine", "driver 1"), nullptr);
}

TEST_F(GenerationsTest, WhatIsOpenedIsThereHoweverItIsBeingRemoved) {
    const std::string identifier = make("engine", "driver 1", 0);
    cairn_test::Child remover([&] {
        for (;;) {
            for (const KnownGeneration &each : list_generations(root())) {
                (void)remove_generation(root(), each);
            }
        }
        return 0;
    });
    for (int round = 0; round < 1000; ++round) {
        const auto cache = open("engine", "driver 1");
        ASSERT_NE(cache, nullptr) << round;
        ASSERT_TRUE(cache->put(as_bytes("key"), as_bytes(std::to_string(round)), {}).ok());
        const auto other = open("engine", "driver 1");
        ASSERT_NE(other, nullptr) << round;
        ASSERT_TRUE(other->contains(as_bytes("key")).value()) << round;
    }
}

class ClaimTest : public GenerationsTest {
  protected:
    void claim() {
        cairn::claim(Directory::open(directory_.path()).value(), {"engine", "", "driver 1"});
    }
    std::string text() const {
        return cairn_test::as_string(cairn_test::read_file(directory_ / "generation"));
    }

    const std::string ours_ = describe({"engine", "", "driver 1"});
};

TEST_F(ClaimTest, SaysWhatItIsWhateverWasThere) {
    claim();
    EXPECT_EQ(text(), ours_);
    for (const std::string &damaged : {std::string(), ours_.substr(1), ours_ + "more"}) {
        cairn_test::write_file(directory_ / "generation", cairn_test::as_bytes(damaged));
        claim();
        EXPECT_EQ(text(), ours_);
    }
    fs::remove(directory_ / "generation");
    fs::create_directory(directory_ / "generation");
    claim();
    EXPECT_EQ(text(), ours_);
}

// Its time says when it was used last.
TEST_F(ClaimTest, TouchesWhatIsRightAlready) {
    claim();
    const fs::path file = directory_ / "generation";
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(2));
    const auto before = fs::last_write_time(file);
    claim();
    EXPECT_GT(fs::last_write_time(file), before);
}

// The name tells whose the programs are, not that file.
TEST_F(GenerationsTest, ADamagedFileCostsNoProgram) {
    const std::string identifier = identifier_of({"engine", "", "driver 1"});
    {
        const auto cache = open("engine", "driver 1");
        ASSERT_NE(cache, nullptr);
        ASSERT_TRUE(cache->put(as_bytes("key"), as_bytes("value"), {}).ok());
    }
    for (const char *damaged : {"", "Cairn generation\napplication: another\n"}) {
        cairn_test::write_file(directory_ / (identifier + "/generation"),
                               cairn_test::as_bytes(damaged));
        const auto cache = open("engine", "driver 1");
        ASSERT_NE(cache, nullptr);
        EXPECT_TRUE(cache->contains(as_bytes("key")).value());
    }
}

// A copy under the name of another generation holds nothing.
TEST_F(GenerationsTest, ADirectoryUnderAnotherNameHoldsNoProgram) {
    {
        const auto cache = open("engine", "driver 1");
        ASSERT_NE(cache, nullptr);
        ASSERT_TRUE(cache->put(as_bytes("key"), as_bytes("value"), {}).ok());
    }
    fs::rename(directory_ / identifier_of({"engine", "", "driver 1"}),
               directory_ / identifier_of({"engine", "", "driver 2"}));
    const auto cache = open("engine", "driver 2");
    ASSERT_NE(cache, nullptr);
    EXPECT_FALSE(cache->contains(as_bytes("key")).value());
}

// The cache that asks is open, and a thread costs more than a look.
TEST_F(GenerationsTest, NoUpkeepIsDueWhereThereIsOneCacheOnly) {
    const std::string own = make("engine", "driver 1", 0);
    cairn_test::write_file(directory_ / "CACHEDIR.TAG", {});
    fs::create_directory(directory_ / ".removed");
    EXPECT_FALSE(is_upkeep_due(root(), own));
    EXPECT_FALSE(exists(".upkeep"));
    fs::create_directory(directory_ / ".removed-engine-1");
    EXPECT_TRUE(is_upkeep_due(root(), own));
}

TEST_F(GenerationsTest, UpkeepIsDueOnceAnHour) {
    (void)make("engine", "driver 1", 0);
    EXPECT_TRUE(is_upkeep_due(root(), "another"));
    EXPECT_FALSE(is_upkeep_due(root(), "another"));
    const auto then = static_cast<time_t>(wall_clock_ns() / 1'000'000'000 - 3601);
    const timespec times[] = {{then, 0}, {then, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (directory_ / ".upkeep").c_str(), times, 0), 0);
    EXPECT_TRUE(is_upkeep_due(root(), "another"));
}

TEST_F(GenerationsTest, OnlyWhatIsRecordedIsShared) {
    const std::string folder = directory_ / "config";
    fs::create_directories(folder + "/cairn");
    const std::string text =
        "share = 1\n[application game]\nrecord = 0\n[application editor]\nshare = 0\n";
    cairn_test::write_file(folder + "/cairn/config", cairn_test::as_bytes(text));
    ::chmod((folder + "/cairn/config").c_str(), 0600);
    EXPECT_FALSE(wishes_for("gl-game", Log()).shares) << "nobody has said so";
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    EXPECT_TRUE(wishes_for("gl-other", Log()).shares);
    EXPECT_FALSE(wishes_for("gl-game", Log()).shares);
    EXPECT_FALSE(wishes_for("gl-editor", Log()).shares);
    ::unsetenv("XDG_CONFIG_HOME");
}

TEST_F(GenerationsTest, OnlyWhatIsSharedIsAskedFor) {
    const std::string folder = directory_ / "config";
    fs::create_directories(folder + "/cairn");
    const std::string text =
        "share = 1\nask_ms = 20\n[application game]\nrecord = 0\n[application editor]\nshare = 0\n"
        "[application viewer]\nask_ms = 0\n";
    cairn_test::write_file(folder + "/cairn/config", cairn_test::as_bytes(text));
    ::chmod((folder + "/cairn/config").c_str(), 0600);
    EXPECT_EQ(wishes_for("gl-other", Log()).ask_ms, 0u) << "nobody has said so";
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    EXPECT_EQ(wishes_for("gl-other", Log()).ask_ms, 20u);
    for (const char *name : {"gl-game", "gl-editor", "gl-viewer"}) {
        EXPECT_EQ(wishes_for(name, Log()).ask_ms, 0u) << name;
    }
    ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace cairn
