// Memory that cannot be had: each call, with each of its allocations failing, has a documented
// result, leaves what was there, holds no lock, and does not end the process.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>
#include <cairn/cairn_control.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_directory.h"

// The process's own allocator, with failures where a test asks for them.
extern "C" {
void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *memory, std::size_t size);
void *__libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

// Allocations up to the one that fails; 0: none does.
thread_local std::uint64_t t_countdown = 0;
thread_local bool t_is_lasting = false;      // and all that follow
std::atomic<std::uint64_t> g_countdown = 0;  // the same of all threads
std::atomic<std::uint64_t> g_failures = 0;

bool fails() {
    bool is_it = false;
    if (t_countdown != 0) {
        is_it = t_countdown == 1;
        if (!is_it || !t_is_lasting) --t_countdown;
    }
    std::uint64_t left = g_countdown.load();
    while (left != 0 && !g_countdown.compare_exchange_weak(left, left - 1)) {
    }
    is_it = is_it || left == 1;
    if (is_it) {
        ++g_failures;
        errno = ENOMEM;
    }
    return is_it;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void *malloc(std::size_t size) {
    return fails() ? nullptr : __libc_malloc(size);
}
void *calloc(std::size_t count, std::size_t size) {
    return fails() ? nullptr : __libc_calloc(count, size);
}
void *realloc(void *memory, std::size_t size) {
    return fails() ? nullptr : __libc_realloc(memory, size);
}
void *aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails() ? nullptr : __libc_memalign(alignment, size);
}
}
#pragma GCC visibility pop

namespace cairn_test {
namespace {

constexpr unsigned kHungS = 120;
constexpr int kEntries = 40;

// Neither takes memory.
struct Key {
    explicit Key(int number)
        : size(static_cast<std::size_t>(std::snprintf(text, sizeof text, "key %d", number))) {}
    char text[32];
    std::size_t size;
};
constexpr std::size_t kValueSize = 3000;
const std::vector<std::string> &values() {
    static const auto *const kValues = [] {
        auto *const made = new std::vector<std::string>;
        for (char c = 'a'; c <= 'z'; ++c) made->emplace_back(kValueSize, c);
        return made;
    }();
    return *kValues;
}
const std::string &value_of(int number) {
    return values()[static_cast<std::size_t>(number % 26)];
}

int count_entries(void *count, const cairn_entry *) {
    ++*static_cast<int *>(count);
    return 0;
}

class NoMemory : public testing::Test {
  public:
    NoMemory() {
        (void)values();
        ::setenv("XDG_RUNTIME_DIR", root_.c_str(), 1);  // telling an agent takes memory, too
    }
    ~NoMemory() override { ::unsetenv("XDG_RUNTIME_DIR"); }

    cairn_cache *open_disk() {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = "test";
        options.limit_bytes = CAIRN_LIMIT_BYTES_MIN;
        options.memory_bytes = 64 << 10;
        cairn_cache *cache = nullptr;
        result_ = cairn_open(&options, &cache);
        return cache;
    }
    cairn_cache *open_programs() {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.application = "an-application-with-a-long-name";
        options.identity = "a driver";
        cairn_cache *cache = nullptr;
        result_ = cairn_program_cache_open(&options, &cache);
        return cache;
    }
    cairn_cache *open_memory() {
        cairn_options options = {};
        options.size = sizeof options;
        options.identifier = "test";
        options.mode = CAIRN_MODE_MEMORY;
        cairn_cache *cache = nullptr;
        result_ = cairn_open(&options, &cache);
        return cache;
    }
    static void fill(cairn_cache *cache) {
        for (int i = 0; i < kEntries; ++i) {
            ASSERT_EQ(put(cache, i), CAIRN_OK);
        }
    }
    static int put(cairn_cache *cache, int number) {
        const Key key(number);
        return cairn_put(cache, key.text, key.size, value_of(number).data(), kValueSize, nullptr);
    }
    static int get(cairn_cache *cache, int number) {
        const Key key(number);
        cairn_blob *blob = nullptr;
        const int result = cairn_get(cache, key.text, key.size, &blob);
        if (result == CAIRN_OK) {
            EXPECT_EQ(cairn_blob_size(blob), kValueSize);
            EXPECT_EQ(*static_cast<const char *>(cairn_blob_data(blob)), value_of(number)[0]);
        }
        cairn_blob_free(blob);
        return result;
    }

    // Calls with the first, the second, ... allocation failing, until there is none to fail.
    // `check` is asked after each, with whether one failed.
    template <typename Call, typename Check>
    static void with_each_failing(const char *name, Call call, Check check) {
        for (const bool is_lasting : {false, true}) {
            for (std::uint64_t number = 1;; ++number) {
                SCOPED_TRACE(std::string(name) + ", allocation " + std::to_string(number) +
                             (is_lasting ? " and all behind it" : ""));
                const std::uint64_t before = g_failures;
                t_is_lasting = is_lasting;
                t_countdown = number;
                const int result = call();
                t_countdown = 0;
                const bool failed = g_failures != before;
                check(result, failed);
                if (!failed || HasFatalFailure() || HasNonfatalFailure()) break;
                ASSERT_LT(number, 5000u);
            }
        }
    }
    // The same of a call that may say so, and nothing else.
    template <typename Call>
    static void expect_told(const char *name, int good, Call call) {
        with_each_failing(name, call, [&](int result, bool failed) {
            const bool is_told = failed && result == CAIRN_ERROR_NO_MEMORY;
            EXPECT_TRUE(result == good || is_told) << cairn_result_string(result);
        });
    }

    TempDirectory base_;
    std::string root_ = base_ / "a/root/whose/path/is/longer/than/what/a/string/holds/in/itself";
    int result_ = CAIRN_OK;
};

TEST_F(NoMemory, EveryCallOnACacheSaysSoAndLosesNothing) {
    const auto body = [&] {
        cairn_cache *cache = open_disk();
        fill(cache);
        const Key key(3);
        char buffer[4000];
        std::size_t size = 0;
        expect_told("get", CAIRN_OK, [&] { return get(cache, 3); });
        expect_told("get of what is not there", CAIRN_MISS, [&] { return get(cache, 1000); });
        expect_told("second get", CAIRN_OK, [&] { return get(cache, 3); });
        expect_told("get_into", CAIRN_OK, [&] {
            return cairn_get_into(cache, key.text, key.size, buffer, sizeof buffer, &size);
        });
        expect_told("contains", CAIRN_OK,
                    [&] { return cairn_contains(cache, key.text, key.size); });
        expect_told("replacing put", CAIRN_OK, [&] { return put(cache, 3); });
        int next = 100;
        expect_told("new put", CAIRN_OK, [&] {
            const int result = put(cache, ++next);
            t_countdown = 0;
            EXPECT_EQ(get(cache, next), result == CAIRN_OK ? CAIRN_OK : CAIRN_MISS);
            return result;
        });
        expect_told("lease", CAIRN_OK, [&] {
            cairn_lease *lease = nullptr;
            const int result = cairn_lease_acquire(cache, "leased", 6, 0, &lease);
            cairn_lease_release(lease);
            return result;
        });
        expect_told("stats", CAIRN_OK, [&] {
            cairn_stats stats = {};
            stats.size = sizeof stats;
            return cairn_stats_get(cache, &stats);
        });
        expect_told("sync", CAIRN_OK, [&] { return cairn_sync(cache); });
        for (int i = 0; i < kEntries; ++i) EXPECT_EQ(get(cache, i), CAIRN_OK) << i;
        expect_told("compress", CAIRN_OK, [&] { return cairn_compress(cache); });
        for (int i = 0; i < kEntries; ++i) EXPECT_EQ(get(cache, i), CAIRN_OK) << i;
        expect_told("enumerate", CAIRN_OK, [&] {
            int count = 0;
            const int result = cairn_enumerate(cache, count_entries, &count);
            EXPECT_TRUE(result != CAIRN_OK || count >= kEntries) << count;
            return result;
        });
        expect_told("clear of a time", CAIRN_OK, [&] {
            std::uint64_t removed = 0;
            return cairn_clear_range(cache, 0, 1, &removed);
        });
        int removed = 0;
        with_each_failing(
            "remove",
            [&] {
                const Key gone(removed++ % kEntries);
                return cairn_remove(cache, gone.text, gone.size);
            },
            [](int result, bool failed) {
                EXPECT_TRUE(result == CAIRN_OK || result == CAIRN_MISS ||
                            (failed && result == CAIRN_ERROR_NO_MEMORY));
            });
        expect_told("clear", CAIRN_OK, [&] { return cairn_clear(cache); });
        fill(cache);
        cairn_close(cache);
        EXPECT_GT(g_failures, 100u);
        return HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(kHungS, body), "");
}

TEST_F(NoMemory, PutsThatMakeRoomGoOn) {
    const auto body = [&] {
        cairn_cache *cache = open_disk();
        int next = 0;
        while (next < 500) EXPECT_EQ(put(cache, next++), CAIRN_OK);  // more than there is room for
        for (int round = 0; round < 20; ++round) {
            expect_told("put", CAIRN_OK, [&] { return put(cache, next++); });
        }
        EXPECT_EQ(get(cache, next - 1), CAIRN_OK);
        cairn_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(cairn_stats_get(cache, &stats), CAIRN_OK);
        EXPECT_LE(stats.disk_bytes, stats.limit_bytes);
        cairn_close(cache);
        return HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(kHungS, body), "");
}

TEST_F(NoMemory, OpeningAndClosingGoWithoutACache) {
    const auto body = [&] {
        cairn_close(open_disk());
        for (const auto open :
             {&NoMemory::open_disk, &NoMemory::open_memory, &NoMemory::open_programs}) {
            expect_told("open", CAIRN_OK, [&] {
                cairn_cache *cache = (this->*open)();
                EXPECT_EQ(cache != nullptr, result_ == CAIRN_OK);
                t_countdown = 0;
                cairn_close(cache);
                return result_;
            });
            with_each_failing(
                "close",
                [&] {
                    const std::uint64_t number = std::exchange(t_countdown, 0);
                    cairn_cache *cache = (this->*open)();
                    EXPECT_EQ(put(cache, 1), CAIRN_OK);
                    t_countdown = number;
                    cairn_close(cache);
                    return 0;
                },
                [](int, bool) {});
        }
        cairn_cache *cache = open_disk();
        EXPECT_EQ(put(cache, 1), CAIRN_OK);
        EXPECT_EQ(get(cache, 1), CAIRN_OK);
        cairn_close(cache);
        return HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(kHungS, body), "");
}

TEST_F(NoMemory, ACacheInMemoryKeepsWhatItHas) {
    const auto body = [&] {
        cairn_cache *cache = open_memory();
        fill(cache);
        int next = 100;
        expect_told("put", CAIRN_OK, [&] {
            const int result = put(cache, ++next);
            t_countdown = 0;
            EXPECT_EQ(get(cache, next), result == CAIRN_OK ? CAIRN_OK : CAIRN_MISS);
            return result;
        });
        expect_told("replacing put", CAIRN_OK, [&] {
            const int result = put(cache, 3);
            t_countdown = 0;
            EXPECT_EQ(get(cache, 3), CAIRN_OK);
            return result;
        });
        expect_told("get", CAIRN_OK, [&] { return get(cache, 3); });
        for (int i = 0; i < kEntries; ++i) EXPECT_EQ(get(cache, i), CAIRN_OK) << i;
        cairn_close(cache);
        return HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(kHungS, body), "");
}

TEST_F(NoMemory, AProgramCacheKeepsWhatItHas) {
    const auto body = [&] {
        cairn_cache *cache = open_programs();
        fill(cache);
        EXPECT_EQ(cairn_flush(cache, 60'000), CAIRN_OK);
        int next = 100;
        expect_told("put", CAIRN_OK, [&] {
            const int result = put(cache, ++next);
            t_countdown = 0;
            EXPECT_EQ(get(cache, next), result == CAIRN_OK ? CAIRN_OK : CAIRN_MISS);
            return result;
        });
        expect_told("replacing put", CAIRN_OK, [&] { return put(cache, 3); });
        expect_told("get", CAIRN_OK, [&] { return get(cache, 3); });
        expect_told("flush", CAIRN_OK, [&] { return cairn_flush(cache, 60'000); });
        expect_told("use", CAIRN_OK, [&] {
            std::uint32_t ticket = 0;
            const int result = cairn_use_begin(cache, "key 3", 5, &ticket);
            cairn_use_end(cache, ticket);
            return result;
        });
        expect_told("stats", CAIRN_OK, [&] {
            cairn_program_cache_stats stats = {};
            stats.size = sizeof stats;
            return cairn_program_cache_stats_get(cache, &stats);
        });
        for (int i = 0; i < kEntries; ++i) EXPECT_EQ(get(cache, i), CAIRN_OK) << i;
        cairn_close(cache);
        cache = open_programs();
        for (int i = 0; i < kEntries; ++i) EXPECT_EQ(get(cache, i), CAIRN_OK) << i;
        cairn_close(cache);
        return HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(kHungS, body), "");
}

// Whichever thread it hits: those that write, load ahead and compress, too.
TEST_F(NoMemory, EndsNoThreadThatOthersWaitFor) {
    const auto body = [&] {
        for (std::uint64_t number = 1; number < 400; number += 3) {
            cairn_cache *cache = open_programs();
            if (cache == nullptr) return 1;
            g_countdown = number;
            for (int i = 0; i < 4; ++i) {
                const int result = put(cache, static_cast<int>(number) + i);
                EXPECT_TRUE(result == CAIRN_OK || result == CAIRN_ERROR_NO_MEMORY) << result;
            }
            EXPECT_EQ(cairn_flush(cache, 60'000), CAIRN_OK) << "allocation " << number;
            g_countdown = 0;
            EXPECT_EQ(put(cache, 1), CAIRN_OK);
            EXPECT_EQ(cairn_flush(cache, 60'000), CAIRN_OK);
            cairn_close(cache);
        }
        return HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(kHungS, body), "");
}

// But for some pieces.
void take_what_the_allocator_has(std::uint64_t given_back) {
    static void *taken[100'000];
    std::size_t count = 0;
    for (std::size_t size = 1 << 20; size >= 32; size /= 2) {
        while (count < std::size(taken)) {
            taken[count] = std::malloc(size);
            if (taken[count] == nullptr) break;
            ++count;
        }
    }
    for (; given_back > 0 && count > 0; --given_back) std::free(taken[--count]);
}

// The kernel gives no more address space, from one point on or another.
TEST_F(NoMemory, ABoundOnTheAddressSpaceEndsNoProcess) {
    {
        cairn_cache *cache = open_disk();
        fill(cache);
        cairn_close(cache);
    }
    for (rlim_t room = 0; room < 4 << 20; room += 100'000) {
        const auto body = [&] {
            rlim_t used = 0;
            if (FILE *file = std::fopen("/proc/self/statm", "r")) {
                unsigned long pages = 0;
                if (std::fscanf(file, "%lu", &pages) == 1) used = pages * 4096;
                std::fclose(file);
            }
            const rlimit limit = {used + room, used + room};
            if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
            take_what_the_allocator_has(room / 50'000);
            cairn_cache *cache = open_disk();
            if (cache == nullptr) return result_ == CAIRN_ERROR_NO_MEMORY ? 0 : 10 - result_;
            const int put_result = put(cache, 1);
            const int get_result = get(cache, 2);
            cairn_close(cache);
            for (const int result : {put_result, get_result}) {
                if (result != CAIRN_OK && result != CAIRN_ERROR_NO_MEMORY) return 100 - result;
            }
            return 0;
        };
        EXPECT_EQ(run_in_child(kHungS, body), "") << "with " << room << " bytes";
    }
}

}  // namespace
}  // namespace cairn_test
