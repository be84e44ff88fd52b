// Memory that cannot be had, at every place where it is asked for.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "d3d12/stage.h"

namespace {

std::atomic<long> left = -1;  // allocations that succeed; below 0: all

}  // namespace

[[gnu::noinline]] void *operator new(std::size_t size) {
    if (left >= 0 && left-- <= 0) {
        left = 0;
        throw std::bad_alloc();
    }
    void *memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

[[gnu::noinline]] void operator delete(void *memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}

namespace d3d12_test {
namespace {

constexpr HRESULT kOutOfMemory = static_cast<HRESULT>(0x8007000E);

// Calls with no allocation allowed, with one, with two... until nothing is missing any more.
void starve(const std::function<HRESULT()> &call) {
    bool failed = false;
    for (long allowed = 0; allowed < 1000; ++allowed) {
        left = allowed;
        const HRESULT result = call();
        left = -1;
        if (result == kOk) {
            EXPECT_TRUE(failed) << "it needs no memory";
            return;
        }
        failed = true;
        ASSERT_EQ(result, kOutOfMemory) << "with " << allowed;
    }
    FAIL() << "it never succeeds";
}

// Of MEMORY sessions, which keep everything in the front end.
TEST(Memory, IsMissedWithAnErrorCode) {
    const DeveloperMode on;
    Stage stage;
    auto options = stage.options();
    options.message = nullptr;
    options.log = nullptr;
    Session session;
    const Desc desc = memory_desc();
    starve([&] {
        return CAIRN_TEST_FUNCTION(create_session)(
            nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession, session.receive());
    });
    ASSERT_TRUE(session);
    const std::string key = "key";
    const std::string value(100'000, 'v');
    starve([&] { return store(session, key, value); });
    EXPECT_EQ(find(session, key), value);
    starve([&] { return session->SetPrivateData(IID_IUnknown, 5, "data"); });
    starve([&] { return session->SetPrivateDataInterface(IID_ID3D12Object, session.get()); });
    EXPECT_EQ(session->SetPrivateDataInterface(IID_ID3D12Object, nullptr), kOk);
    starve([&] { return session->SetName(L"a name"); });
    starve([&] { return CAIRN_TEST_FUNCTION(shader_cache_control)(&options, 8, 2); });
}

}  // namespace
}  // namespace d3d12_test
