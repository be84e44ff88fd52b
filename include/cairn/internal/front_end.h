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

/* Whether a look-up found the entry in a pack. 1 or 0; 0 for NULL. */
int cairn_blob_is_of_pack(const cairn_blob *blob);

/* What became of an entry. */
enum {
    CAIRN_FATE_UNKNOWN = 0, /* nothing is known of it; most likely it was never stored */
    CAIRN_FATE_EVICTED,     /* it had to make room */
    CAIRN_FATE_DAMAGED,     /* it was dropped as its bytes were not those that were stored */
    CAIRN_FATE_CRASHED,     /* it was dropped as a process died while its driver took it */
    CAIRN_FATE_KEPT_OUT,    /* the same, more than once: it is not taken any more */
    CAIRN_FATE_CLEARED,     /* entries were removed on request; it may have been one of them */
    CAIRN_FATE_LATE         /* the user's agent was asked for it and did not answer in time */
};

/* What became of the entry of a key that a look-up has just missed, as far as that is remembered:
 * of a key that is there it says nothing. `*fate` receives a CAIRN_FATE_..., `*when_s` when that
 * was, in seconds since 1970, to the minute for what was evicted or damaged; 0: not known. Makes
 * one system call at most, but for the first call on a handle. CAIRN_OK;
 * CAIRN_ERROR_INVALID_ARGUMENT. */
int cairn_fate(cairn_cache *cache, const void *key, size_t key_size, uint32_t *fate,
               uint64_t *when_s);

/* How many entries this handle has evicted from disk so far, to make room for others. Unlike
 * cairn_stats_get() it costs nothing. 0 for NULL. */
uint64_t cairn_evicted(cairn_cache *cache);

/* The limit of a cache on disk, as cairn_stats_get() gives it, which counts all entries for that. 0 for
 * NULL, and for what is not on disk. */
uint64_t cairn_disk_limit(cairn_cache *cache);

/* From now on until the handle is closed, `told` is called whenever entries are queued or written, by
 * the thread that does it: with `user`, and how many entries, and bytes of keys and values, this
 * process has put that are not on disk yet. One call at a time for each handle in a process. It must
 * neither wait nor use the handle. A forked child calls it for its own queue. A cache without a queue
 * never calls it. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT, also when the handle is watched already. */
int cairn_watch_queue(cairn_cache *cache,
                      void (*told)(void *user, uint64_t entries, uint64_t bytes), void *user);

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
