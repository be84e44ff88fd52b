// Dawn's blob cache in Cairn, by a descriptor that is chained to a device's: plain webgpu.h, with
// no class of Dawn's. Tested with the headers of Dawn of Chromium m154.
// SPDX-License-Identifier: MIT
//
//   WGPUDawnCacheDeviceDescriptor blobs = cairn_adapters::dawn_device_cache(cache);
//   device_descriptor.nextInChain = &blobs.chain;             // of the WGPUDeviceDescriptor
//
// Dawn's keys hold its version, the adapter, the driver, toggles and `isolationKey`.
//
// Threads: any, at once, as Dawn calls it.
// Lifetime: the cache outlives the device.
#pragma once

#include <cairn/cairn_egl.h>
#include <webgpu/webgpu.h>

namespace cairn_adapters {

// Asked for the size first and for the bytes then. The blob that the first call finds is held for
// the second one of the same thread, so no eviction comes in between.
inline size_t dawn_load(size_t key_size, const uint8_t *key, size_t value_size, uint8_t *value,
                        void *cache, void * /*unused*/) {
    return static_cast<size_t>(cairn_blob_callback_get(key, static_cast<ptrdiff_t>(key_size), value,
                                                       static_cast<ptrdiff_t>(value_size), cache));
}

inline void dawn_store(size_t key_size, const uint8_t *key, size_t value_size, const uint8_t *value,
                       void *cache, void * /*unused*/) {
    cairn_blob_callback_set(key, static_cast<ptrdiff_t>(key_size), value,
                            static_cast<ptrdiff_t>(value_size), cache);
}

inline WGPUDawnCacheDeviceDescriptor dawn_device_cache(cairn_cache *cache) {
    WGPUDawnCacheDeviceDescriptor descriptor = WGPU_DAWN_CACHE_DEVICE_DESCRIPTOR_INIT;
    descriptor.dawnLoadCacheDataCallbackInfo.callback = dawn_load;
    descriptor.dawnLoadCacheDataCallbackInfo.userdata1 = cache;
    descriptor.dawnStoreCacheDataCallbackInfo.callback = dawn_store;
    descriptor.dawnStoreCacheDataCallbackInfo.userdata1 = cache;
    return descriptor;
}

}  // namespace cairn_adapters
