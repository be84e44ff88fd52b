// SPDX-License-Identifier: MIT
// Serving a driver's own cache, with a driver that consists of three functions.
#include <cairn/cairn_control.h>
#include <cairn/internal/front_end.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "os/testing/scratch.h"

namespace {

using Set = void (*)(const void *, ptrdiff_t, const void *, ptrdiff_t);
using Get = ptrdiff_t (*)(const void *, ptrdiff_t, void *, ptrdiff_t);

// Displays of the driver; each accepts functions once, as the extension says.
struct Display {
    const char *extensions = "EGL_KHR_image EGL_ANDROID_blob_cache EGL_X";
    Set set = nullptr;
    Get get = nullptr;
};
int32_t g_error = 0x3000;
decltype(&cairn_blob_callback_set) g_gl_set = nullptr;
decltype(&cairn_blob_callback_get) g_gl_get = nullptr;
const void *g_gl_user = nullptr;

const char *query_string(void *display, int32_t) {
    return static_cast<Display *>(display)->extensions;
}
int32_t get_error() {
    return std::exchange(g_error, 0x3000);
}
void set_functions(void *display, Set set, Get get) {
    auto &mine = *static_cast<Display *>(display);
    if (mine.set != nullptr) {
        g_error = 0x300c;
        return;
    }
    mine.set = set;
    mine.get = get;
}
void gl_set_functions(decltype(g_gl_set) set, decltype(g_gl_get) get, const void *user) {
    g_gl_set = set;
    g_gl_get = get;
    g_gl_user = user;
}

template <typename Function>
cairn_egl_function as_function(Function function) {
    return reinterpret_cast<cairn_egl_function>(function);
}
cairn_egl_function get_proc_address(const char *name) {
    const std::string wanted = name;
    if (wanted == "eglQueryString") return as_function(&query_string);
    if (wanted == "eglGetError") return as_function(&get_error);
    if (wanted == "eglSetBlobCacheFuncsANDROID") return as_function(&set_functions);
    if (wanted == "glBlobCacheCallbacksANGLE") return as_function(&gl_set_functions);
    return nullptr;
}
cairn_egl_function nothing(const char *) {
    return nullptr;
}

class BlobCacheTest : public testing::Test {
  protected:
    BlobCacheTest() {
        cairn_options options = {};
        options.size = sizeof options;
        options.identifier = "blobs";
        options.mode = CAIRN_MODE_MEMORY;
        EXPECT_EQ(cairn_open(&options, &cache_), CAIRN_OK);
    }
    // The driver may not have it any more when the cache goes.
    ~BlobCacheTest() override {
        cairn_egl_blob_cache_detach(display_);
        cairn_close(cache_);
    }

    // Displays are never forgotten, so none may have another's address.
    static Display *new_display() {
        static std::deque<Display> displays;
        return &displays.emplace_back();
    }

    Display *display_ = new_display();
    cairn_cache *cache_ = nullptr;
};

TEST_F(BlobCacheTest, ADisplayKeepsItsBlobsInTheCache) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    display_->set("key", 3, "value", 5);
    char buffer[8] = "-------";
    EXPECT_EQ(display_->get("key", 3, buffer, 8), 5);
    EXPECT_STREQ(buffer, "value--");
    EXPECT_EQ(display_->get("other", 5, buffer, 8), 0);
    EXPECT_EQ(cairn_contains(cache_, "key", 3), CAIRN_OK);
}

TEST_F(BlobCacheTest, WhatDoesNotFitIsAMiss) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    display_->set("key", 3, "value", 5);
    char buffer[5] = "----";
    EXPECT_EQ(display_->get("key", 3, buffer, 4), 0);
    EXPECT_STREQ(buffer, "----");
    EXPECT_EQ(display_->get("key", 3, buffer, 0), 5) << "no place at all asks for the size";
    EXPECT_EQ(display_->get("key", 3, nullptr, 4), 5);
    EXPECT_EQ(display_->get("key", 3, buffer, 5), 5);
}

// Mesa makes room for 64 KiB, asks once, and reads as many bytes as the answer says.
TEST_F(BlobCacheTest, NoAnswerIsLargerThanTheRoomThatADriverMade) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    constexpr ptrdiff_t kRoom = 64 * 1024;
    const auto get_as_mesa_does = [&](const char *key) {
        std::vector<char> room(kRoom);
        const ptrdiff_t size = display_->get(key, 3, room.data(), kRoom);
        EXPECT_LE(size, kRoom);
        return std::string(room.data(), static_cast<size_t>(std::min(size, kRoom)));
    };
    for (const ptrdiff_t size : {kRoom - 1, kRoom, kRoom + 1, 4 * kRoom}) {
        const std::string value(static_cast<size_t>(size), 'v');
        display_->set("key", 3, value.data(), size);
        EXPECT_EQ(get_as_mesa_does("key"), size <= kRoom ? value : "") << size;
    }
}

TEST_F(BlobCacheTest, TheBytesAreThoseWhoseSizeWasTold) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    display_->set("key", 3, "old", 3);
    ASSERT_EQ(display_->get("key", 3, nullptr, 0), 3);
    // Another thread replaces it, and then it is evicted.
    std::thread([&] { display_->set("key", 3, "newer", 5); }).join();
    cairn_clear(cache_);
    char buffer[8] = "-------";
    EXPECT_EQ(display_->get("key", 3, buffer, 3), 3);
    EXPECT_STREQ(buffer, "old----");
    EXPECT_EQ(display_->get("key", 3, buffer, 3), 0) << "held for one call only";
}

TEST_F(BlobCacheTest, WhatThisThreadSetsIsWhatItGets) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    display_->set("key", 3, "old", 3);
    ASSERT_EQ(display_->get("key", 3, nullptr, 0), 3);
    display_->set("key", 3, "newer", 5);
    EXPECT_EQ(display_->get("key", 3, nullptr, 0), 5);
}

// The next cache often has the address of the one before.
TEST_F(BlobCacheTest, WhatIsHeldBelongsToOneCache) {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "blobs";
    options.mode = CAIRN_MODE_MEMORY;
    for (int turn = 0; turn < 4; ++turn) {
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        EXPECT_EQ(cairn_blob_callback_get("key", 3, nullptr, 0, cache), 0) << turn;
        cairn_blob_callback_set("key", 3, "value", 5, cache);
        EXPECT_EQ(cairn_blob_callback_get("key", 3, nullptr, 0, cache), 5);
        cairn_close(cache);
    }
}

TEST_F(BlobCacheTest, ImpossibleArgumentsAreMisses) {
    const std::string large(CAIRN_KEY_SIZE_MAX + 1, 'k');
    char buffer[8];
    cairn_blob_callback_set(large.data(), static_cast<ptrdiff_t>(large.size()), "v", 1, cache_);
    cairn_blob_callback_set("key", -1, "v", 1, cache_);
    cairn_blob_callback_set("key", 3, "v", -1, cache_);
    cairn_blob_callback_set("key", 3, "", 0, cache_);
    cairn_blob_callback_set(nullptr, 3, "v", 1, cache_);
    cairn_blob_callback_set("key", 3, nullptr, 1, cache_);
    cairn_blob_callback_set("key", 3, "v", 1, nullptr);
    EXPECT_EQ(cairn_blob_callback_get("key", 3, buffer, 8, cache_), 0);
    EXPECT_EQ(cairn_blob_callback_get("key", 3, buffer, -8, cache_), 0);
    EXPECT_EQ(cairn_blob_callback_get("key", 0, buffer, 8, cache_), 0);
    EXPECT_EQ(cairn_blob_callback_get("key", 3, buffer, 8, nullptr), 0);
    cairn_stats stats = {};
    stats.size = sizeof stats;
    cairn_stats_get(cache_, &stats);
    EXPECT_EQ(stats.entries, 0u);
}

TEST_F(BlobCacheTest, DetachedItIsSilentAndCanBeAttachedAgain) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    EXPECT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_ERROR_BUSY);
    EXPECT_EQ(cairn_egl_blob_cache_detach(display_), CAIRN_OK);
    EXPECT_EQ(cairn_egl_blob_cache_detach(display_), CAIRN_MISS);
    display_->set("key", 3, "value", 5);
    EXPECT_EQ(display_->get("key", 3, nullptr, 0), 0);
    EXPECT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    display_->set("key", 3, "value", 5);
    EXPECT_EQ(display_->get("key", 3, nullptr, 0), 5);
}

TEST_F(BlobCacheTest, OtherFunctionsCanStandInItsPlace) {
    const auto set = [](const void *, ptrdiff_t, const void *, ptrdiff_t) {};
    const auto get = [](const void *, ptrdiff_t, void *, ptrdiff_t) { return ptrdiff_t{42}; };
    EXPECT_EQ(cairn_egl_blob_cache_redirect(display_, set, get), CAIRN_MISS);
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    EXPECT_EQ(cairn_egl_blob_cache_redirect(display_, set, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_egl_blob_cache_redirect(display_, set, get), CAIRN_OK);
    display_->set("key", 3, "value", 5);
    EXPECT_EQ(display_->get("key", 3, nullptr, 0), 42);
    EXPECT_EQ(cairn_contains(cache_, "key", 3), CAIRN_MISS);
    EXPECT_EQ(cairn_egl_blob_cache_redirect(display_, nullptr, nullptr), CAIRN_OK);
    EXPECT_EQ(display_->get("key", 3, nullptr, 0), 0);
}

TEST_F(BlobCacheTest, WhoCameFirstStays) {
    display_->set = [](const void *, ptrdiff_t, const void *, ptrdiff_t) {};
    EXPECT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_ERROR_BUSY);
    EXPECT_EQ(cairn_egl_blob_cache_detach(display_), CAIRN_MISS);
}

TEST_F(BlobCacheTest, WithoutTheExtensionNothingHappens) {
    display_->extensions = "EGL_ANDROID_blob_cache2 XEGL_ANDROID_blob_cache";
    EXPECT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address),
              CAIRN_ERROR_UNSUPPORTED);
    display_->extensions = nullptr;
    EXPECT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address),
              CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_egl_blob_cache_attach(display_, cache_, nothing), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_gl_blob_cache_attach(cache_, nothing), CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(cairn_egl_blob_cache_attach(nullptr, cache_, get_proc_address),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(display_->set, nullptr);
}

TEST_F(BlobCacheTest, AContextGetsFunctionsThatKnowTheCache) {
    ASSERT_EQ(cairn_gl_blob_cache_attach(cache_, get_proc_address), CAIRN_OK);
    g_gl_set("key", 3, "value", 5, g_gl_user);
    char buffer[5];
    EXPECT_EQ(g_gl_get("key", 3, buffer, 5, g_gl_user), 5);
    EXPECT_EQ(memcmp(buffer, "value", 5), 0);
}

// Threads of a driver that calls all the time, begun when each has called.
class BusyDriver {
  public:
    explicit BusyDriver(Display *display) {
        for (int i = 0; i < kThreads; ++i) threads_.emplace_back([=, this] { play(display); });
        while (running_ < kThreads) std::this_thread::yield();
    }
    ~BusyDriver() {
        done_ = true;
        for (std::thread &thread : threads_) thread.join();
    }

  private:
    static constexpr int kThreads = 4;

    void play(Display *display) {
        char buffer[5];
        for (bool is_first = true; !done_; is_first = false) {
            display->set("key", 3, "value", 5);
            for (const ptrdiff_t size :
                 {display->get("key", 3, nullptr, 0), display->get("key", 3, buffer, 5)}) {
                EXPECT_TRUE(size == 5 || size == 0 || size == 3) << size;
            }
            if (is_first) ++running_;
        }
    }

    std::atomic<bool> done_ = false;
    std::atomic<int> running_ = 0;
    std::vector<std::thread> threads_;
};

// Under ThreadSanitizer: what detach promises.
TEST_F(BlobCacheTest, DetachWaitsForCallsInProgress) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    const BusyDriver driver(display_);
    EXPECT_EQ(cairn_egl_blob_cache_detach(display_), CAIRN_OK);
    cairn_close(std::exchange(cache_, nullptr));
}

TEST_F(BlobCacheTest, RedirectingWaitsForNoNewCalls) {
    ASSERT_EQ(cairn_egl_blob_cache_attach(display_, cache_, get_proc_address), CAIRN_OK);
    const auto set = [](const void *, ptrdiff_t, const void *, ptrdiff_t) {};
    const auto get = [](const void *, ptrdiff_t, void *, ptrdiff_t) { return ptrdiff_t{3}; };
    const BusyDriver driver(display_);
    for (int turn = 0; turn < 200; ++turn) {
        ASSERT_EQ(cairn_egl_blob_cache_redirect(display_, set, get), CAIRN_OK);
        ASSERT_EQ(display_->get("key", 3, nullptr, 0), 3);
        ASSERT_EQ(cairn_egl_blob_cache_redirect(display_, nullptr, nullptr), CAIRN_OK);
    }
}

// Drivers clean up in destructors of pthread keys, after those of the thread's C++ objects.
TEST_F(BlobCacheTest, AThreadThatEndsMayStillCall) {
    struct AtEnd {
        cairn_cache *cache;
        ptrdiff_t sizes[2];
        char buffer[6];

        static void run(void *user) {
            auto &self = *static_cast<AtEnd *>(user);
            self.sizes[0] = cairn_blob_callback_get("key", 3, nullptr, 0, self.cache);
            self.sizes[1] = cairn_blob_callback_get("key", 3, self.buffer, 5, self.cache);
        }
    };
    cairn_blob_callback_set("key", 3, "value", 5, cache_);
    pthread_key_t key = 0;
    ASSERT_EQ(pthread_key_create(&key, AtEnd::run), 0);
    for (const bool is_held : {true, false}) {
        AtEnd at_end = {cache_, {-1, -1}, "-----"};
        std::thread([&] {
            pthread_setspecific(key, &at_end);
            EXPECT_EQ(cairn_blob_callback_get("key", 3, nullptr, 0, cache_), 5);
            if (!is_held) {
                EXPECT_EQ(cairn_blob_callback_get("key", 3, at_end.buffer, 5, cache_), 5);
            }
        }).join();
        EXPECT_EQ(at_end.sizes[0], 5);
        EXPECT_EQ(at_end.sizes[1], 5);
        EXPECT_STREQ(at_end.buffer, "value");
    }
    pthread_key_delete(key);
}

// The calls that the display cache of EGL is made of.
TEST(MemoryMode, CanBeTrimmedLimitedAndLookedAtByPlace) {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "values";
    options.flags = CAIRN_OPEN_COUNT_VALUES_ONLY;
    cairn_cache *cache = nullptr;
    EXPECT_EQ(cairn_open(&options, &cache), CAIRN_ERROR_INVALID_ARGUMENT) << "on disk";
    options.mode = CAIRN_MODE_MEMORY;
    ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    ASSERT_EQ(cairn_put(cache, "a", 1, "1234", 4, nullptr), CAIRN_OK);
    ASSERT_EQ(cairn_put(cache, "bb", 2, "12", 2, nullptr), CAIRN_OK);
    char key[2] = {};
    size_t key_size = 0;
    cairn_blob *blob = nullptr;
    EXPECT_EQ(cairn_get_nth(cache, 0, key, 1, &key_size, &blob), CAIRN_TOO_SMALL);
    EXPECT_EQ(key_size, 2u);
    ASSERT_EQ(cairn_get_nth(cache, 1, key, 2, &key_size, &blob), CAIRN_OK);
    EXPECT_EQ(std::string(key, key_size), "a");
    EXPECT_EQ(cairn_blob_size(blob), 4u);
    cairn_blob_free(blob);
    EXPECT_EQ(cairn_get_nth(cache, 2, key, 2, &key_size, &blob), CAIRN_MISS);
    EXPECT_EQ(cairn_get_nth(cache, 0, nullptr, 2, &key_size, &blob), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_get_nth(cache, 0, key, 2, nullptr, &blob), CAIRN_ERROR_INVALID_ARGUMENT);
    uint64_t freed = 0;
    EXPECT_EQ(cairn_trim(cache, 5, &freed), CAIRN_OK);
    EXPECT_EQ(freed, 4u);
    EXPECT_EQ(cairn_resize(cache, 1, 1, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_put(cache, "a", 1, "12", 2, nullptr), CAIRN_ERROR_TOO_LARGE);
    EXPECT_EQ(cairn_resize(cache, 2, 0, &freed), CAIRN_OK);
    EXPECT_EQ(freed, 0u);
    EXPECT_EQ(cairn_put(cache, "a", 1, "12", 2, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_resize(cache, 2, 0, &freed), CAIRN_OK);
    EXPECT_EQ(freed, 2u);
    EXPECT_EQ(cairn_contains(cache, "a", 1), CAIRN_MISS);
    EXPECT_EQ(cairn_trim(nullptr, 0, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_resize(nullptr, 0, 0, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    cairn_close(cache);
}

// Two caches in memory have one entry between them.
TEST(MemoryMode, KeepsAnEntryThatIsNotCopied) {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "memory";
    options.mode = CAIRN_MODE_MEMORY;
    cairn_blob *made = cairn_blob_make("key", 3, "value", 5, 7);
    ASSERT_NE(made, nullptr);
    for (int i = 0; i < 2; ++i) {
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        EXPECT_EQ(cairn_put_blob(cache, made), CAIRN_OK);
        cairn_blob *found = nullptr;
        ASSERT_EQ(cairn_get(cache, "key", 3, &found), CAIRN_OK);
        EXPECT_EQ(cairn_blob_data(found), cairn_blob_data(made));
        EXPECT_EQ(cairn_blob_cost_us(found), 7u);
        cairn_close(cache);
        EXPECT_EQ(std::string(static_cast<const char *>(cairn_blob_data(found)), 5), "value");
        cairn_blob_free(found);
        EXPECT_EQ(cairn_put_blob(nullptr, made), CAIRN_ERROR_INVALID_ARGUMENT);
    }
    cairn_blob_free(made);
    EXPECT_EQ(cairn_put_blob(nullptr, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
}

TEST(EglEntries, AreCheckedAgainstTheirKey) {
    const char key[] = "a key of twenty byte";
    char entry[30] = {};
    EXPECT_EQ(cairn_egl_entry_seal(key, 20, entry, 20), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_egl_entry_seal(key, 19, entry, 30), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_egl_entry_check(key, 20, entry, 30), CAIRN_MISS);
    ASSERT_EQ(cairn_egl_entry_seal(key, 20, entry, 30), CAIRN_OK);
    EXPECT_EQ(cairn_egl_entry_check(key, 20, entry, 30), CAIRN_OK);
    EXPECT_EQ(cairn_egl_entry_check(key, 20, entry, 29), CAIRN_MISS);
    EXPECT_EQ(cairn_egl_entry_check(key, 19, entry, 30), CAIRN_MISS);
    EXPECT_EQ(cairn_egl_entry_check(nullptr, 20, entry, 30), CAIRN_ERROR_INVALID_ARGUMENT);
}

// The kind CACHE_FOR_DRIVER, below a root of the test's own.
class SwitchedBlobCacheTest : public testing::Test {
  protected:
    SwitchedBlobCacheTest() {
        setenv("CAIRN_DEVELOPER_MODE", "1", 1);
        setenv("CAIRN_DIR", root_.c_str(), 1);
        cairn_control_options options = {};
        options.size = sizeof options;
        EXPECT_EQ(cairn_control_open(&options, &control_), CAIRN_OK);
    }
    ~SwitchedBlobCacheTest() override {
        cairn_control_close(control_);
        unsetenv("CAIRN_DEVELOPER_MODE");
        unsetenv("CAIRN_DIR");
    }

    static cairn_cache *open(const char *identifier, uint32_t mode = CAIRN_MODE_DISK) {
        cairn_options options = {};
        options.size = sizeof options;
        options.identifier = identifier;
        options.mode = mode;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        return cache;
    }
    void apply(uint32_t flags) {
        EXPECT_EQ(cairn_control_apply(control_, CAIRN_KIND_CACHE_FOR_DRIVER, flags, nullptr),
                  CAIRN_OK);
    }
    static void set(cairn_cache *cache, const char *key) {
        cairn_blob_callback_set(key, 1, "value", 5, cache);
    }
    static bool finds(cairn_cache *cache, const char *key) {
        char value[5];
        return cairn_blob_callback_get(key, 1, value, 5, cache) == 5;
    }

    cairn::testing::Scratch scratch_;
    std::string root_ = scratch_ / "root";
    cairn_control *control_ = nullptr;
};

TEST_F(SwitchedBlobCacheTest, DisabledTheDriverFindsNothingAndKeepsNothing) {
    for (const uint32_t mode : {CAIRN_MODE_DISK, CAIRN_MODE_MEMORY}) {
        cairn_cache *cache = open("egl-blobs", mode);
        set(cache, "a");
        EXPECT_TRUE(finds(cache, "a"));
        apply(CAIRN_CONTROL_DISABLE);
        EXPECT_FALSE(finds(cache, "a"));
        set(cache, "b");
        apply(CAIRN_CONTROL_ENABLE);
        EXPECT_TRUE(finds(cache, "a"));
        EXPECT_FALSE(finds(cache, "b"));
        cairn_close(cache);
    }
}

TEST_F(SwitchedBlobCacheTest, ClearedItIsEmptyWhateverItsName) {
    cairn_cache *caches[] = {open("egl-blobs"), open("an-embedders"),
                             open("in-memory", CAIRN_MODE_MEMORY)};
    for (cairn_cache *cache : caches) {
        set(cache, "a");
        EXPECT_TRUE(finds(cache, "a"));
    }
    apply(CAIRN_CONTROL_CLEAR);
    for (cairn_cache *cache : caches) {
        EXPECT_FALSE(finds(cache, "a"));
        set(cache, "b");
        EXPECT_TRUE(finds(cache, "b")) << "cleared once, not for ever";
        cairn_close(cache);
    }
}

TEST_F(SwitchedBlobCacheTest, AnAttachedDisplayObeys) {
    cairn_cache *cache = open("an-embedders");
    static Display display;
    ASSERT_EQ(cairn_egl_blob_cache_attach(&display, cache, get_proc_address), CAIRN_OK);
    display.set("a", 1, "value", 5);
    EXPECT_EQ(display.get("a", 1, nullptr, 0), 5);
    // The driver gets the entry whose size it was told, even if the kind was switched off since.
    apply(CAIRN_CONTROL_DISABLE);
    char value[5];
    EXPECT_EQ(display.get("a", 1, value, 5), 5);
    EXPECT_EQ(display.get("a", 1, value, 5), 0);
    apply(CAIRN_CONTROL_ENABLE | CAIRN_CONTROL_CLEAR);
    EXPECT_EQ(display.get("a", 1, value, 5), 0);
    cairn_egl_blob_cache_detach(&display);
    cairn_close(cache);
}

TEST_F(SwitchedBlobCacheTest, AnotherRootsControlIsNotObeyed) {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "egl-blobs";
    const std::string other = scratch_ / "other";
    options.root = other.c_str();
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    set(cache, "a");
    apply(CAIRN_CONTROL_DISABLE | CAIRN_CONTROL_CLEAR);
    EXPECT_TRUE(finds(cache, "a"));
    cairn_close(cache);
}

}  // namespace
