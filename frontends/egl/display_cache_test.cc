// SPDX-License-Identifier: MIT
// The side of a display's cache that links use, which tests/conformance cannot reach through EGL.
#include "display_cache.h"

#include <cairn/eglext_cairn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "gl/cached.h"

namespace cairn::egl {
namespace {

constexpr gl::ProgramKey kKey = {1};
constexpr gl::ProgramKey kOther = {2};

EGLint count(const DisplayCache &cache) {
    EGLint value = -1;
    EXPECT_EQ(cache.attribute(EGL_PROGRAM_CACHE_SIZE_ANGLE, value), EGL_SUCCESS);
    return value;
}

// As a link does.
void put(DisplayCache &cache, std::string_view binary, uint64_t cost_ns) {
    cache.put(gl::new_entry(gl::bytes_of(kKey), binary, cost_ns).get());
}

TEST(DisplayCacheTest, ADisplayHasOneCacheForEver) {
    int one = 0;
    int other = 0;
    EXPECT_EQ(&display_cache(&one), &display_cache(&one));
    EXPECT_NE(&display_cache(&one), &display_cache(&other));
}

TEST(DisplayCacheTest, LinksAndCallsSeeTheSameEntries) {
    DisplayCache cache;
    put(cache, "binary", 5'000);
    EXPECT_EQ(count(cache), 1);
    gl::ProgramKey key = {};
    char binary[6];
    EGLint key_size = 20;
    EGLint size = 6;
    EXPECT_EQ(cache.query(0, key.data(), &key_size, binary, &size), EGL_SUCCESS);
    EXPECT_EQ(key, kKey);
    EXPECT_EQ(std::string(binary, 6), "binary");
    EXPECT_EQ(cache.populate(kOther.data(), 20, "x", 1), EGL_SUCCESS);
    EXPECT_EQ(cairn_contains(cache.entries(), kOther.data(), 20), CAIRN_OK);
    cache.remove(kKey);
    EXPECT_EQ(count(cache), 1);
}

TEST(DisplayCacheTest, EntriesWithoutBytesAreBoundedAndGoWithTheRest) {
    DisplayCache cache;
    gl::ProgramKey key = {};
    const auto populate = [&](EGLint number) {
        memcpy(key.data(), &number, sizeof number);
        EXPECT_EQ(cache.draft_populate(key.data(), 20, "", 0), EGL_SUCCESS);
    };
    for (EGLint i = 0; i <= EGLint{DisplayCache::kEntriesMax}; ++i) {
        populate(i);
    }
    EXPECT_EQ(count(cache), EGLint{DisplayCache::kEntriesMax});
    const EGLint oldest = 0;
    memcpy(key.data(), &oldest, sizeof oldest);
    EXPECT_EQ(cairn_contains(cache.entries(), key.data(), 20), CAIRN_MISS);
    EGLint freed = -1;
    EXPECT_EQ(cache.trim(0, freed), EGL_SUCCESS);
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(count(cache), 0);
    populate(1);
    EXPECT_EQ(cache.resize(100, EGL_PROGRAM_CACHE_RESIZE_ANGLE, freed), EGL_SUCCESS);
    EXPECT_EQ(count(cache), 0);
}

TEST(DisplayCacheTest, SwitchedOffItTakesNothing) {
    DisplayCache cache;
    put(cache, "binary", 0);
    cache.set_limit(0, 0);
    EXPECT_FALSE(cache.is_on());
    EXPECT_EQ(count(cache), 0);
    put(cache, "binary", 0);
    EXPECT_EQ(cache.draft_populate(kKey.data(), 20, "", 0), EGL_SUCCESS);
    EXPECT_EQ(count(cache), 0);
    cache.set_limit(6, 6);
    put(cache, "binary", 0);
    EXPECT_EQ(count(cache), 1);
    cache.clear();
    EXPECT_EQ(count(cache), 0);
    put(cache, "7 bytes", 0);
    EXPECT_EQ(count(cache), 0) << "the maximum is as before";
}

}  // namespace
}  // namespace cairn::egl
