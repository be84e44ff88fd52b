// Directories that must not be used, or cannot be written: an error or a read-only cache, one line
// that says why.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "support/files.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr uid_t kSomebody = 65534;

class UnsafeDirectory : public testing::Test {
  protected:
    UnsafeDirectory() {
        options_.root = base_ / "root";
        EXPECT_EQ(mkdir(options_.root.c_str(), 0700), 0);
    }

    std::string cache_path() const { return options_.root + "/test"; }

    void make_cache() {
        Cache cache(options_);
        ASSERT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_OK);
    }

    void expect_denied() {
        LogLines log;
        CacheOptions options = options_;
        options.log = &log;
        for (const std::uint32_t flags : {0u, unsigned{CAIRN_OPEN_READ_ONLY}}) {
            options.flags = flags;
            Cache cache;
            EXPECT_EQ(cache.open(options), CAIRN_ERROR_DENIED) << "flags " << flags;
            EXPECT_FALSE(cache.is_open());
        }
        const auto lines = log.complaints();
        ASSERT_EQ(lines.size(), 2u) << "one line for each open";
        EXPECT_NE(lines[0].find("test") == std::string::npos ? lines[0].find("root") : 0,
                  std::string::npos)
            << "does not name the directory: " << lines[0];
    }

    TempDirectory base_;
    CacheOptions options_;
};

TEST_F(UnsafeDirectory, RootThatIsALinkIsRefused) {
    make_cache();
    ASSERT_EQ(rename(options_.root.c_str(), (base_ / "elsewhere").c_str()), 0);
    ASSERT_EQ(symlink("elsewhere", options_.root.c_str()), 0);
    expect_denied();
}

TEST_F(UnsafeDirectory, RootThatIsADanglingLinkIsRefusedAndNotFollowed) {
    ASSERT_EQ(rmdir(options_.root.c_str()), 0);
    ASSERT_EQ(symlink("elsewhere", options_.root.c_str()), 0);
    LogLines log;
    options_.log = &log;
    Cache cache;
    EXPECT_LT(cache.open(options_), 0);
    EXPECT_NE(access((base_ / "elsewhere").c_str(), F_OK), 0) << "made where the link points";
    EXPECT_EQ(log.complaints().size(), 1u);
}

TEST_F(UnsafeDirectory, CacheDirectoryThatIsALinkIsRefused) {
    make_cache();
    ASSERT_EQ(rename(cache_path().c_str(), (base_ / "elsewhere").c_str()), 0);
    ASSERT_EQ(symlink("../elsewhere", cache_path().c_str()), 0);
    expect_denied();
}

TEST_F(UnsafeDirectory, WritableByGroupOrOthersIsRefused) {
    make_cache();
    for (const mode_t mode : {0770u, 0720u, 0702u, 0777u, 01777u}) {
        ASSERT_EQ(chmod(options_.root.c_str(), mode), 0);
        expect_denied();
        ASSERT_EQ(chmod(options_.root.c_str(), 0700), 0);
        ASSERT_EQ(chmod(cache_path().c_str(), mode), 0);
        expect_denied();
        ASSERT_EQ(chmod(cache_path().c_str(), 0700), 0);
    }
    Cache cache(options_);
    EXPECT_TRUE(cache.get(as_bytes("key"))) << "usable again";
}

TEST_F(UnsafeDirectory, ReadableByOthersIsNoReasonToRefuse) {
    ASSERT_EQ(chmod(options_.root.c_str(), 0755), 0);
    make_cache();
}

TEST_F(UnsafeDirectory, BelongingToSomebodyElseIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "giving a directory away needs root";
    make_cache();
    ASSERT_EQ(chown(cache_path().c_str(), kSomebody, kSomebody), 0);
    expect_denied();
    ASSERT_EQ(chown(cache_path().c_str(), 0, 0), 0);
    ASSERT_EQ(chown(options_.root.c_str(), kSomebody, kSomebody), 0);
    expect_denied();
}

TEST_F(UnsafeDirectory, RootThatIsAFileIsRefused) {
    ASSERT_EQ(rmdir(options_.root.c_str()), 0);
    write_file(options_.root, as_bytes("file"));
    LogLines log;
    options_.log = &log;
    Cache cache;
    EXPECT_LT(cache.open(options_), 0);
    EXPECT_EQ(log.complaints().size(), 1u);
    EXPECT_EQ(as_string(read_file(options_.root)), "file");
}

// ---- what is created

TEST_F(UnsafeDirectory, WhatIsCreatedIsForItsOwnerOnly) {
    ASSERT_EQ(rmdir(options_.root.c_str()), 0);
    options_.root += "/not/yet";
    const mode_t before = umask(0);
    make_cache();
    umask(before);
    struct stat info = {};
    for (const auto &path : {options_.root, cache_path()}) {
        ASSERT_EQ(stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 07777, 0700u) << path;
    }
    for (const auto &path : files_in(cache_path())) {
        ASSERT_EQ(stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0077, 0u) << path;
    }
    const std::string tag = as_string(read_file(options_.root + "/CACHEDIR.TAG"));
    EXPECT_EQ(tag.rfind("Signature: 8a477f597d28d172789f06886806bc55", 0), 0u);
}

// ---- what cannot be written

// Runs `body` as an ordinary user, to whom permissions apply; `owned` is given to that user first.
std::string as_ordinary_user(const std::string &owned, const std::function<int()> &body) {
    if (geteuid() != 0) return run_in_child(30, body);
    for (const auto &path : files_in(owned + "/test")) {
        if (chown(path.c_str(), kSomebody, kSomebody) != 0) return "chown";
    }
    for (const auto &path : {owned, owned + "/test", store_files(owned + "/test")}) {
        if (access(path.c_str(), F_OK) == 0 && chown(path.c_str(), kSomebody, kSomebody) != 0)
            return "chown";
    }
    return run_in_child(30, [&] {
        if (setegid(kSomebody) != 0 || seteuid(kSomebody) != 0) return 99;
        return body();
    });
}

// Checks a cache that can only be read.
int use_read_only(const CacheOptions &options) {
    Cache cache(options);
    if (cache.result() != CAIRN_OK) return 10 - cache.result();
    const auto blob = cache.get(as_bytes("key"));
    if (!blob || as_string(blob->bytes()) != "value") return 1;
    if (cache.contains(as_bytes("key")) != CAIRN_OK) return 2;
    if (cache.put(as_bytes("new"), as_bytes("value")) != CAIRN_ERROR_READ_ONLY) return 3;
    if (cache.remove(as_bytes("key")) != CAIRN_ERROR_READ_ONLY) return 4;
    if (cache.clear() != CAIRN_ERROR_READ_ONLY) return 5;
    if (cache.contains(as_bytes("new")) != CAIRN_MISS) return 6;
    if (cache.stats().entries != 1) return 7;
    return 0;
}

TEST_F(UnsafeDirectory, CacheThatCannotBeWrittenOpensForReading) {
    make_cache();
    ASSERT_EQ(chmod(base_.path().c_str(), 0755), 0);
    for (const std::uint32_t flags : {0u, unsigned{CAIRN_OPEN_READ_ONLY}}) {
        options_.flags = flags;
        for (const auto &path : files_in(cache_path())) ASSERT_EQ(chmod(path.c_str(), 0400), 0);
        ASSERT_EQ(chmod(store_files(cache_path()).c_str(), 0500), 0);
        ASSERT_EQ(chmod(cache_path().c_str(), 0500), 0);
        ASSERT_EQ(chmod(options_.root.c_str(), 0500), 0);
        EXPECT_EQ(as_ordinary_user(options_.root, [&] { return use_read_only(options_); }), "")
            << "flags " << flags;
    }
}

TEST_F(UnsafeDirectory, RootThatCannotBeWrittenAndHasNoCacheIsAnError) {
    ASSERT_EQ(chmod(base_.path().c_str(), 0755), 0);
    ASSERT_EQ(chmod(options_.root.c_str(), 0500), 0);
    const auto body = [&] {
        LogLines log;
        options_.log = &log;
        Cache cache;
        const int result = cache.open(options_);
        if (result != CAIRN_ERROR_DENIED) return 10 - result;
        return log.complaints().size() == 1 ? 0 : 1;
    };
    EXPECT_EQ(as_ordinary_user(options_.root, body), "");
}

TEST_F(UnsafeDirectory, CacheThatCannotBeReadIsAnError) {
    make_cache();
    ASSERT_EQ(chmod(base_.path().c_str(), 0755), 0);
    ASSERT_EQ(chmod(cache_path().c_str(), 0), 0);
    const auto body = [&] {
        Cache cache;
        const int result = cache.open(options_);
        return result == CAIRN_ERROR_DENIED ? 0 : 10 - result;
    };
    EXPECT_EQ(as_ordinary_user(options_.root, body), "");
}

TEST_F(UnsafeDirectory, ReadOnlyFileSystemOpensForReading) {
    if (mount("none", options_.root.c_str(), "tmpfs", 0, "size=8m,mode=0700") != 0)
        GTEST_SKIP() << "a file system cannot be mounted here";
    make_cache();
    EXPECT_EQ(mount("none", options_.root.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
    for (const std::uint32_t flags : {0u, unsigned{CAIRN_OPEN_READ_ONLY}}) {
        options_.flags = flags;
        EXPECT_EQ(run_in_child(30, [&] { return use_read_only(options_); }), "");
    }
    CacheOptions other = options_;
    other.flags = 0;
    other.identifier = "other";
    LogLines log;
    other.log = &log;
    Cache cache;
    EXPECT_LT(cache.open(other), 0);
    EXPECT_EQ(log.complaints().size(), 1u);
    EXPECT_EQ(umount(options_.root.c_str()), 0);
}

}  // namespace
}  // namespace cairn_test
