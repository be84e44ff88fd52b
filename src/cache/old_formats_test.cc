// Files of a cache in formats of other versions of Cairn: which of them go, and when.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cache/testing/generations_fixture.h"
#include "store/formats.h"
#include "store/space.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

// Files as versions of Cairn leave them that use another format of a cache's files.
class OldFormatsTest : public GenerationsTest {
  protected:
    static constexpr const char *kOldest[] = {"cache.idx", "cache.lock", "00000000.val", "ghosts"};

    // In the oldest format, and in one of a later version, last used so many days ago.
    void leave_formats(const std::string &identifier, unsigned days) const {
        const std::string cache = directory_ / identifier;
        fs::create_directories(cache + "/format-7/deeper");
        for (const char *name : kOldest) leave(cache + "/" + name, days);
        for (const char *name : {"cache.idx", "cache.lock", "deeper/file"}) {
            leave(cache + "/format-7/" + name, days);
        }
    }
    void leave(const std::string &path, unsigned days) const {
        cairn_test::write_file(path, cairn_test::as_bytes("a file of another version"));
        const auto then = static_cast<time_t>((wall_clock_ns() - days * kDayNs) / 1'000'000'000);
        const timespec times[] = {{then, 0}, {then, 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }
    std::vector<std::uint32_t> formats(const std::string &identifier) const {
        return list_formats(root().open_directory(identifier).value()).value();
    }
    const std::vector<std::uint32_t> all_ = {kOldestFormat, kNewestFormat, 7};
};

TEST_F(OldFormatsTest, WhatNobodyHasUsedForLongIsRemovedAndNothingElse) {
    const std::string old = make("engine", "driver 1", 0);
    const std::string recent = make("engine", "driver 2", 0);
    leave_formats(old, 4 * 30 + 2);
    leave_formats(recent, 4 * 30 - 1);
    EXPECT_EQ(formats(old), all_);
    leave(directory_ / old + "/index-1.tmp", 1);
    leave(directory_ / old + "/order-2.tmp", 0);
    remove_superseded();
    EXPECT_EQ(formats(old), std::vector<std::uint32_t>{kNewestFormat});
    EXPECT_EQ(formats(recent), all_);
    for (const char *name : kOldest) EXPECT_FALSE(exists(old + "/" + name)) << name;
    for (const char *name : {"generation", "format-2"}) EXPECT_TRUE(exists(old + "/" + name));
    EXPECT_FALSE(exists(old + "/index-1.tmp"));
    EXPECT_TRUE(open("engine", "driver 1")->contains(as_bytes("key")).value());
    EXPECT_TRUE(open("engine", "driver 2")->contains(as_bytes("key")).value());
}

// Others may put anything below the root, and caches of cairn_open() are not of this upkeep.
TEST_F(OldFormatsTest, WhatIsNoGenerationIsNotTouched) {
    const std::string own = make("engine", "driver 1", 0);
    leave_formats("cache-of-cairn-open", 1000);
    fs::create_directories(directory_ / "saves/.removed-mine");
    fs::create_directories(directory_ / "saves/format-3");
    leave(directory_ / "saves/format-3/game", 1000);
    leave(directory_ / "saves/.removed-mine/game", 1000);
    leave(directory_ / "saves/00000000.val", 1000);
    leave(directory_ / "saves/game.tmp", 1000);
    // Nor is a folder of a later version that has no lock yet.
    fs::create_directories(directory_ / own + "/format-9");
    remove_superseded();
    EXPECT_EQ(formats("cache-of-cairn-open"), (std::vector<std::uint32_t>{kOldestFormat, 7}));
    for (const char *name : {"format-3/game", ".removed-mine/game", "00000000.val", "game.tmp"}) {
        EXPECT_TRUE(exists(std::string("saves/") + name)) << name;
    }
    EXPECT_TRUE(exists(own + "/format-9"));
}

TEST_F(OldFormatsTest, WhatIsOpenStays) {
    const std::string identifier = make("engine", "driver 1", 0);
    leave_formats(identifier, 1000);
    std::vector<File> sessions;
    for (const char *folder : {"", "/format-7"}) {
        const auto directory = Directory::open(directory_ / (identifier + folder));
        sessions.push_back(
            std::move(directory->open_file("cache.lock", Access::read_write).value()));
        EXPECT_TRUE(sessions.back().try_lock(kSessionByte, LockKind::shared).value());
    }
    remove_superseded();
    EXPECT_EQ(formats(identifier), all_);
    sessions.clear();
    remove_superseded();
    EXPECT_EQ(formats(identifier), std::vector<std::uint32_t>{kNewestFormat});
}

// A cache that is only read changes none of its files, but for that.
TEST_F(OldFormatsTest, OpeningACacheSaysThatItsFormatIsUsed) {
    const std::string identifier = make("engine", "driver 1", 0);
    const std::string lock = cairn_test::path_in_cache(directory_ / identifier, "cache.lock");
    leave(lock, 100);
    cairn_test::write_file(lock, {});
    const timespec long_ago[] = {{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, lock.c_str(), long_ago, 0), 0);
    (void)open("engine", "driver 1");
    EXPECT_TRUE(is_recent(file_info(lock)));
}

TEST_F(OldFormatsTest, AWholeGenerationGoesWithThemUnlessOneIsOpen) {
    const std::string identifier = make("engine", "driver 1", 100);
    leave_formats(identifier, 0);
    {
        const auto directory = Directory::open(directory_ / (identifier + "/format-7"));
        const File session =
            std::move(directory->open_file("cache.lock", Access::read_write).value());
        EXPECT_TRUE(session.try_lock(kSessionByte, LockKind::shared).value());
        remove_superseded();
        EXPECT_TRUE(exists(identifier));
    }
    remove_superseded();
    EXPECT_FALSE(exists(identifier));
}

TEST_F(OldFormatsTest, TheyAreAReasonForUpkeepAndCountForTheRoomTaken) {
    const std::string identifier = make("engine", "driver 1", 0);
    const auto bytes_of = [&] { return list_generations(root()).at(0).bytes; };
    const std::uint64_t before = bytes_of();
    EXPECT_FALSE(is_upkeep_due(root(), identifier));
    leave_formats(identifier, 0);
    EXPECT_GT(bytes_of(), before);
    EXPECT_TRUE(is_upkeep_due(root(), identifier));
}

TEST_F(OldFormatsTest, WhatTheyTakeOfALimitIsTakenFromTheOther) {
    constexpr std::size_t kMiB = 1u << 20;
    const std::string identifier = make("engine", "driver 1", 0);
    {
        const auto cache = open("engine", "driver 1");
        const std::string value(100'000, 'v');
        for (int i = 0; i < 60; ++i) {
            ASSERT_TRUE(cache->put(as_bytes(std::to_string(i)), as_bytes(value), {}).ok());
        }
    }
    leave_formats(identifier, 0);
    cairn_test::write_file(directory_ / identifier + "/00000000.val",
                           cairn_test::ByteVector(3 * kMiB));
    remove_superseded(5 * kMiB);
    EXPECT_LE(list_generations(root()).at(0).bytes, 5 * kMiB);
    EXPECT_EQ(formats(identifier), all_);
}

}  // namespace
}  // namespace cairn
