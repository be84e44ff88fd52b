/* Cairn for those who work with EGL themselves: serving a driver's own cache
 * (EGL_ANDROID_blob_cache, GL_ANGLE_blob_cache), and checking the entries of a display's program
 * cache (EGL_ANGLE_program_cache_control, see eglext_cairn.h).
 * SPDX-License-Identifier: MIT
 *
 * The conventions of cairn.h hold. No header of EGL or GL is needed, and the library is linked to
 * neither: an EGLDisplay is passed as what it is, a pointer, and functions of EGL and GL are found
 * with what the caller gives, normally eglGetProcAddress.
 */
#ifndef CAIRN_CAIRN_EGL_H
#define CAIRN_CAIRN_EGL_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------
 * serving a driver's own cache */

typedef void (*cairn_egl_function)(void);
/* eglGetProcAddress, or a function that behaves like it. */
typedef cairn_egl_function (*cairn_egl_get_proc_address)(const char *name);

/* Has the driver of an initialised display keep what it wants to keep in `cache`, by
 * EGL_ANDROID_blob_cache. The extension has no way back: the display's functions are set once. The
 * cache must stay open until the display is no longer used or cairn_egl_blob_cache_detach has
 * returned. It should be a cache of its own: keys are the driver's.
 *
 * Drivers ask for the size of a blob first and for its bytes then. What was found by the first
 * call is held for the second one of the same thread, so that nothing that happens in between can
 * make the two disagree.
 *
 * While the kind CACHE_FOR_DRIVER of cairn_control.h is disabled, the driver finds nothing and
 * keeps nothing; when it is cleared, so is the cache, with the driver's next call. The root whose
 * control is obeyed is the cache's own; for a cache in memory it is that of cairn_root_resolve.
 *
 * CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED when the display does not offer
 * the extension; CAIRN_ERROR_BUSY when its functions have been set before; CAIRN_ERROR_FULL when
 * CAIRN_EGL_ATTACHED_MAX displays of this process are attached. A display that was attached before
 * answers CAIRN_OK also where it was terminated and others have set functions since: no driver
 * says. */
CAIRN_API int cairn_egl_blob_cache_attach(void *display, cairn_cache *cache,
                                          cairn_egl_get_proc_address get_proc_address);

#define CAIRN_EGL_ATTACHED_MAX 16u

/* From now on the driver finds nothing and keeps nothing. Waits for calls in progress; when it
 * returns, the cache may be closed. The same display may then be attached again, also to another
 * cache. CAIRN_OK; CAIRN_MISS when the display is not attached. */
CAIRN_API int cairn_egl_blob_cache_detach(void *display);

/* For layers between an application and EGL: from now on the functions given get what the driver of
 * an attached display asks, until it is detached. With two NULLs, the cache does again. CAIRN_OK;
 * CAIRN_MISS when the display is not attached; CAIRN_ERROR_INVALID_ARGUMENT when one is NULL. */
CAIRN_API int cairn_egl_redirect_blob_cache(void *display,
                                            void (*set)(const void *key, ptrdiff_t key_size,
                                                        const void *value, ptrdiff_t value_size),
                                            ptrdiff_t (*get)(const void *key, ptrdiff_t key_size,
                                                             void *value, ptrdiff_t value_size));

/* The same as attaching for the current context alone, by GL_ANGLE_blob_cache. Detached by GL
 * itself (glBlobCacheCallbacksANGLE with NULLs). CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT;
 * CAIRN_ERROR_UNSUPPORTED when the driver has no such function. Whether the context offers the
 * extension is the caller's to know. */
CAIRN_API int cairn_gl_blob_cache_attach(cairn_cache *cache,
                                         cairn_egl_get_proc_address get_proc_address);

/* The two functions themselves, with the signatures of GL_ANGLE_blob_cache; `user` is the
 * cairn_cache. For drivers with other ways to be told of them. Sizes that no driver could mean are
 * passed over. cairn_blob_callback_get returns the size of the value and writes it; 0 when there is
 * none, or it is larger than `value_size`: Mesa takes any other answer for bytes that it has. Where
 * `value` is NULL or `value_size` 0, only the size is told. */
CAIRN_API void cairn_blob_callback_set(const void *key, ptrdiff_t key_size, const void *value,
                                       ptrdiff_t value_size, const void *user);
CAIRN_API ptrdiff_t cairn_blob_callback_get(const void *key, ptrdiff_t key_size, void *value,
                                            ptrdiff_t value_size, const void *user);

/* ------------------------------------------------------------------------------------------------------
 * entries of a display's program cache */

#define CAIRN_EGL_KEY_SIZE 20u        /* bytes of every key */
#define CAIRN_EGL_ENTRY_HEAD_SIZE 20u /* bytes of an entry that cairn_egl_seal_entry writes */

/* Writes the head of an entry: what it is, and a check over its key and all that follows. CAIRN_OK;
 * CAIRN_ERROR_INVALID_ARGUMENT when `entry_size` is not greater than the head's. */
CAIRN_API int cairn_egl_seal_entry(const void *key, size_t key_size, void *entry,
                                   size_t entry_size);

/* Whether these are a key and a binary as eglProgramCacheQueryANGLE gave them under Cairn, with not
 * a byte changed. For those who keep entries and give them to eglProgramCachePopulateANGLE, which
 * accepts anything: what is not whole is found out at the link only. CAIRN_OK; CAIRN_MISS when they
 * are not; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_egl_entry_check(const void *key, size_t key_size, const void *entry,
                                    size_t entry_size);

#ifdef __cplusplus
}
#endif
#endif
