// Filament's blob cache in Cairn: the two functions of Platform::setBlobFunc. Tested with the
// headers of Filament with materials of version 68.
// SPDX-License-Identifier: MIT
//
//   cairn_adapters::filament_use(*engine->getPlatform(), cache);
//
// Filament's keys say which material and constants it is and nothing of the driver. So `cache` must
// be one for this driver alone: a program cache whose identity names it (docs/embedding.md).
//
// Threads: any, at once, as Filament calls them.
// Lifetime: the cache outlives the platform. A platform takes functions once.
#pragma once

#include <backend/Platform.h>
#include <cairn/cairn_egl.h>

namespace cairn_adapters {

// Where the buffer is too small, it answers the size, and Filament comes back with a larger one. It
// does not look whether that call finds anything. So the blob is held for the next call of the same
// thread, and no eviction comes in between.
inline size_t filament_retrieve(cairn_cache *cache, const void *key, size_t key_size, void *value,
                                size_t value_size) {
    const auto key_bytes = static_cast<ptrdiff_t>(key_size);
    const auto size =
        static_cast<size_t>(cairn_blob_callback_get(key, key_bytes, nullptr, 0, cache));
    if (size == 0 || size > value_size) return size;
    return static_cast<size_t>(
        cairn_blob_callback_get(key, key_bytes, value, static_cast<ptrdiff_t>(value_size), cache));
}

inline void filament_use(filament::backend::Platform &platform, cairn_cache *cache) {
    platform.setBlobFunc(
        [cache](const void *key, size_t key_size, const void *value, size_t value_size) {
            cairn_blob_callback_set(key, static_cast<ptrdiff_t>(key_size), value,
                                    static_cast<ptrdiff_t>(value_size), cache);
        },
        [cache](const void *key, size_t key_size, void *value, size_t value_size) {
            return filament_retrieve(cache, key, key_size, value, value_size);
        });
}

}  // namespace cairn_adapters
