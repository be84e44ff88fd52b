// The calls of cairn_egl.h.
// SPDX-License-Identifier: MIT
#include <cairn/internal/front_end.h>

#include "cache/driver_blobs.h"
#include "cache/egl_entry.h"
#include "capi/cache_handle.h"

using namespace cairn;

static_assert(CAIRN_EGL_KEY_SIZE == egl_entry::kKeySize);
static_assert(CAIRN_EGL_ENTRY_HEAD_SIZE == egl_entry::kHeadSize);
static_assert(CAIRN_EGL_ATTACHED_MAX == blob_displays::kDisplaysMax);

int cairn_egl_blob_cache_attach(void *display, cairn_cache *cache,
                                cairn_egl_get_proc_address get_proc_address) {
    return result_of([&]() -> int {
        if (display == nullptr || cache == nullptr || get_proc_address == nullptr) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        return result_code(blob_displays::attach(display, cache->blobs, get_proc_address));
    });
}

int cairn_egl_blob_cache_detach(void *display) {
    return result_of([&] { return result_code(Result<bool>(blob_displays::detach(display))); });
}

int cairn_egl_blob_cache_redirect(void *display, blob_displays::SetBlob set,
                                  blob_displays::GetBlob get) {
    if ((set == nullptr) != (get == nullptr)) return CAIRN_ERROR_INVALID_ARGUMENT;
    return result_of(
        [&] { return result_code(Result<bool>(blob_displays::redirect(display, set, get))); });
}

int cairn_gl_blob_cache_attach(cairn_cache *cache, cairn_egl_get_proc_address get_proc_address) {
    return result_of([&]() -> int {
        using Set = decltype(&cairn_blob_callback_set);
        using Get = decltype(&cairn_blob_callback_get);
        if (cache == nullptr || get_proc_address == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        const auto set_functions = reinterpret_cast<void (*)(Set, Get, const void *)>(
            get_proc_address("glBlobCacheCallbacksANGLE"));
        if (set_functions == nullptr) return CAIRN_ERROR_UNSUPPORTED;
        cache->blobs.prepare();
        set_functions(&cairn_blob_callback_set, &cairn_blob_callback_get, cache);
        return CAIRN_OK;
    });
}

void cairn_blob_callback_set(const void *key, ptrdiff_t key_size, const void *value,
                             ptrdiff_t value_size, const void *user) {
    if (user == nullptr) return;
    auto *cache = static_cast<cairn_cache *>(const_cast<void *>(user));
    cache->blobs.set(key, key_size, value, value_size);
}

ptrdiff_t cairn_blob_callback_get(const void *key, ptrdiff_t key_size, void *value,
                                  ptrdiff_t value_size, const void *user) {
    if (user == nullptr) return 0;
    auto *cache = static_cast<cairn_cache *>(const_cast<void *>(user));
    return cache->blobs.get(key, key_size, value, value_size);
}

int cairn_egl_entry_seal(const void *key, size_t key_size, void *entry, size_t entry_size) {
    if (key == nullptr || key_size != CAIRN_EGL_KEY_SIZE || entry == nullptr ||
        entry_size <= CAIRN_EGL_ENTRY_HEAD_SIZE) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    egl_entry::seal(bytes(key, key_size), {static_cast<std::byte *>(entry), entry_size});
    return CAIRN_OK;
}

int cairn_egl_entry_check(const void *key, size_t key_size, const void *entry, size_t entry_size) {
    if (key == nullptr || entry == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    return egl_entry::is_whole(bytes(key, key_size), bytes(entry, entry_size)) ? CAIRN_OK
                                                                               : CAIRN_MISS;
}
