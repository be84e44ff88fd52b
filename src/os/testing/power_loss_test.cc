// SPDX-License-Identifier: MIT
#include "os/testing/power_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "os/file.h"
#include "os/mapping.h"
#include "os/system_calls.h"
#include "os/testing/scratch.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr int kSeeds = 200;

class PowerLossTest : public ::testing::Test {
  protected:
    PowerLossTest() {
        fs::create_directory(base());
        disk_.emplace(base());
    }
    ~PowerLossTest() override { disk_.reset(); }

    std::string base() const { return scratch_ / "disk"; }
    Directory directory() { return std::move(Directory::open(base()).value()); }
    static void write(const File &file, std::uint64_t offset, const std::string &text) {
        const Bytes pieces[] = {as_bytes(text)};
        ASSERT_TRUE(file.write_at(offset, pieces).ok());
    }

    // The results of `look` on the disks that a power loss now may leave.
    template <typename Look>
    auto outcomes(Look look) {
        disk_->capture();
        std::set<decltype(look(base()))> seen;
        for (int seed = 0; seed < kSeeds; ++seed) {
            const std::string target = scratch_ / "after";
            disk_->materialise(target, static_cast<std::uint64_t>(seed));
            seen.insert(look(target));
            fs::remove_all(target);
        }
        return seen;
    }
    // The content of a file; "(missing)" when there is none.
    auto contents(const std::string &name) {
        return outcomes([&](const std::string &target) -> std::string {
            std::ifstream file(target + "/" + name, std::ios::binary);
            if (!file) return "(missing)";
            return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        });
    }
    auto names() {
        return outcomes([](const std::string &target) {
            std::set<std::string> found;
            for (const auto &entry : fs::directory_iterator(target)) {
                found.insert(entry.path().filename().string());
            }
            return found;
        });
    }

    Scratch scratch_{Scratch::Place::memory};
    std::optional<PowerLoss> disk_;
};

// As a writer and the one who makes room do: the other acts on a name as soon as the file is there.
TEST_F(PowerLossTest, ThreadsThatFollowOneAnotherAtOnceAreSeenInTheirOrder) {
    const Directory there = directory();
    constexpr int kRounds = 3000;
    std::thread follower([&] {
        for (int i = 0; i < kRounds; ++i) {
            while (!there.rename("made", "moved").ok()) {
            }
            EXPECT_TRUE(there.remove_file("moved").ok());
        }
    });
    for (int i = 0; i < kRounds; ++i) {
        while (!there.create_file("made").ok()) {
        }
    }
    follower.join();
    EXPECT_TRUE(there.sync().ok());
    EXPECT_THAT(names(), ElementsAre(std::set<std::string>()));
}

TEST_F(PowerLossTest, WhatIsSyncedWithItsDirectoryStays) {
    const Directory here = directory();
    const auto file = here.create_file("file");
    write(file.value(), 0, "hello");
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    EXPECT_THAT(contents("file"), ElementsAre("hello"));
}

TEST_F(PowerLossTest, AFileWhoseDirectoryIsNotSyncedMayBeMissing) {
    const auto file = directory().create_file("file");
    write(file.value(), 0, "hello");
    ASSERT_TRUE(file->sync_data().ok());
    EXPECT_THAT(contents("file"), UnorderedElementsAre("(missing)", "hello"));
}

TEST_F(PowerLossTest, WhatIsNotSyncedMayBeThereOrNot) {
    const Directory here = directory();
    const auto file = here.create_file("file");
    write(file.value(), 0, "old");
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    write(file.value(), 0, "new");
    const auto seen = contents("file");
    EXPECT_THAT(seen, Contains("old"));
    EXPECT_THAT(seen, Contains("new"));
    EXPECT_THAT(seen, Contains(std::string(3, '\0')));
    EXPECT_THAT(seen, Contains("ned"));
    EXPECT_THAT(seen, Not(Contains("(missing)")));
}

TEST_F(PowerLossTest, SectorsComeAndGoByThemselves) {
    const Directory here = directory();
    const auto file = here.create_file("file");
    write(file.value(), 0, std::string(1024, 'a'));
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    write(file.value(), 0, std::string(1024, 'b'));
    const auto seen = contents("file");
    EXPECT_THAT(seen, Contains(std::string(512, 'a') + std::string(512, 'b')));
    EXPECT_THAT(seen, Contains(std::string(512, 'b') + std::string(512, 'a')));
}

TEST_F(PowerLossTest, BytesThatDidNotChangeAreNeverHarmed) {
    const Directory here = directory();
    const auto file = here.create_file("file");
    write(file.value(), 0, std::string(300, 'a'));
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    write(file.value(), 100, std::string(1000, 'b'));
    for (const std::string &content : contents("file")) {
        EXPECT_EQ(content.substr(0, 100), std::string(100, 'a'));
        EXPECT_TRUE(content.size() == 300 || content.size() == 1100);
    }
}

TEST_F(PowerLossTest, StoresThroughAMappingNeedAFilesSync) {
    const Directory here = directory();
    const auto file = here.create_file("file");
    ASSERT_TRUE(file->extend(4096).ok());
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    const auto mapping = Mapping::file(file.value(), Access::read_write, 0, 4096);
    ASSERT_TRUE(mapping.ok());
    mapping->data()[7] = std::byte{'x'};
    ASSERT_TRUE(mapping->sync().ok());
    std::string with(4096, '\0');
    with[7] = 'x';
    EXPECT_THAT(contents("file"), Contains(std::string(4096, '\0')));
    EXPECT_THAT(contents("file"), Contains(with));
    ASSERT_TRUE(file->sync_data().ok());
    EXPECT_THAT(contents("file"), ElementsAre(with));
}

TEST_F(PowerLossTest, WritingBackMakesSomeSectorsDurable) {
    const Directory here = directory();
    const auto file = here.create_file("file");
    write(file.value(), 0, std::string(512 * 64, 'a'));
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    write(file.value(), 0, std::string(512 * 64, 'b'));
    for (std::uint64_t seed = 0; seed < 8; ++seed) disk_->write_back(seed);
    for (const std::string &content : contents("file")) {
        const auto kept = std::count(content.begin(), content.end(), 'b');
        EXPECT_GT(kept, 512 * 20);
    }
}

TEST_F(PowerLossTest, RenamingHappensWhollyOrNotAtAll) {
    const Directory here = directory();
    const auto one = here.create_file("one");
    const auto two = here.create_file("two");
    write(one.value(), 0, "1");
    write(two.value(), 0, "2");
    ASSERT_TRUE(one->sync_data().ok());
    ASSERT_TRUE(two->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    ASSERT_TRUE(here.rename("one", "two").ok());
    EXPECT_THAT(contents("two"), UnorderedElementsAre("1", "2"));
    using Set = std::set<std::string>;
    EXPECT_THAT(names(), UnorderedElementsAre(Set{"one", "two"}, Set{"two"}));
    ASSERT_TRUE(here.sync().ok());
    EXPECT_THAT(contents("two"), ElementsAre("1"));
}

TEST_F(PowerLossTest, RemovalAndLinksAreUncertainUntilTheDirectoryIsSynced) {
    const Directory here = directory();
    const auto file = here.create_file("a");
    write(file.value(), 0, "text");
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(here.sync().ok());
    ASSERT_TRUE(here.link("a", "b").ok());
    ASSERT_TRUE(here.remove_file("a").ok());
    using Set = std::set<std::string>;
    EXPECT_THAT(names(), UnorderedElementsAre(Set{"a"}, Set{"a", "b"}, Set{"b"}, Set{}));
    EXPECT_THAT(contents("a"), UnorderedElementsAre("(missing)", "text"));
    ASSERT_TRUE(here.sync().ok());
    EXPECT_THAT(names(), ElementsAre(Set{"b"}));
    EXPECT_THAT(contents("b"), ElementsAre("text"));
}

TEST_F(PowerLossTest, ADirectoryIsDurableOnlyInASyncedParent) {
    const Directory here = directory();
    ASSERT_TRUE(here.create_directory("sub").ok());
    const auto sub = here.open_directory("sub");
    const auto file = sub->create_file("file");
    write(file.value(), 0, "text");
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(sub->sync().ok());
    EXPECT_THAT(contents("sub/file"), UnorderedElementsAre("(missing)", "text"));
    ASSERT_TRUE(here.sync().ok());
    EXPECT_THAT(contents("sub/file"), ElementsAre("text"));
}

TEST_F(PowerLossTest, WhatWasThereBeforeIsDurable) {
    disk_.reset();
    fs::create_directory(base() + "/sub");
    std::ofstream(base() + "/sub/file") << "text";
    disk_.emplace(base());
    EXPECT_THAT(contents("sub/file"), ElementsAre("text"));
}

TEST_F(PowerLossTest, TheStateBeforeACallCanBeCaptured) {
    const Directory here = directory();
    bool told = false;
    disk_->capture_at(3, [&] { told = true; });
    ASSERT_TRUE(here.create_directory("one").ok());
    ASSERT_TRUE(here.create_directory("two").ok());
    EXPECT_FALSE(disk_->captured());
    ASSERT_TRUE(here.create_directory("three").ok());
    EXPECT_TRUE(disk_->captured());
    EXPECT_TRUE(told);
    std::set<std::string> all;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        disk_->materialise(scratch_ / "after", seed);
        for (const auto &entry : fs::directory_iterator(scratch_ / "after")) {
            all.insert(entry.path().filename().string());
        }
        fs::remove_all(scratch_ / "after");
    }
    EXPECT_THAT(all, UnorderedElementsAre("one", "two"));
}

TEST_F(PowerLossTest, OneSeedGivesOneDisk) {
    const auto file = directory().create_file("file");
    write(file.value(), 0, std::string(5000, 'x'));
    disk_->capture();
    const auto content = [&](std::uint64_t seed) {
        disk_->materialise(scratch_ / "after", seed);
        std::ifstream stream(scratch_ / "after/file", std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(stream), {});
        fs::remove_all(scratch_ / "after");
        return text;
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(content(seed), content(seed));
}

TEST_F(PowerLossTest, LocksOfClosedFilesAreNotKept) {
    const Directory here = directory();
    {
        const auto file = here.create_file("file");
        ASSERT_TRUE(file->try_lock(0, LockKind::exclusive).value());
    }
    const auto file = here.open_file("file", Access::read_write);
    EXPECT_TRUE(file->try_lock(0, LockKind::exclusive).value());
}

TEST_F(PowerLossTest, EachBootHasAnIdOfItsOwn) {
    const auto id = [] {
        const auto file =
            Directory::working().open_file("/proc/sys/kernel/random/boot_id", Access::read_only);
        std::byte text[36] = {};
        EXPECT_EQ(file->read_at(0, text).value(), 36u);
        return std::string(reinterpret_cast<char *>(text), 36);
    };
    disk_->set_boot(1);
    const std::string first = id();
    disk_->set_boot(2);
    EXPECT_NE(id(), first);
    disk_->set_boot(1);
    EXPECT_EQ(id(), first);
}

}  // namespace
}  // namespace cairn::testing
