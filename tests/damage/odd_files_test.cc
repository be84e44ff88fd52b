// Something that is no file has the name of one of a cache's files: the cache opens, nothing
// blocks, and nothing is touched but the name.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "support/files.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr const char *kKinds[] = {"link",   "dangling link", "directory", "full directory",
                                  "socket", "fifo",          "device"};
constexpr unsigned kHungS = 60;

class OddFiles : public testing::Test {
  protected:
    OddFiles() {
        options_.root = base_ / "root";
        options_.log = &log_;
        write_file(victim_, as_bytes("somebody else's"));
    }
    ~OddFiles() override {
        for (const std::string &path : odd_) remove_tree(path);
    }

    std::string path_of(const std::string &name) const {
        return path_in_cache(options_.root + "/test", name);
    }

    void make_cache() {
        Cache cache(options_);
        ASSERT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_OK);
    }

    // Puts something in the place of a file. False: not as this user.
    bool put_there(const std::string &kind, const std::string &path) {
        (void)unlink(path.c_str());
        odd_.push_back(path);
        if (kind == "link") return symlink(victim_.c_str(), path.c_str()) == 0;
        if (kind == "dangling link") return symlink((victim_ + "-").c_str(), path.c_str()) == 0;
        if (kind == "fifo") return mkfifo(path.c_str(), 0600) == 0;
        if (kind == "device") {
            struct statvfs disk = {};
            statvfs(options_.root.c_str(), &disk);
            return (disk.f_flag & ST_NODEV) == 0 &&
                   mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0;
        }
        if (kind == "socket") return bind_socket(path);
        if (mkdir(path.c_str(), 0700) != 0) return false;
        if (kind == "full directory") write_file(path + "/file", as_bytes("somebody else's"));
        return true;
    }
    static bool bind_socket(const std::string &path) {
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        // Its path may be longer than an address can be.
        if (chdir(path.substr(0, path.rfind('/')).c_str()) != 0) return false;
        std::strncpy(address.sun_path, path.c_str() + path.rfind('/') + 1,
                     sizeof address.sun_path - 1);
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        const bool bound = bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
        ::close(fd);
        return bound;
    }

    // Everything that a cache can do, each without waiting for anything.
    int use(Cache &cache) {
        EXPECT_EQ(cache.put(as_bytes("another"), as_bytes("one")), CAIRN_OK);
        EXPECT_EQ(as_string(cache.get(as_bytes("another"))->bytes()), "one");
        EXPECT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_OK);
        cairn_lease *lease = nullptr;
        EXPECT_EQ(cairn_lease_acquire(cache.handle(), "leased", 6, 0, &lease), CAIRN_OK);
        cairn_lease_release(lease);
        EXPECT_EQ(cache.sync(), CAIRN_OK);
        EXPECT_EQ(cache.compress(), CAIRN_OK);
        EXPECT_EQ(cache.remove(as_bytes("another")), CAIRN_OK);
        EXPECT_GT(cache.stats().disk_bytes, 0u);
        return testing::Test::HasFailure() ? 1 : 0;
    }

    void expect_usable() {
        EXPECT_EQ(run_in_child(kHungS,
                               [&] {
                                   Cache cache(options_);
                                   EXPECT_EQ(cache.result(), CAIRN_OK);
                                   if (!cache.is_open()) return 1;
                                   const int failed = use(cache);
                                   EXPECT_LE(log_.complaints().size(), 1u) << log_.complaints()[1];
                                   return failed;
                               }),
                  "");
        EXPECT_EQ(run_in_child(kHungS,
                               [&] {
                                   Cache cache(options_);
                                   const auto found = cache.get(as_bytes("key"));
                                   EXPECT_TRUE(found) << "is not kept";
                                   EXPECT_EQ(cache.clear(), CAIRN_OK);
                                   return testing::Test::HasFailure() ? 1 : 0;
                               }),
                  "");
        EXPECT_EQ(as_string(read_file(victim_)), "somebody else's");
        EXPECT_NE(access((victim_ + "-").c_str(), F_OK), 0) << "made where a link points";
    }

    static void remove_tree(const std::string &path) {
        (void)unlink((path + "/file").c_str());
        if (unlink(path.c_str()) != 0) (void)rmdir(path.c_str());
    }

    TempDirectory base_;
    const std::string victim_ = base_ / "victim";
    CacheOptions options_;
    LogLines log_;
    std::vector<std::string> odd_;
};

TEST_F(OddFiles, ACacheIsUsedAllTheSame) {
    make_cache();
    const auto segments = files_in(options_.root + "/test", ".val");
    ASSERT_EQ(segments.size(), 1u);
    const std::string segment = segments[0].substr(segments[0].rfind('/') + 1);
    for (const std::string &name :
         {std::string("cache.lock"), std::string("cache.idx"), segment, std::string("leases"),
          std::string("ghosts"), std::string("reuse"), std::string("about"),
          std::string("index-1.tmp"), std::string("00000fff.val")}) {
        for (const std::string kind : kKinds) {
            SCOPED_TRACE(name + ": " + kind);
            make_cache();
            if (!put_there(kind, path_of(name))) continue;
            expect_usable();
            remove_tree(path_of(name));
        }
    }
}

TEST_F(OddFiles, WhoOnlyReadsTakesNothingAway) {
    for (const std::string kind : kKinds) {
        SCOPED_TRACE(kind);
        make_cache();
        if (!put_there(kind, path_of("cache.lock"))) continue;
        options_.flags = CAIRN_OPEN_READ_ONLY;
        EXPECT_EQ(run_in_child(kHungS,
                               [&] {
                                   Cache cache(options_);
                                   return cache.get(as_bytes("key")) ? 0 : 1;
                               }),
                  "");
        struct stat info = {};
        EXPECT_EQ(lstat(path_of("cache.lock").c_str(), &info), 0);
        EXPECT_FALSE(S_ISREG(info.st_mode));
        remove_tree(path_of("cache.lock"));
        options_.flags = 0;
    }
}

TEST_F(OddFiles, WhatCannotBeRemovedLeavesTheCacheForReading) {
    make_cache();
    ASSERT_EQ(unlink(path_of("cache.lock").c_str()), 0);
    ASSERT_EQ(mkdir(path_of("cache.lock").c_str(), 0700), 0);
    if (mount("none", path_of("cache.lock").c_str(), "tmpfs", 0, nullptr) != 0) {
        (void)rmdir(path_of("cache.lock").c_str());
        GTEST_SKIP() << "mounting needs more rights";
    }
    {
        Cache cache(options_);
        EXPECT_EQ(cache.result(), CAIRN_OK);
        if (cache.is_open()) {
            EXPECT_TRUE(cache.get(as_bytes("key")));
            EXPECT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_ERROR_READ_ONLY);
        }
        ASSERT_EQ(log_.complaints().size(), 1u);
        EXPECT_NE(log_.complaints()[0].find("remove it"), std::string::npos);
    }
    EXPECT_EQ(umount(path_of("cache.lock").c_str()), 0);
    EXPECT_EQ(rmdir(path_of("cache.lock").c_str()), 0);
}

TEST_F(OddFiles, AProgramCacheIsUsedAllTheSame) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = options_.root.c_str();
    options.application = "app";
    options.identity = "driver";
    std::string directory;
    const auto use_cache = [&](bool is_first) {
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
        if (cache == nullptr) return;
        directory = options_.root + "/" + cairn_program_cache_identifier(cache) + "/";
        EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
        EXPECT_EQ(cairn_flush(cache, 10'000), CAIRN_OK);
        EXPECT_EQ(cairn_contains(cache, "key", 3), CAIRN_OK);
        EXPECT_EQ(cairn_contains(cache, "kept", 4), is_first ? CAIRN_MISS : CAIRN_OK);
        EXPECT_EQ(cairn_put(cache, "kept", 4, "value", 5, nullptr), CAIRN_OK);
        std::uint32_t ticket = 0;
        EXPECT_EQ(cairn_use_begin(cache, "key", 3, &ticket), CAIRN_OK);
        cairn_use_end(cache, ticket);
        cairn_close(cache);
    };
    use_cache(true);
    for (const std::string name :
         {"crashes", "order", "generation", "cache.lock", "ghosts", "reuse"}) {
        for (const std::string kind : kKinds) {
            SCOPED_TRACE(name + ": " + kind);
            if (!put_there(kind, directory + name)) continue;
            const auto use_twice = [&] {
                use_cache(false);
                use_cache(false);
                return testing::Test::HasFailure() ? 1 : 0;
            };
            EXPECT_EQ(run_in_child(kHungS, use_twice), "");
            EXPECT_EQ(as_string(read_file(victim_)), "somebody else's");
            remove_tree(directory + name);
            use_cache(false);
        }
    }
}

}  // namespace
}  // namespace cairn_test
