// The adapters whose engines have no headers here, called as the engines call them.
// SPDX-License-Identifier: MIT
#include <adapters/bgfx_callback.h>
#include <adapters/dawn_caching_interface.h>
#include <adapters/egl_blob_cache.h>
#include <adapters/sdl_gpu.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/cache.h"

namespace cairn_test {
namespace {

Cache open_cache() {
    return Cache({.root = "", .mode = CAIRN_MODE_MEMORY});
}

const void *pointer(const std::string &text) {
    return text.data();
}

// ---- EGL_ANDROID_blob_cache

class EglBlobCacheTest : public testing::Test {
  protected:
    EglBlobCacheTest() { cairn_adapter_blob_use(cache_.handle()); }
    ~EglBlobCacheTest() override { cairn_adapter_blob_use(nullptr); }

    static void set(const std::string &key, const std::string &value) {
        set_(pointer(key), ssize(key), pointer(value), ssize(value));
    }
    // What is in a buffer of `capacity` after a get, and the answer.
    static std::pair<std::string, EGLsizeiANDROID> get(const std::string &key,
                                                       std::size_t capacity) {
        std::string buffer(capacity, '?');
        const EGLsizeiANDROID size = get_(pointer(key), ssize(key), buffer.data(), ssize(buffer));
        return {buffer, size};
    }
    static EGLsizeiANDROID ssize(const std::string &text) {
        return static_cast<EGLsizeiANDROID>(text.size());
    }

    // As eglSetBlobCacheFuncsANDROID takes them.
    static constexpr EGLSetBlobFuncANDROID set_ = cairn_adapter_blob_set;
    static constexpr EGLGetBlobFuncANDROID get_ = cairn_adapter_blob_get;
    Cache cache_ = open_cache();
};

using Answer = std::pair<std::string, EGLsizeiANDROID>;

TEST_F(EglBlobCacheTest, AGetAnswersWhatWasSet) {
    EXPECT_EQ(get("key", 5), Answer("?????", 0));
    set("key", "value");
    EXPECT_EQ(get("key", 5), Answer("value", 5));
    EXPECT_EQ(get("key", 7), Answer("value??", 5));
    set("key", "other value");
    EXPECT_EQ(get("key", 11), Answer("other value", 11));
}

TEST_F(EglBlobCacheTest, ABufferThatIsTooSmallIsToldTheSizeAndStaysAsItIs) {
    set("key", "value");
    EXPECT_EQ(get("key", 4), Answer("????", 5));
    EXPECT_EQ(get("key", 0), Answer("", 5));
    EXPECT_EQ(get_("key", 3, nullptr, 0), 5);
    EXPECT_EQ(get_("key", 3, nullptr, 100), 5);
}

TEST_F(EglBlobCacheTest, WhatIsRemovedBetweenSizeAndBytesIsStillThere) {
    set("key", "value");
    EXPECT_EQ(get("key", 0).second, 5);
    cache_.clear();
    EXPECT_EQ(get("key", 5), Answer("value", 5));
    EXPECT_EQ(get("key", 5), Answer("?????", 0));
}

TEST_F(EglBlobCacheTest, SizesThatNobodyCanMeanArePassedOver) {
    set_("key", -1, "value", 5);
    set_("key", 3, "value", -5);
    set_(nullptr, 3, "value", 5);
    set_("key", 3, nullptr, 5);
    set_("", 0, "value", 5);
    EXPECT_EQ(cache_.stats().entries, 0);
    EXPECT_EQ(get_("key", -1, nullptr, 0), 0);
    EXPECT_EQ(get_(nullptr, 3, nullptr, 0), 0);
    set("key", "value");
    char buffer[5];
    EXPECT_EQ(get_("key", 3, buffer, -1), 5);
}

TEST_F(EglBlobCacheTest, WithoutACacheNothingIsFoundOrStored) {
    cairn_adapter_blob_use(nullptr);
    set("key", "value");
    EXPECT_EQ(get("key", 5).second, 0);
    EXPECT_EQ(cache_.stats().entries, 0);
}

TEST_F(EglBlobCacheTest, ThreadsSetAndGetAtOnce) {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 500; ++i) {
                const std::string key = std::to_string((i + thread) % 16);
                const std::string value(static_cast<std::size_t>(i % 16 + 1), key[0]);
                set(key, value);
                const auto [bytes, size] = get(key, 8);
                // Of one length or another, but each value is of one letter.
                const std::string expected(static_cast<std::size_t>(size > 8 ? 0 : size), key[0]);
                if (size == 0 || bytes.substr(0, expected.size()) != expected) ++wrong;
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// ---- bgfx

struct BgfxCallbacks : cairn_adapters::BgfxCallback {
    using BgfxCallback::BgfxCallback;
    void fatal(const char *, uint16_t, bgfx::Fatal::Enum, const char *) override {}
    void traceVargs(const char *, uint16_t, const char *, va_list) override {}
    void profilerBegin(const char *, uint32_t, const char *, uint16_t) override {}
    void profilerBeginLiteral(const char *, uint32_t, const char *, uint16_t) override {}
    void profilerEnd() override {}
    void screenShot(const char *, uint32_t, uint32_t, uint32_t, const void *, uint32_t,
                    bool) override {}
    void captureBegin(uint32_t, uint32_t, uint32_t, bgfx::TextureFormat::Enum, bool) override {}
    void captureEnd() override {}
    void captureFrame(const void *, uint32_t) override {}
};

TEST(BgfxCallbackTest, AReadFindsWhatWasWritten) {
    const Cache cache = open_cache();
    BgfxCallbacks callbacks(cache.handle());
    bgfx::CallbackI &bgfx = callbacks;
    char buffer[5];
    EXPECT_EQ(bgfx.cacheReadSize(7), 0);
    EXPECT_FALSE(bgfx.cacheRead(7, buffer, 5));
    bgfx.cacheWrite(7, "value", 5);
    EXPECT_EQ(bgfx.cacheReadSize(7), 5);
    EXPECT_TRUE(bgfx.cacheRead(7, buffer, 5));
    EXPECT_EQ(std::string(buffer, 5), "value");
    EXPECT_EQ(bgfx.cacheReadSize(std::uint64_t{7} << 32), 0);
    // Neither less nor more than all of it.
    EXPECT_FALSE(bgfx.cacheRead(7, buffer, 4));
    char larger[6];
    EXPECT_FALSE(bgfx.cacheRead(7, larger, 6));
    EXPECT_FALSE(bgfx.cacheRead(7, nullptr, 5));
}

TEST(BgfxCallbackTest, ASizeThatWasToldIsKeptToAfterAnEviction) {
    Cache cache = open_cache();
    BgfxCallbacks callbacks(cache.handle());
    callbacks.cacheWrite(7, "value", 5);
    EXPECT_EQ(callbacks.cacheReadSize(7), 5);
    cache.clear();
    char buffer[5];
    EXPECT_TRUE(callbacks.cacheRead(7, buffer, 5));
    EXPECT_FALSE(callbacks.cacheRead(7, buffer, 5));
}

TEST(BgfxCallbackTest, WhatIsThereAlreadyIsNotWrittenAgain) {
    Cache cache = open_cache();
    BgfxCallbacks callbacks(cache.handle());
    callbacks.cacheWrite(7, "value", 5);
    callbacks.cacheWrite(7, "value", 5);
    EXPECT_EQ(cache.stats().puts, 1);
    callbacks.cacheWrite(7, "other", 5);
    callbacks.cacheWrite(7, "othe", 4);
    EXPECT_EQ(cache.stats().puts, 3);
    EXPECT_EQ(callbacks.cacheReadSize(7), 4);
}

TEST(BgfxCallbackTest, WithoutACacheNothingIsFoundOrStored) {
    BgfxCallbacks callbacks(nullptr);
    callbacks.cacheWrite(7, "value", 5);
    EXPECT_EQ(callbacks.cacheReadSize(7), 0);
}

// ---- Dawn's platform

TEST(DawnCachingInterfaceTest, ALoadFindsWhatWasStored) {
    Cache cache = open_cache();
    cairn_adapters::DawnCachingInterface adapter(cache.handle());
    dawn::platform::CachingInterface &dawn = adapter;
    char buffer[5];
    EXPECT_EQ(dawn.LoadData("key", 3, nullptr, 0), 0);
    dawn.StoreData("key", 3, "value", 5);
    EXPECT_EQ(dawn.LoadData("key", 3, nullptr, 0), 5);
    cache.clear();
    EXPECT_EQ(dawn.LoadData("key", 3, buffer, 5), 5);  // what was told stays
    EXPECT_EQ(std::string(buffer, 5), "value");
    EXPECT_EQ(dawn.LoadData("key", 3, buffer, 5), 0);
    dawn.StoreData("key", 3, "longer value", 12);
    EXPECT_EQ(dawn.LoadData("key", 3, buffer, 5), 0);  // Dawn takes any size for bytes
    dawn.StoreData("key", SIZE_MAX, "value", 5);
    dawn.StoreData("key", 3, "value", SIZE_MAX);
    EXPECT_EQ(dawn.LoadData("key", 3, nullptr, 0), 12);
    EXPECT_EQ(cairn_adapters::DawnCachingInterface(nullptr).LoadData("key", 3, nullptr, 0), 0);
}

// ---- SDL's GPU

// Stands for SDL_shadercross.
struct Converter {
    static void *convert(void *user, std::size_t *size) {
        auto &self = *static_cast<Converter *>(user);
        ++self.calls;
        if (self.result.empty()) return nullptr;
        *size = self.result.size();
        void *made = SDL_malloc(self.result.size());
        std::memcpy(made, self.result.data(), self.result.size());
        return made;
    }
    std::string result = "SPIR-V";
    int calls = 0;
};

// The code, "" where there is none.
std::string code_of(cairn_cache *cache, const cairn_sdl_source &source, Converter &converter) {
    cairn_sdl_code code;
    const bool is_there = cairn_sdl_code_get(cache, &source, Converter::convert, &converter, &code);
    const std::string bytes(reinterpret_cast<const char *>(code.code), code.code_size);
    EXPECT_EQ(is_there, code.code != nullptr);
    cairn_sdl_code_free(&code);
    cairn_sdl_code_free(&code);  // nothing more
    return bytes;
}

cairn_sdl_source hlsl() {
    cairn_sdl_source source{};
    source.code = "float4 main() ...";
    source.code_size = 17;
    source.entrypoint = "main";
    source.stage = SDL_GPU_SHADERSTAGE_FRAGMENT;
    source.format = SDL_GPU_SHADERFORMAT_SPIRV;
    source.rest = "shadercross 3.0.0";
    return source;
}

TEST(SdlGpuTest, ASourceIsConvertedOnce) {
    const Cache cache = open_cache();
    Converter converter;
    EXPECT_EQ(code_of(cache.handle(), hlsl(), converter), "SPIR-V");
    converter.result = "something else";
    EXPECT_EQ(code_of(cache.handle(), hlsl(), converter), "SPIR-V");
    EXPECT_EQ(converter.calls, 1);
}

TEST(SdlGpuTest, AllThatDecidesTheResultCounts) {
    const Cache cache = open_cache();
    Converter converter;
    std::vector<cairn_sdl_source> sources(9, hlsl());
    sources[1].code = "float4 main() +++";
    sources[2].code_size = 16;
    sources[3].entrypoint = "main2";
    sources[4].entrypoint = nullptr;
    sources[5].stage = SDL_GPU_SHADERSTAGE_VERTEX;
    sources[6].format = SDL_GPU_SHADERFORMAT_DXIL;
    sources[7].rest = "shadercross 3.0.1";
    sources[8].rest = nullptr;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        converter.result = std::to_string(i);
        EXPECT_EQ(code_of(cache.handle(), sources[i], converter), std::to_string(i));
    }
    converter.result = "again";
    for (std::size_t i = 0; i < sources.size(); ++i) {
        EXPECT_EQ(code_of(cache.handle(), sources[i], converter), std::to_string(i));
    }
}

TEST(SdlGpuTest, AConverterThatCannotIsAskedAgain) {
    const Cache cache = open_cache();
    Converter converter;
    converter.result = "";
    EXPECT_EQ(code_of(cache.handle(), hlsl(), converter), "");
    EXPECT_EQ(code_of(cache.handle(), hlsl(), converter), "");
    EXPECT_EQ(converter.calls, 2);
    converter.result = "SPIR-V";
    EXPECT_EQ(code_of(cache.handle(), hlsl(), converter), "SPIR-V");
}

TEST(SdlGpuTest, WithoutACacheItConverts) {
    Converter converter;
    EXPECT_EQ(code_of(nullptr, hlsl(), converter), "SPIR-V");
    EXPECT_EQ(code_of(nullptr, hlsl(), converter), "SPIR-V");
    EXPECT_EQ(converter.calls, 2);
}

}  // namespace
}  // namespace cairn_test
