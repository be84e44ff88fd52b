/* For our own front ends and tests, which link the library's parts statically: neither installed
 * nor exported by libcairn.so.
 * SPDX-License-Identifier: MIT
 */
#ifndef CAIRN_INTERNAL_FRONT_END_H
#define CAIRN_INTERNAL_FRONT_END_H

#include "cairn/cairn_egl.h"
#include "cairn/cairn_program_cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For layers between an application and EGL: from now on the functions given get what the driver of
 * an attached display asks, until it is detached. With two NULLs the cache does again. CAIRN_OK;
 * CAIRN_MISS when the display is not attached; CAIRN_ERROR_INVALID_ARGUMENT when one is NULL. */
int cairn_egl_blob_cache_redirect(void *display,
                                  void (*set)(const void *key, ptrdiff_t key_size,
                                              const void *value, ptrdiff_t value_size),
                                  ptrdiff_t (*get)(const void *key, ptrdiff_t key_size, void *value,
                                                   ptrdiff_t value_size));

#define CAIRN_EGL_ENTRY_HEAD_SIZE 20u /* bytes at the beginning of an entry */

/* Writes the head of an entry: its magic number, and a check over its key and all that follows.
 * CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT when `entry_size` is not greater than the head's. */
int cairn_egl_entry_seal(const void *key, size_t key_size, void *entry, size_t entry_size);

/* An entry that is in no cache yet, with copies of the key and the value. NULL without memory. */
cairn_blob *cairn_blob_make(const void *key, size_t key_size, const void *value, size_t value_size,
                            uint32_t cost_us);

/* cairn_put() of an entry that cairn_blob_make() made or a look-up found, be it in another cache.
 * The cache keeps the entry itself where it would keep a copy. */
int cairn_put_blob(cairn_cache *cache, cairn_blob *entry);

enum {
    CAIRN_DRIVER_CACHE_OWN = 1u << 0, /* the user wants one: see cache/driver_cache.h */
    CAIRN_DRIVER_CACHE_LOOK = 1u << 1 /* nothing is made: is there to be one? */
};

/* Writes the directory in which the application's driver is to keep its machine code to `path`,
 * terminated. With a `recording` that is not "" there is one, which begins empty for each new name
 * of a recording. CAIRN_OK; CAIRN_MISS: it is to keep it where it always does; CAIRN_TOO_SMALL;
 * CAIRN_ERROR_INVALID_ARGUMENT. `log` may be NULL. */
int cairn_driver_cache_open(const char *application, uint32_t flags, const char *recording,
                            char *path, size_t capacity, cairn_log_fn log, void *log_user);

/* Puts the files that packs have for the driver of this program cache into that directory. Does
 * nothing where there is no directory, or no such pack, or it is done. `*placed` receives how many
 * files were new. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT. */
int cairn_driver_cache_place(const cairn_program_cache_options *options, uint64_t *placed);

#ifdef __cplusplus
}
#endif
#endif
