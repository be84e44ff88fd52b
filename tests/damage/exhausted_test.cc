// Descriptors, file sizes or disk space run out: error codes and misses, nothing lost, and the
// application goes on.
// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "support/files.h"
#include "support/process.h"
#include "support/stamped_value.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr unsigned kWatchdogSeconds = 60;
constexpr std::uint64_t kEntries = 60;

CacheOptions options_in(const std::string &root) {
    CacheOptions options;
    options.root = root;
    options.memory_bytes = CAIRN_NONE;  // so that each look-up reads the disk
    return options;
}

bool put_entry(Cache &cache, std::uint64_t n, std::size_t size = 1000) {
    return cache.put(numbered_key(1, n), stamped_value({n, 0, 0, 0}, size)) == CAIRN_OK;
}

// 1: found; 0: not found; -1: something else is there.
int find_entry(Cache &cache, std::uint64_t n) {
    const auto blob = cache.get(numbered_key(1, n));
    if (!blob) return 0;
    const auto stamp = read_stamp(blob->bytes());
    return stamp && stamp->key == n ? 1 : -1;
}

bool has_all(Cache &cache, std::uint64_t count) {
    for (std::uint64_t n = 0; n < count; ++n) {
        if (find_entry(cache, n) != 1) return false;
    }
    return true;
}

// ---- descriptors

void limit_descriptors(rlim_t count) {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = count;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// The limit that allows `count` more descriptors than are open now.
rlim_t room_for(rlim_t count) {
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    return static_cast<rlim_t>(next) + count;
}

// Several segments, so that look-ups need descriptors of their own.
void fill_segments(const std::string &root) {
    std::vector<Cache> caches(6);
    for (Cache &cache : caches) ASSERT_EQ(cache.open(options_in(root)), CAIRN_OK);
    for (std::uint64_t n = 0; n < kEntries; ++n) ASSERT_TRUE(put_entry(caches[n % 6], n));
}

int open_with_few_descriptors(const std::string &root, rlim_t count) {
    rlimit before = {};
    getrlimit(RLIMIT_NOFILE, &before);
    limit_descriptors(room_for(count));
    Cache cache;
    const int opened = cache.open(options_in(root));
    std::uint64_t missed = 0;
    if (opened == CAIRN_OK) {
        for (std::uint64_t n = 0; n < kEntries; ++n) {
            const int found = find_entry(cache, n);
            if (found < 0) return 1;
            missed += found == 0;
        }
        const bool stored = put_entry(cache, 1000 + count);
        if (stored && find_entry(cache, 1000 + count) < 0) return 2;
        cache.sync();
        cache.stats();
    }
    setrlimit(RLIMIT_NOFILE, &before);
    // The same handle finds everything again: nothing was taken for damaged.
    if (opened == CAIRN_OK && !has_all(cache, kEntries)) return 3;
    cache.close();
    if (cache.open(options_in(root)) != CAIRN_OK || !has_all(cache, kEntries)) return 4;
    if (cache.stats().entries < kEntries) return 5;
    // With none at all it cannot have opened; with plenty it must have worked.
    if (count == 0 && opened == CAIRN_OK) return 6;
    if (count >= 30 && (opened != CAIRN_OK || missed != 0)) return 7;
    return 0;
}

TEST(Exhausted, DescriptorsAtOpenLoseNothing) {
    const TempDirectory root;
    fill_segments(root.path());
    for (const rlim_t count : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 12u, 14u, 30u}) {
        EXPECT_EQ(run_in_child(kWatchdogSeconds,
                               [&] { return open_with_few_descriptors(root.path(), count); }),
                  "")
            << "room for " << count;
    }
}

TEST(Exhausted, DescriptorsOfAnOpenCacheLoseNothing) {
    const TempDirectory root;
    fill_segments(root.path());
    EXPECT_EQ(
        run_in_child(kWatchdogSeconds,
                     [&] {
                         Cache cache(options_in(root.path()));
                         rlimit before = {};
                         getrlimit(RLIMIT_NOFILE, &before);
                         limit_descriptors(room_for(0));
                         for (std::uint64_t n = 0; n < kEntries; ++n) {
                             if (find_entry(cache, n) < 0) return 1;
                             const int result = cache.put(numbered_key(2, n), as_bytes("value"));
                             if (result == CAIRN_OK && !cache.get(numbered_key(2, n))) return 2;
                             if (cache.contains(numbered_key(1, n)) < 0) return 3;
                         }
                         cache.stats();
                         setrlimit(RLIMIT_NOFILE, &before);
                         if (!has_all(cache, kEntries)) return 4;
                         return put_entry(cache, 2000) && find_entry(cache, 2000) == 1 ? 0 : 5;
                     }),
        "");
}

// ---- file size

enum class OnTooLarge { signal_ignored, signal_default };

// RLIMIT_FSIZE makes the kernel send SIGXFSZ, which ends a process that has not said otherwise: a
// library that writes must know before it does.
int store_with_small_files(const std::string &root, rlim_t size, OnTooLarge on_too_large) {
    if (on_too_large == OnTooLarge::signal_ignored) signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {size, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    Cache cache;
    std::vector<std::uint64_t> stored;
    if (cache.open(options_in(root)) == CAIRN_OK) {
        for (std::uint64_t n = 0; n < 400; ++n) {
            if (put_entry(cache, n, 4000)) stored.push_back(n);
        }
        for (const std::uint64_t n : stored) {
            if (find_entry(cache, n) != 1) return 1;
        }
        cache.sync();
        cache.close();
    }
    const rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &unlimited);
    if (cache.open(options_in(root)) != CAIRN_OK) return 2;
    for (const std::uint64_t n : stored) {
        if (find_entry(cache, n) != 1) return 3;
    }
    return put_entry(cache, 1000, 4000) && find_entry(cache, 1000) == 1 ? 0 : 4;
}

TEST(Exhausted, SmallFileSizeLimitLosesNothing) {
    for (const auto how : {OnTooLarge::signal_ignored, OnTooLarge::signal_default}) {
        for (const rlim_t size : {0u, 100u, 4096u, 30000u, 50000u, 65536u, 70000u, 1000000u}) {
            const TempDirectory root;
            EXPECT_EQ(run_in_child(kWatchdogSeconds,
                                   [&] { return store_with_small_files(root.path(), size, how); }),
                      "")
                << "limit " << size
                << (how == OnTooLarge::signal_default ? ", SIGXFSZ as by default" : "");
        }
    }
}

// A cache of 2 MiB of entries in several segments, which meets a limit below that.
constexpr std::uint64_t kManyEntries = 500;

// Everything that writes, with a limit that fell while the cache was open, and falls further.
// Results are those of a disk that is full; what was acknowledged holds.
int change_below_limit(const CacheOptions &options, rlim_t size) {
    Cache cache(options);
    std::vector<std::uint64_t> version(kManyEntries, 0);
    const auto put = [&](std::uint64_t n, std::uint64_t v, std::size_t bytes) {
        const int result = cache.put(numbered_key(1, n), stamped_value({n, 0, v, 0}, bytes));
        if (result == CAIRN_OK) version[n] = v;
        return result == CAIRN_OK || result == CAIRN_ERROR_NO_SPACE;
    };
    if (!put(0, 1, 4000)) return 1;  // this process has a segment
    for (const rlim_t now : {size, size / 2, size / 2 + 1000}) {
        const rlimit limit = {now, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        for (std::uint64_t n = 0; n < kManyEntries; n += 7) {
            if (!put(n, now + 2, n % 14 == 0 ? 4000 : 60000)) return 2;
        }
        for (std::uint64_t n = 3; n < kManyEntries; n += 50) {
            const int result = cache.remove(numbered_key(1, n));
            if (result == CAIRN_OK || result == CAIRN_MISS) version[n] = UINT64_MAX;
            if (result != CAIRN_OK && result != CAIRN_MISS && result != CAIRN_ERROR_NO_SPACE) {
                return 3;
            }
        }
        cache.compress();
        cache.sync();
        Cache other(options);
        if (!other.is_open()) return 4;
    }
    const rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &unlimited);
    Cache later(options);
    for (std::uint64_t n = 0; n < kManyEntries; ++n) {
        const auto blob = later.get(numbered_key(1, n));
        if (blob.has_value() != (version[n] != UINT64_MAX)) return 5;
        const auto stamp = blob ? read_stamp(blob->bytes()) : std::nullopt;
        if (blob && (!stamp || stamp->key != n || stamp->version != version[n])) return 6;
    }
    const rlimit limit = {size, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (later.clear() != CAIRN_OK) return 7;
    setrlimit(RLIMIT_FSIZE, &unlimited);
    return put_entry(cache, 1000) && find_entry(later, 1000) == 1 ? 0 : 8;
}

TEST(Exhausted, AFileSizeLimitThatFallsIsAnErrorAndNoSignal) {
    for (const rlim_t size : {0u, 1u, 100u, 4096u, 36864u, 70000u, 200000u, 1000000u, 4000000u}) {
        const TempDirectory root;
        CacheOptions options = options_in(root.path());
        options.limit_bytes = std::uint64_t{64} << 20;
        {
            std::vector<Cache> caches(3);
            for (Cache &cache : caches) ASSERT_EQ(cache.open(options), CAIRN_OK);
            for (std::uint64_t n = 0; n < kManyEntries; ++n) {
                ASSERT_TRUE(put_entry(caches[n % 3], n, 4000));
            }
        }
        EXPECT_EQ(run_in_child(kWatchdogSeconds, [&] { return change_below_limit(options, size); }),
                  "")
            << "limit " << size;
    }
}

// A full cache gives entries up for those that come. One that cannot come costs none.
TEST(Exhausted, WhatNoFileMayHoldCostsNoEntry) {
    const TempDirectory root;
    CacheOptions options = options_in(root.path());
    options.limit_bytes = CAIRN_LIMIT_BYTES_MIN;
    const auto body = [&] {
        Cache cache(options);
        for (std::uint64_t n = 0; n < 1000; ++n) {
            if (!put_entry(cache, n, 4000)) return 1;
        }
        const std::uint64_t before = cache.stats().entries;
        const rlimit limit = {2000, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        for (std::uint64_t n = 2000; n < 2200; ++n) {
            const auto value = stamped_value({n, 0, 0, 0}, 4000);
            const int result = cache.put(numbered_key(1, n), value);
            if (result != CAIRN_ERROR_NO_SPACE) return 20 - result;
        }
        return cache.stats().entries == before ? 0 : 2;
    };
    EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
}

// ---- disk space

class FullFileSystem : public testing::Test {
  protected:
    void SetUp() override {
        // Small enough to fill, large enough for an index and some segments.
        mounted_ = mount("none", root_.path().c_str(), "tmpfs", 0, "size=3m,mode=0700") == 0;
        if (!mounted_) GTEST_SKIP() << "a file system cannot be mounted here";
    }
    void TearDown() override {
        if (!mounted_) return;
        EXPECT_EQ(umount2(root_.path().c_str(), MNT_DETACH), 0);
    }
    void fill_up() const {
        const std::string path = root_ / "ballast";
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        const ByteVector block(4096, 'b');
        while (write(file, block.data(), block.size()) > 0) {
        }
        close(file);
    }

    TempDirectory root_;
    bool mounted_ = false;
};

TEST_F(FullFileSystem, TakesEntriesUntilItIsFullAndKeepsThem) {
    const auto body = [&] {
        Cache cache(options_in(root_.path()));
        std::vector<std::uint64_t> stored;
        int refused = CAIRN_OK;
        for (std::uint64_t n = 0; n < 3000; ++n) {
            const auto value = stamped_value({n, 0, 0, 0}, 3000);
            const int result = cache.put(numbered_key(1, n), value);
            if (result == CAIRN_OK)
                stored.push_back(n);
            else
                refused = result;
        }
        if (stored.size() < 200 || stored.size() > 1100) return 1;
        if (refused != CAIRN_ERROR_NO_SPACE) return 20 - refused;
        Cache later(options_in(root_.path()));
        for (const std::uint64_t n : stored) {
            if (find_entry(cache, n) != 1 || find_entry(later, n) != 1) return 2;
        }
        if (cache.clear() != CAIRN_OK) return 3;
        return put_entry(cache, 5000) && find_entry(later, 5000) == 1 ? 0 : 4;
    };
    EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
}

// A mapped page without a block behind it would be SIGBUS: the index must have its blocks before it
// is written.
TEST_F(FullFileSystem, StaysReadableWhenOthersFillIt) {
    const auto body = [&] {
        Cache cache(options_in(root_.path()));
        for (std::uint64_t n = 0; n < 50; ++n) {
            if (!put_entry(cache, n)) return 1;
        }
        fill_up();
        for (std::uint64_t n = 0; n < 2000; ++n) {
            const auto value = stamped_value({n, 0, 0, 0}, 500);
            const int result = cache.put(numbered_key(2, n), value);
            if (result == CAIRN_OK && !cache.get(numbered_key(2, n))) return 2;
            if (result != CAIRN_OK && result != CAIRN_ERROR_NO_SPACE) return 20 - result;
        }
        if (!has_all(cache, 50)) return 3;
        for (std::uint64_t n = 0; n < 25; ++n) {
            if (cache.remove(numbered_key(1, n)) != CAIRN_OK) return 4;
        }
        Cache later;
        if (later.open(options_in(root_.path())) != CAIRN_OK) return 5;
        for (std::uint64_t n = 0; n < 50; ++n) {
            if (find_entry(later, n) != (n < 25 ? 0 : 1)) return 6;
        }
        CacheOptions other = options_in(root_.path());
        other.identifier = "other";
        Cache fresh;
        const int result = fresh.open(other);
        if (result == CAIRN_OK) {
            for (std::uint64_t n = 0; n < 2000; ++n) put_entry(fresh, n, 100);
        } else if (result != CAIRN_ERROR_NO_SPACE) {
            return 20 - result;
        }
        unlink((root_ / "ballast").c_str());
        return put_entry(cache, 3000) && find_entry(later, 3000) == 1 ? 0 : 7;
    };
    EXPECT_EQ(run_in_child(kWatchdogSeconds, body), "");
}

}  // namespace
}  // namespace cairn_test
