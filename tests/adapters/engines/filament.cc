// The adapter for Filament, called through Filament's own class.
// SPDX-License-Identifier: MIT
#include <adapters/filament_blob_cache.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.h"

// Filament's library is not here. These stand for the few functions of it that its headers leave
// open, as they are in it.
namespace filament::backend {
Platform::Platform() noexcept = default;
Platform::~Platform() noexcept = default;
void Platform::setBlobFunc(InsertBlobFunc &&insert, RetrieveBlobFunc &&retrieve) noexcept {
    mInsertBlob = std::make_shared<InsertBlobFunc>(std::move(insert));
    mRetrieveBlob = std::make_shared<RetrieveBlobFunc>(std::move(retrieve));
}
void Platform::insertBlob(const void *key, size_t key_size, const void *value, size_t value_size) {
    (*mInsertBlob)(key, key_size, value, value_size);
}
size_t Platform::retrieveBlob(const void *key, size_t key_size, void *value, size_t value_size) {
    return (*mRetrieveBlob)(key, key_size, value, value_size);
}
bool Platform::pumpEvents() noexcept {
    return false;
}
bool Platform::isCompositorTimingSupported() const noexcept {
    return false;
}
bool Platform::queryCompositorTiming(const SwapChain *, CompositorTiming *) const noexcept {
    return false;
}
bool Platform::setPresentFrameId(const SwapChain *, uint64_t) noexcept {
    return false;
}
bool Platform::queryFrameTimestamps(const SwapChain *, uint64_t, FrameTimestamps *) const noexcept {
    return false;
}
}  // namespace filament::backend

namespace {

struct TestPlatform : filament::backend::Platform {
    int getOSVersion() const noexcept override { return 0; }
    filament::backend::Driver *createDriver(void *, const DriverConfig &) override {
        return nullptr;
    }
};

// As Filament's OpenGLBlobCache does: a guess of the size, and then the right one.
std::string retrieve(filament::backend::Platform &platform, const std::string &key, size_t guess,
                     cairn::Cache *evicts = nullptr) {
    std::vector<char> buffer(guess, '?');
    const size_t size = platform.retrieveBlob(key.data(), key.size(), buffer.data(), guess);
    if (size > guess) {
        CHECK(std::string(buffer.begin(), buffer.end()) == std::string(guess, '?'));
        if (evicts) evicts->clear();
        buffer.resize(size);
        CHECK(platform.retrieveBlob(key.data(), key.size(), buffer.data(), size) == size);
    }
    return {buffer.data(), size};
}

}  // namespace

int main() {
    cairn::Cache cache = open_cache();
    TestPlatform platform;
    cairn_adapters::filament_use(platform, cache.handle());
    const std::string key = "key", value(100, 'v');

    CHECK(retrieve(platform, key, 64).empty());
    platform.insertBlob(key.data(), key.size(), value.data(), value.size());
    for (const size_t guess : {1U, 64U, 99U, 100U, 101U, 65536U}) {
        CHECK(retrieve(platform, key, guess) == value);
    }
    CHECK(retrieve(platform, "other", 64).empty());
    CHECK(retrieve(platform, "", 64).empty());
    // An eviction between the two calls does not make Filament use bytes that nobody wrote.
    CHECK(retrieve(platform, key, 64, &cache) == value);
    CHECK(retrieve(platform, key, 64).empty());

    TestPlatform alone;
    cairn_adapters::filament_use(alone, nullptr);
    alone.insertBlob(key.data(), key.size(), value.data(), value.size());
    CHECK(retrieve(alone, key, 64).empty());
}
