// SPDX-License-Identifier: MIT
#include "cache/driver_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "cache/cache.h"
#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"
#include "pack/testing/packs.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using testing::PackedPart;
using testing::write_pack;

constexpr const char *kName = "gl-game";
constexpr const char *kGeneration =
    "Cairn generation\napplication: gl-game\nbuild: \n\nPrograms of X, 4.5\nGL_VENDOR: V\n"
    "GL_VERSION: 4.5\nlibrary: x 01\n";

const DriverCacheWish kUsers = {.is_users = true, .recording = "", .seeding_us = 60'000'000};

std::string file_name(int number) {
    const std::string digits = std::to_string(number);
    return "mesa_shader_cache/0" + digits.substr(0, 1) + "/" +
           std::string(38 - digits.size(), '0') + digits;
}

class DriverCacheTest : public ::testing::Test {
  protected:
    DriverCacheTest() {
        ::setenv("CAIRN_PACKS", (scratch_ / "system").c_str(), 1);
        ::setenv("XDG_CACHE_HOME", (scratch_ / "usual").c_str(), 1);
        fs::create_directories(scratch_ / "usual");
    }
    ~DriverCacheTest() override {
        ::unsetenv("CAIRN_PACKS");
        ::unsetenv("XDG_CACHE_HOME");
    }

    void install(const std::map<std::string, std::string> &files) const {
        const LayeredSubject subject = driver_subject(kName, kGeneration);
        PackedPart part = {subject.identifier, subject.version, subject.generation, files};
        part.kind = PackKind::driver_files;
        fs::create_directories(root_ + "/.packs/" + kName);
        write_pack(root_ + "/.packs/" + kName + "/a.pack", {part});
    }
    std::optional<std::string> open(const DriverCacheWish &wish = {}) const {
        return open_driver_cache(root_, kName, wish, Log());
    }
    std::uint64_t place() const {
        return place_driver_files(root_, driver_subject(kName, kGeneration), {}, Log());
    }
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> found;
        visit_driver_files(root_, kName, [&](const std::string &name, const File &file) {
            std::string text(file.info()->size_bytes, '\0');
            EXPECT_TRUE(
                file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))).ok());
            found[name] = text;
        });
        return found;
    }
    void write(const std::string &path, const std::string &text) const {
        fs::create_directories(fs::path(path).parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }

    const testing::Scratch scratch_;
    const std::string root_ = scratch_ / "root";
};

TEST_F(DriverCacheTest, ThereIsNoneWhereNobodyWantsOne) {
    EXPECT_FALSE(open());
    EXPECT_FALSE(fs::exists(root_));
    EXPECT_EQ(place(), 0u);
    EXPECT_FALSE(open_driver_cache(root_, "../x", kUsers, Log()));
}

TEST_F(DriverCacheTest, APackWithFilesMakesOneAndItsFilesArePlacedOnce) {
    const std::map<std::string, std::string> packed = {{file_name(1), "one"}, {file_name(2), ""}};
    install(packed);
    const auto path = open();
    ASSERT_TRUE(path);
    EXPECT_EQ(*path, root_ + "/.driver/" + kName);
    EXPECT_EQ(place(), 2u);
    EXPECT_EQ(files(), packed);
    EXPECT_EQ(place(), 0u);
    ASSERT_TRUE(clear_driver_caches(root_, kName, Log()).ok());
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(place(), 0u) << "what was cleared comes back";
    install({{file_name(3), "of another pack"}});
    EXPECT_EQ(place(), 1u);
}

TEST_F(DriverCacheTest, FilesOfAnotherDriverAreNotPlaced) {
    install({{file_name(1), "one"}});
    ASSERT_TRUE(open());
    const auto other = [](const std::string &generation) {
        return driver_subject(kName, generation).generation;
    };
    EXPECT_EQ(place_driver_files(root_, driver_subject(kName, "library: x 02\n"), {}, Log()), 0u);
    EXPECT_EQ(other("Programs of X\nGL_VERSION: 3.2\nlibrary: x\n"),
              other("Programs of Y\nGL_VERSION: 4.5\nlibrary: x\n"));
    EXPECT_NE(other("library: x"), other("library: y"));
}

TEST_F(DriverCacheTest, NamesThatNoDriverGivesAreNotWritten) {
    install({{"../../evil", "x"},
             {"mesa_shader_cache/../../evil", "x"},
             {"mesa_shader_cache/ab/../../../evil", "x"},
             {"/etc/evil", "x"},
             {"mesa_shader_cache/index", "x"},
             {"mesa_shader_cache/ab/short", "x"},
             {"mesa_shader_cache/" + std::string(38, 'a'), "x"},
             {file_name(7) + "/below", "x"},
             {file_name(7) + ".tmp", "x"},
             {"used", "x"},
             {file_name(8), "good"}});
    ASSERT_TRUE(open());
    EXPECT_EQ(place(), 1u);
    EXPECT_EQ(files(), (std::map<std::string, std::string>{{file_name(8), "good"}}));
    EXPECT_FALSE(fs::exists(scratch_ / "evil"));
}

TEST_F(DriverCacheTest, AFileOfTheDriverStaysAndLinksAreNotFollowed) {
    install({{file_name(1), "of the pack"}, {file_name(2), "of the pack"}});
    const auto path = open();
    ASSERT_TRUE(path);
    write(*path + "/" + file_name(1), "of the driver");
    fs::create_directories(scratch_ / "elsewhere");
    fs::create_directory_symlink(scratch_ / "elsewhere", *path + "/mesa_shader_cache/02");
    (void)place();
    EXPECT_EQ(files().at(file_name(1)), "of the driver");
    EXPECT_TRUE(fs::is_empty(scratch_ / "elsewhere"));
}

TEST_F(DriverCacheTest, OneOfTheUsersOwnBeginsWithTheDriversUsualFiles) {
    write((scratch_ / "usual") + "/" + file_name(5), "usual");
    write((scratch_ / "usual") + "/mesa_shader_cache/index", "not an entry");
    ASSERT_TRUE(open(kUsers));
    EXPECT_EQ(files(), (std::map<std::string, std::string>{{file_name(5), "usual"}}));
}

TEST_F(DriverCacheTest, OneForRecordingBeginsEmpty) {
    write((scratch_ / "usual") + "/" + file_name(5), "usual");
    ASSERT_TRUE(open({false, "first"}));
    EXPECT_TRUE(files().empty());
}

// Whatever fails, no file is half, and the next process puts the rest in place.
TEST_F(DriverCacheTest, WhateverCallFailsFilesAreWholeOrMissing) {
    std::map<std::string, std::string> packed;
    for (int i = 0; i < 4; ++i) packed[file_name(i)] = std::string(300, static_cast<char>('a' + i));
    install(packed);
    for (std::uint64_t first = 1;; ++first) {
        fs::remove_all(driver_caches_path(root_));
        std::uint64_t failures = 0;
        {
            testing::FailingCalls calls;
            testing::Fault fault;
            fault.error = ENOSPC;
            fault.first = first;
            fault.extent = testing::Fault::Extent::from_then_on;
            calls.arm(fault);
            if (open()) (void)place();
            calls.disarm();
            failures = calls.failures();
        }
        for (const auto &[name, text] : files()) EXPECT_EQ(text, packed.at(name));
        ASSERT_TRUE(open());
        (void)place();
        EXPECT_EQ(files(), packed) << first;
        if (failures == 0) break;
        ASSERT_LT(first, 1000u);
    }
}

TEST_F(DriverCacheTest, WhatIsUnusedOrTooMuchIsDeleted) {
    install({{file_name(1), std::string(5000, 'x')}});
    ASSERT_TRUE(open());
    (void)place();
    EXPECT_GE(driver_cache_bytes(root_, kName), 5000u);
    tidy_driver_caches(root_, UINT64_MAX, 1u << 20, Log());
    EXPECT_EQ(files().size(), 1u);
    tidy_driver_caches(root_, UINT64_MAX, 1000, Log());
    EXPECT_FALSE(fs::exists(driver_cache_path(root_, kName)));
    ASSERT_TRUE(open());
    EXPECT_EQ(place(), 1u) << "what packs have can be put there again";
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 40);
    fs::last_write_time(root_ + "/.driver/" + kName + "/used", long_ago);
    tidy_driver_caches(root_, std::uint64_t{30} * 24 * 3600 * 1'000'000'000, 1u << 20, Log());
    EXPECT_TRUE(files().empty());
}

TEST_F(DriverCacheTest, TheNewestUsualFilesComeFirst) {
    for (int i = 0; i < 4200; ++i) {
        const std::string name = "mesa_shader_cache/" + std::string(i < 4150 ? "0a" : "0b") + "/" +
                                 file_name(i).substr(21);
        write((scratch_ / "usual") + "/" + name, "x");
        if (i < 4150) {
            fs::last_write_time((scratch_ / "usual") + "/" + name,
                                fs::file_time_type::clock::now() - std::chrono::hours(1));
        }
    }
    ASSERT_TRUE(open(kUsers));
    const auto found = files();
    EXPECT_LE(found.size(), 4096u);
    const auto newest = std::count_if(found.begin(), found.end(), [](const auto &file) {
        return file.first.starts_with("mesa_shader_cache/0b/");
    });
    EXPECT_EQ(newest, 50) << "of " << found.size();
}

// NVIDIA's driver may add to a file that it has.
TEST_F(DriverCacheTest, OnlyFilesThatNeverChangeAreShared) {
    const std::string mesa = file_name(5);
    const std::string nvidia = "GLCache/" + std::string(32, 'a') + "/" + std::string(16, 'b') +
                               "/" + std::string(16, 'c') + ".bin";
    write((scratch_ / "usual") + "/" + mesa, "mesa's");
    write((scratch_ / "usual") + "/nvidia/" + nvidia, "nvidia's");
    const auto path = open(kUsers);
    ASSERT_TRUE(path);
    EXPECT_EQ(files(),
              (std::map<std::string, std::string>{{mesa, "mesa's"}, {nvidia, "nvidia's"}}));
    EXPECT_EQ(fs::hard_link_count(*path + "/" + mesa), 2u);
    EXPECT_EQ(fs::hard_link_count(*path + "/" + nvidia), 1u);
}

TEST_F(DriverCacheTest, EachNewRecordingBeginsEmptyAndProcessesOfOneShareIt) {
    const auto path = open(kUsers);
    ASSERT_TRUE(path);
    write(*path + "/" + file_name(1), "before");
    ASSERT_TRUE(open({false, "first"}));
    EXPECT_TRUE(files().empty());
    write(*path + "/" + file_name(2), "made");
    ASSERT_TRUE(open({false, "first"}));
    EXPECT_EQ(files().size(), 1u);
    ASSERT_TRUE(open());
    EXPECT_EQ(files().size(), 1u) << "later starts use what was recorded";
    ASSERT_TRUE(open({false, std::string(1000, 'x')}));
    EXPECT_TRUE(files().empty());
}

TEST_F(DriverCacheTest, WhetherThereIsToBeOneIsToldWithoutMakingIt) {
    EXPECT_FALSE(wants_driver_cache(root_, kName, {}));
    EXPECT_TRUE(wants_driver_cache(root_, kName, kUsers));
    EXPECT_TRUE(wants_driver_cache(root_, kName, {false, "first"}));
    EXPECT_FALSE(wants_driver_cache(root_, "../x", kUsers));
    install({{file_name(1), "one"}});
    EXPECT_TRUE(wants_driver_cache(root_, kName, {}));
    EXPECT_FALSE(fs::exists(driver_caches_path(root_)));
}

// They would else be in each other's way.
TEST_F(DriverCacheTest, WhileAnotherProcessPutsFilesInPlaceNobodyElseDoes) {
    install({{file_name(1), "one"}});
    const auto path = open();
    ASSERT_TRUE(path);
    {
        const auto own = Directory::open(*path);
        ASSERT_TRUE(own.ok());
        auto lock = own.value().open_or_create_file("lock");
        ASSERT_TRUE(lock.ok());
        ASSERT_TRUE(lock->try_lock(0, LockKind::exclusive).value());
        EXPECT_EQ(place(), 0u);
    }
    EXPECT_EQ(place(), 1u);
}

// A process that was killed has left the first file half, under another name.
TEST_F(DriverCacheTest, WhatAKilledProcessLeftIsPutInOrder) {
    install({{file_name(1), "one"}, {file_name(2), "two"}});
    const auto path = open();
    ASSERT_TRUE(path);
    write(*path + "/placing.tmp", "hal");
    write(*path + "/" + file_name(2), "two");
    EXPECT_EQ(place(), 1u);
    EXPECT_EQ(files().size(), 2u);
    EXPECT_FALSE(fs::exists(*path + "/placing.tmp"));
}

TEST_F(DriverCacheTest, ADirectoryThatOthersMayWriteIsNotUsed) {
    const auto path = open(kUsers);
    ASSERT_TRUE(path);
    EXPECT_EQ(fs::status(*path).permissions(), fs::perms::owner_all);
    fs::permissions(*path, fs::perms::all);
    EXPECT_FALSE(open(kUsers));
    EXPECT_FALSE(wants_driver_cache(root_, kName, {}));
    fs::remove_all(*path);
    fs::create_directories(scratch_ / "elsewhere");
    fs::create_directory_symlink(scratch_ / "elsewhere", *path);
    EXPECT_FALSE(open(kUsers));
    EXPECT_TRUE(fs::is_empty(scratch_ / "elsewhere"));
}

TEST_F(DriverCacheTest, RemovedTheNextStartBeginsAnew) {
    install({{file_name(1), "one"}});
    const auto path = open();
    ASSERT_TRUE(path);
    EXPECT_EQ(place(), 1u);
    write(*path + "/mesa_shader_cache/foreign", "of somebody");
    ASSERT_TRUE(remove_driver_caches(root_, "gl-other", Log()).ok());
    EXPECT_EQ(files().size(), 1u);
    ASSERT_TRUE(remove_driver_caches(root_, "", Log()).ok());
    EXPECT_TRUE(files().empty());
    EXPECT_TRUE(fs::exists(*path + "/mesa_shader_cache/foreign")) << "what is not ours stays";
    EXPECT_EQ(place(), 1u);
}

}  // namespace
}  // namespace cairn
