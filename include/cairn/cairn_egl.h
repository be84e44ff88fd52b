/* Cairn for programs that use EGL themselves: serving a driver's own cache
 * (EGL_ANDROID_blob_cache, GL_ANGLE_blob_cache), and checking the entries of a display's program
 * cache (EGL_ANGLE_program_cache_control, see eglext_cairn.h).
 * SPDX-License-Identifier: MIT
 *
 * The conventions of cairn.h hold. No header of EGL or GL is needed, and the library links neither:
 * an EGLDisplay is passed as a pointer, and the caller gives the function that finds those of EGL
 * and GL, normally eglGetProcAddress.
 */
#ifndef CAIRN_CAIRN_EGL_H
#define CAIRN_CAIRN_EGL_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * serving a driver's own cache */

typedef void (*cairn_egl_function)(void);
/* eglGetProcAddress, or a function that behaves like it. */
typedef cairn_egl_function (*cairn_egl_get_proc_address)(const char *name);

/* Has the driver of an initialised display keep its blobs in `cache`, by EGL_ANDROID_blob_cache.
 * The extension has no way back: a display's functions are set once. The cache must stay open until
 * the display is no longer used or cairn_egl_blob_cache_detach has returned. Use a cache for
 * nothing else, since the keys are the driver's.
 *
 * Drivers first ask for the size of a blob and then for its bytes. The blob that the first call
 * found is held for the second one of the same thread, so that no change comes between the two.
 *
 * While the kind CACHE_FOR_DRIVER of cairn_control.h is disabled, the driver finds nothing and
 * stores nothing. When the kind is cleared, the cache is cleared with the driver's next call. The
 * control that counts is that of the cache's own root; for a cache in memory, that of
 * cairn_root_resolve; for one behind a broker there is none.
 *
 *   CAIRN_OK                 also for a display that was attached before and terminated since, even
 *                            if other functions have been set meanwhile: no driver says so
 *   CAIRN_ERROR_UNSUPPORTED  the display does not offer the extension
 *   CAIRN_ERROR_BUSY         its functions have been set before
 *   CAIRN_ERROR_FULL         CAIRN_EGL_ATTACHED_MAX displays of this process have been attached
 *   CAIRN_ERROR_INVALID_ARGUMENT */
CAIRN_API int cairn_egl_blob_cache_attach(void *display, cairn_cache *cache,
                                          cairn_egl_get_proc_address get_proc_address);

#define CAIRN_EGL_ATTACHED_MAX 16u

/* From now on the driver finds nothing and stores nothing. Waits for calls in progress; when it
 * returns, the cache may be closed. The same display may then be attached again, also to another
 * cache. CAIRN_OK; CAIRN_MISS when the display is not attached. */
CAIRN_API int cairn_egl_blob_cache_detach(void *display);

/* The same as attaching, for the current context alone, by GL_ANGLE_blob_cache. GL itself detaches
 * it (glBlobCacheCallbacksANGLE with NULLs). The caller knows whether the context offers the
 * extension. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED when the driver has no
 * such function. */
CAIRN_API int cairn_gl_blob_cache_attach(cairn_cache *cache,
                                         cairn_egl_get_proc_address get_proc_address);

/* The two functions themselves, with the signatures of GL_ANGLE_blob_cache, for drivers that are
 * told of them in another way. `user` is the cairn_cache. Sizes that no driver could mean are
 * passed over. cairn_blob_callback_get returns the size of the value and writes it to `value`. It
 * returns 0 when there is none, and when it is larger than `value_size`, because Mesa takes any
 * other answer for bytes that it has. Where `value` is NULL or `value_size` is 0, it returns the
 * size only. */
CAIRN_API void cairn_blob_callback_set(const void *key, ptrdiff_t key_size, const void *value,
                                       ptrdiff_t value_size, const void *user);
CAIRN_API ptrdiff_t cairn_blob_callback_get(const void *key, ptrdiff_t key_size, void *value,
                                            ptrdiff_t value_size, const void *user);

/* -------------------------------------------------------------------------------------------------
 * entries of a display's program cache */

#define CAIRN_EGL_KEY_SIZE 20u /* bytes of every key */

/* Whether these are a key and a binary as eglProgramCacheQueryANGLE gave them under Cairn, without
 * a byte changed. eglProgramCachePopulateANGLE accepts anything, and a damaged binary is found out
 * at the link only, so check entries that were kept elsewhere. CAIRN_OK; CAIRN_MISS when they are
 * not; CAIRN_ERROR_INVALID_ARGUMENT when one is NULL. */
CAIRN_API int cairn_egl_entry_check(const void *key, size_t key_size, const void *entry,
                                    size_t entry_size);

#ifdef __cplusplus
}
#endif
#endif
