/* The two functions of EGL_ANDROID_blob_cache over one cache of Cairn's, for whom cairn_egl.h does
 * not do: code that takes such functions and hands them to EGL itself. Where you have the display,
 * call cairn_egl_blob_cache_attach instead, which is all there is to do. docs/embedding.md says
 * when to use which.
 * SPDX-License-Identifier: MIT
 *
 * The functions have no argument of ours, so there is one cache for the process (in C, for each
 * source file that includes this: include it in one).
 *
 * They keep to the letter of the extension: a get whose buffer is too small answers the size, and
 * writes nothing. ANGLE wants that. Mesa takes that answer for bytes that it has, so do not give
 * them to Mesa; cairn_egl_blob_cache_attach knows.
 *
 * Threads: drivers call from any thread, and so may you. The cache must stay open until the
 * displays that have these functions are terminated: no call says when a driver is done.
 */
#ifndef CAIRN_ADAPTERS_EGL_BLOB_CACHE_H
#define CAIRN_ADAPTERS_EGL_BLOB_CACHE_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <cairn/cairn_egl.h>

#ifdef __cplusplus
#define CAIRN_ADAPTER inline
extern "C" {
#else
#define CAIRN_ADAPTER static inline
#endif

CAIRN_ADAPTER cairn_cache **cairn_adapter_blob_cache(void) {
    static cairn_cache *cache;
    return &cache;
}

/* From now on the functions use `cache`; with NULL they find nothing and store nothing. */
CAIRN_ADAPTER void cairn_adapter_blob_use(cairn_cache *cache) {
    __atomic_store_n(cairn_adapter_blob_cache(), cache, __ATOMIC_RELEASE);
}

/* An EGLSetBlobFuncANDROID. */
CAIRN_ADAPTER void cairn_adapter_blob_set(const void *key, EGLsizeiANDROID key_size,
                                          const void *value, EGLsizeiANDROID value_size) {
    cairn_blob_callback_set(key, key_size, value, value_size,
                            __atomic_load_n(cairn_adapter_blob_cache(), __ATOMIC_ACQUIRE));
}

/* An EGLGetBlobFuncANDROID. The blob whose size a thread was told is held until it comes back for
 * the bytes, so no eviction comes in between. */
CAIRN_ADAPTER EGLsizeiANDROID cairn_adapter_blob_get(const void *key, EGLsizeiANDROID key_size,
                                                     void *value, EGLsizeiANDROID value_size) {
    cairn_cache *cache = __atomic_load_n(cairn_adapter_blob_cache(), __ATOMIC_ACQUIRE);
    EGLsizeiANDROID size = cairn_blob_callback_get(key, key_size, NULL, 0, cache);
    if (size == 0 || size > value_size || value == NULL) return size;
    return cairn_blob_callback_get(key, key_size, value, value_size, cache);
}

#ifdef __cplusplus
}
#endif
#undef CAIRN_ADAPTER
#endif
