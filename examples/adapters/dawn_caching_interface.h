// Dawn's blob cache in Cairn, by the interface of its platform (dawn::platform::CachingInterface).
// An application that makes its devices itself needs none: see dawn_device_cache.h.
// SPDX-License-Identifier: MIT
//
//   class Platform : public dawn::platform::Platform {
//       dawn::platform::CachingInterface *GetCachingInterface() override { return &blobs_; }
//       cairn_adapters::DawnCachingInterface blobs_{cache};
//   };
//
// Dawn's keys hold its version, the adapter, the driver and the device's toggles.
//
// Threads: any, at once, as Dawn calls it.
// Lifetime: it outlives the devices, and the cache outlives it.
#pragma once

#include <cairn/cairn_egl.h>
#include <dawn/platform/DawnPlatform.h>

namespace cairn_adapters {

class DawnCachingInterface final : public dawn::platform::CachingInterface {
  public:
    explicit DawnCachingInterface(cairn_cache *cache) : cache_(cache) {}

    // Dawn asks for the size first and for the bytes then. The blob that the first call finds is
    // held for the second one of the same thread, so no eviction comes in between.
    size_t LoadData(const void *key, size_t key_size, void *value, size_t value_size) override {
        return static_cast<size_t>(
            cairn_blob_callback_get(key, static_cast<ptrdiff_t>(key_size), value,
                                    static_cast<ptrdiff_t>(value_size), cache_));
    }
    void StoreData(const void *key, size_t key_size, const void *value,
                   size_t value_size) override {
        cairn_blob_callback_set(key, static_cast<ptrdiff_t>(key_size), value,
                                static_cast<ptrdiff_t>(value_size), cache_);
    }

  private:
    cairn_cache *cache_;
};

}  // namespace cairn_adapters
