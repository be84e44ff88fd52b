// The part of bgfx's callbacks that keeps programs and pipelines, in Cairn. Derive yours from it
// and write the other callbacks as before.
// SPDX-License-Identifier: MIT
//
//   struct Callbacks : cairn_adapters::BgfxCallback { void fatal(...) override ...
//   init.callback = &callbacks;                                // of bgfx::Init
//
// bgfx's id is a hash of 64 bits of the shaders and states. Give the application a cache of its
// own, for the driver alone (docs/embedding.md).
//
// Threads: any. bgfx calls from its render thread.
// Lifetime: it outlives bgfx::shutdown, and the cache outlives it.
#pragma once

#include <bgfx/bgfx.h>
#include <cairn/cairn_egl.h>

#include <cstdint>
#include <cstring>

namespace cairn_adapters {

class BgfxCallback : public bgfx::CallbackI {
  public:
    explicit BgfxCallback(cairn_cache *cache) : cache_(cache) {}

    // bgfx takes a size for a promise, and goes on without a program where the read fails. The blob
    // found here is held for the next call of the same thread, so no eviction comes in between.
    uint32_t cacheReadSize(uint64_t id) override {
        const ptrdiff_t size = cairn_blob_callback_get(&id, sizeof(id), nullptr, 0, cache_);
        return size <= UINT32_MAX ? static_cast<uint32_t>(size) : 0;
    }
    bool cacheRead(uint64_t id, void *data, uint32_t size) override {
        return size > 0 && data != nullptr &&
               cairn_blob_callback_get(&id, sizeof(id), data, size, cache_) == size;
    }

    // bgfx writes after each pipeline that it makes, also from what it has just read.
    void cacheWrite(uint64_t id, const void *data, uint32_t size) override {
        cairn_blob *blob = nullptr;
        const bool is_there = cairn_get(cache_, &id, sizeof(id), &blob) == CAIRN_OK &&
                              cairn_blob_size(blob) == size &&
                              std::memcmp(cairn_blob_data(blob), data, size) == 0;
        cairn_blob_free(blob);
        if (!is_there) cairn_blob_callback_set(&id, sizeof(id), data, size, cache_);
    }

  private:
    cairn_cache *cache_;
};

}  // namespace cairn_adapters
