// SPDX-License-Identifier: MIT
#include "cache/driver_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

const std::string kHex38 = "0123456789abcdef0123456789abcdef012345";
const std::string kHex16 = "0123456789abcdef";

class DriverFilesTest : public ::testing::Test {
  protected:
    std::string add(const std::string &name) const {
        const fs::path path = scratch_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << "content";
        return path;
    }
    bool clear(DriverLayout layout, const std::string &name = "cache") const {
        return clear_driver_folder({layout, scratch_ / name}, Log()).ok();
    }
    bool there(const std::string &name) const {
        return fs::symlink_status(scratch_ / name).type() != fs::file_type::not_found;
    }
    // Each is planted, the folder cleared; `own` must be gone, all of `foreign` still be there.
    void expect_cleared(DriverLayout layout, const std::vector<std::string> &own,
                        const std::vector<std::string> &foreign) const {
        for (const auto &name : own) add("cache/" + name);
        for (const auto &name : foreign) add("cache/" + name);
        EXPECT_TRUE(clear(layout));
        for (const auto &name : own) EXPECT_FALSE(there("cache/" + name)) << name;
        for (const auto &name : foreign) EXPECT_TRUE(there("cache/" + name)) << name;
        EXPECT_TRUE(there("cache")) << "the directory itself stays";
    }

    testing::Scratch scratch_;
};

TEST_F(DriverFilesTest, OfMesasFilesOnlyThoseWithItsNamesGo) {
    expect_cleared(DriverLayout::mesa_files,
                   {"index", "marker", "00/" + kHex38, "ff/" + kHex38 + ".tmp",
                    "a1/" + kHex38 + kHex38.substr(0, 24)},
                   {"notes.txt", "index.bak", "00a/" + kHex38, "0g/" + kHex38, "AA/" + kHex38,
                    "11/" + kHex38 + "0", "11/" + kHex38 + ".bak", "22/deeper/" + kHex38,
                    ".hidden/" + kHex38, "33/" + kHex38 + ".tmp.tmp"});
    EXPECT_FALSE(there("cache/00")) << "empty directories of theirs go";
    EXPECT_TRUE(there("cache/11")) << "others stay";
}

TEST_F(DriverFilesTest, OfMesasSingleFileOnlyThatGoes) {
    expect_cleared(
        DriverLayout::mesa_single,
        {"foz_cache.foz", "driver/gpu (x)/foz_cache.foz", "driver/gpu (x)/foz_cache_idx.foz"},
        {"driver/other.foz", "driver/gpu/deeper/foz_cache.foz", "photo.jpg"});
}

TEST_F(DriverFilesTest, OfMesasDatabaseOnlyItsFilesGo) {
    expect_cleared(DriverLayout::mesa_database,
                   {"mesa_cache.db", "mesa_cache.idx", "part0/mesa_cache.db",
                    "part49/mesa_cache.idx", "marker"},
                   {"part/mesa_cache.db", "partx/mesa_cache.db", "part0/mesa_cache.db.bak",
                    "part1/part1/mesa_cache.db", "part123456/mesa_cache.db", "other.db"});
}

TEST_F(DriverFilesTest, OfNvidiasFilesOnlyThoseWithItsNamesGo) {
    const std::string folder = kHex16 + kHex16 + "/" + kHex16 + "/";
    expect_cleared(DriverLayout::nvidia, {folder + kHex16 + ".bin", folder + kHex16 + ".toc"},
                   {"readme.txt", kHex16 + ".bin", folder + "thesis.bin", folder + kHex16,
                    folder + kHex16 + ".bin.toc", "my/" + kHex16 + "/" + kHex16 + ".bin",
                    folder + "x/" + kHex16 + ".bin"});
}

TEST_F(DriverFilesTest, NoLinkIsFollowed) {
    add("outside/00/" + kHex38);
    add("outside/" + kHex38);
    add("cache/11/" + kHex38);
    fs::create_directory_symlink(scratch_ / "outside/00", scratch_ / "cache/00");
    fs::create_symlink(scratch_ / ("outside/" + kHex38),
                       scratch_ / ("cache/11/a" + kHex38.substr(1)));
    fs::create_symlink(scratch_ / ("outside/" + kHex38), scratch_ / "cache/index");
    EXPECT_TRUE(clear(DriverLayout::mesa_files));
    EXPECT_TRUE(there("outside/00/" + kHex38));
    EXPECT_TRUE(there("outside/" + kHex38));
    EXPECT_TRUE(there("cache/00")) << "nor are links removed: no driver makes them";
    EXPECT_TRUE(there("cache/index"));
    EXPECT_FALSE(there("cache/11/" + kHex38));

    fs::create_directory_symlink(scratch_ / "outside", scratch_ / "linked");
    EXPECT_FALSE(clear(DriverLayout::mesa_files, "linked"));
    EXPECT_TRUE(there("outside/00/" + kHex38));
}

TEST_F(DriverFilesTest, WhatIsNoRegularFileStays) {
    fs::create_directories(scratch_ / "cache/00");
    ASSERT_EQ(::mkfifo((scratch_ / ("cache/00/" + kHex38)).c_str(), 0600), 0);
    fs::create_directories(scratch_ / "cache/index/inside");
    add("cache/22");
    EXPECT_TRUE(clear(DriverLayout::mesa_files));
    EXPECT_TRUE(there("cache/00/" + kHex38));
    EXPECT_TRUE(there("cache/index/inside"));
    EXPECT_TRUE(there("cache/22"));
}

TEST_F(DriverFilesTest, WhatIsNotThereIsNoFailure) {
    for (const DriverLayout layout : {DriverLayout::mesa_files, DriverLayout::mesa_single,
                                      DriverLayout::mesa_database, DriverLayout::nvidia}) {
        EXPECT_TRUE(clear(layout, "missing"));
    }
    EXPECT_FALSE(there("missing"));
}

class DriverFoldersTest : public ::testing::Test {
  protected:
    DriverFoldersTest() {
        for (const char *name : kNames) {
            const char *value = std::getenv(name);
            before_.emplace_back(value == nullptr ? "" : value);
            ::unsetenv(name);
        }
        ::setenv("HOME", "/home/me", 1);
    }
    ~DriverFoldersTest() override {
        for (std::size_t i = 0; i < before_.size(); ++i) {
            before_[i].empty() ? ::unsetenv(kNames[i]) : ::setenv(kNames[i], before_[i].c_str(), 1);
        }
    }

    static std::vector<std::string> paths() {
        std::vector<std::string> all;
        for (const DriverFolder &folder : driver_folders()) all.push_back(folder.path);
        return all;
    }

    static constexpr const char *kNames[] = {"HOME", "XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR",
                                             "MESA_GLSL_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH"};
    std::vector<std::string> before_;
};

using Paths = std::vector<std::string>;

TEST_F(DriverFoldersTest, AreBelowTheHome) {
    EXPECT_EQ(paths(),
              (Paths{"/home/me/.cache/mesa_shader_cache", "/home/me/.cache/mesa_shader_cache_sf",
                     "/home/me/.cache/mesa_shader_cache_db", "/home/me/.cache/nvidia/GLCache",
                     "/home/me/.nv/GLCache"}));
}

TEST_F(DriverFoldersTest, FollowXdg) {
    ::setenv("XDG_CACHE_HOME", "/c", 1);
    EXPECT_EQ(paths(),
              (Paths{"/c/mesa_shader_cache", "/c/mesa_shader_cache_sf", "/c/mesa_shader_cache_db",
                     "/c/nvidia/GLCache", "/home/me/.nv/GLCache"}));
}

TEST_F(DriverFoldersTest, FollowTheDriversOwnVariables) {
    ::setenv("MESA_GLSL_CACHE_DIR", "/old", 1);
    ::setenv("__GL_SHADER_DISK_CACHE_PATH", "/n", 1);
    EXPECT_EQ(paths(), (Paths{"/old/mesa_shader_cache", "/old/mesa_shader_cache_sf",
                              "/old/mesa_shader_cache_db", "/n/GLCache"}));
    ::setenv("MESA_SHADER_CACHE_DIR", "/new", 1);
    EXPECT_EQ(paths()[0], "/new/mesa_shader_cache");
}

}  // namespace
}  // namespace cairn
