/* Cairn, for engines that keep compiled programs: what Chromium's "GPU Program Caching" asks of a
 * program cache, over the caches of cairn.h.
 * SPDX-License-Identifier: MIT
 *
 * cairn_program_cache_open gives a cairn_cache, on which every call of cairn.h works, with these
 * differences:
 *
 *  - Memory over disk. A bounded level of least recently used order answers first; cairn_get gives
 * the copy that it holds. What other processes clear is gone from it at once;
 * what they replace or remove is noticed when it has left this process's memory.
 *  - cairn_put returns when the entry is in a bounded queue, from which a thread of the cache's own
 * writes it, within milliseconds. It is found by this process at once, by others when it is
 * written. CAIRN_ERROR_BUSY: the queue is full; the entry is dropped, and nothing changed. An entry
 * that is larger than the queue, and CAIRN_PUT_IF_ABSENT, are written before the call returns. When
 * the process is killed, or ends by _exit, what was queued is lost: cairn_flush before it.
 * cairn_close writes it. What cannot be written (a full disk) is counted, and what it
 * replaced is removed.
 *  - One generation for each identity. The cache is that of one application, its build, and one
 * identity, such as a driver's; others are beside it, and come back when their identity does.
 *  - An entry is remembered that a driver dies with: cairn_use_begin.
 *  - A thread of the cache's own brings the newest entries into memory after the cache was opened,
 * until memory is full, cairn_trim is called, or the cache is closed. No call waits for it; an
 * entry that is wanted before is read at once. What is put, removed or cleared meanwhile is not
 * replaced by something older.
 *  - What a start uses is recorded: the keys of its first ten seconds, in the order of their first
 * use, in the file `order` of the cache's directory.
 *  - After fork() the child may use the cache at any time, whatever the parent's threads do: it
 * opens it anew with its first call, and begins with empty memory and queue.
 *
 * The conventions of cairn.h hold.
 */
#ifndef CAIRN_CAIRN_PROGRAM_CACHE_H
#define CAIRN_CAIRN_PROGRAM_CACHE_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_APPLICATION_SIZE_MAX 64u     /* characters, without the terminating zero */
#define CAIRN_IDENTITY_SIZE_MAX 65536u     /* bytes, without the terminating zero */
#define CAIRN_QUEUE_BYTES_DEFAULT 8388608u /* 8 MiB */
#define CAIRN_USED_KEY_SIZE_MAX 64u        /* bytes of a key that cairn_use_begin remembers */

/* A flag of cairn_program_cache_options: nothing is brought into memory before it is used. */
#define CAIRN_PROGRAM_CACHE_NO_LOADING (1u << 16)

typedef struct cairn_program_cache_options {
    size_t size;             /* sizeof(cairn_program_cache_options) */
    const char *root;        /* as in cairn_options */
    const char *application; /* 1 to 64 of A-Z a-z 0-9 . _ - and not beginning with a dot */
    const char *build;       /* of the application, as it likes; NULL: none */
    const char *identity;    /* all that decides whether an entry can be used: vendor, renderer,
                                driver version, build-ids, ... UTF-8 text for people, whose first line
                                lists show; at most CAIRN_IDENTITY_SIZE_MAX bytes */
    uint64_t version;        /* of the layout of entries, see cairn_options */
    uint32_t flags;          /* CAIRN_OPEN_READ_ONLY, ..._EXISTING, ..._SYNC_ON_CLOSE, ..._COMPRESS,
                                CAIRN_PROGRAM_CACHE_NO_LOADING */
    uint32_t unused_days;  /* generations that nobody has used for so many days are removed. 0: 30;
                              UINT32_MAX: never */
    uint64_t limit_bytes;  /* of this generation on disk. 0: `limit_percent` of what the user gives
                              the application; see below */
    uint64_t memory_bytes; /* keys and values in memory, see cairn_options */
    uint64_t queue_bytes;  /* keys and values queued. 0: CAIRN_QUEUE_BYTES_DEFAULT; UINT64_MAX: no
                              queue, a put writes */
    uint64_t total_bytes;  /* of all generations below the root, on disk; see below. 0:
                              CAIRN_LIMIT_BYTES_DEFAULT; UINT64_MAX: any number */
    cairn_log_fn log;      /* may be NULL */
    void *log_user;
    uint32_t limit_percent; /* where limit_bytes is 0; for applications that keep several
                               generations at once. 0: 100 */
} cairn_program_cache_options;

/* What the user gives an application, for all its generations together, is said by the environment
 * variable CAIRN_LIMIT ("4G"), else by `limit` in the configuration file, for this application
 * (whose name is there without the "egl-" of the EGL front end) or for each; else it is
 * CAIRN_LIMIT_BYTES_DEFAULT. Both are read when the cache is opened, and 4 MiB is the least. An
 * application whose user has said something has that, and no part in `total_bytes`, in every
 * process.
 *
 * Generations that are superseded go by themselves: once an hour, a process that opens one has a
 * thread look for those that were not used for `unused_days`. When all of them take more than
 * `total_bytes`, those least recently used go of applications with more than their share, which is
 * the same for each application; of the latest, entries go. So it is, at once, where an application
 * is given another limit than before. None is touched that a process has
 * open, and no cache of cairn_open.
 *
 * Opens the generation of this application, build and identity, and makes it where it is missing: a
 * cache below the root whose name begins with the application's, with a text `generation` in it
 * that says what it is of. An entry that an earlier process died with (cairn_use_begin) is dropped.
 * The handle is given back with cairn_close. Errors as cairn_open. */
CAIRN_API int cairn_program_cache_open(const cairn_program_cache_options *options,
                                       cairn_cache **cache);

/* The identifier by which `cairn` and cairn_open know a program cache, or another cache on disk;
 * valid until cairn_close. NULL for a cache in memory or behind a broker. */
CAIRN_API const char *cairn_program_cache_identifier(const cairn_cache *cache);

/* As cairn_get, but the calling thread does not wait for the disk longer than `patience_ms`
 * milliseconds (and what the system takes to wake a thread): the cache's thread reads. CAIRN_LATE:
 * it is not known yet whether there is such an entry; if there is, it will be in memory when the
 * disk has answered, for a later look-up, where the cache has a memory level. With 0 what is not in
 * memory is fetched, and nobody waits for it. What is in memory, or was just put,
 * costs as much as with cairn_get; what the system has of the disk in memory, some microseconds
 * more; what it has not, or what no entry has, a change of threads more. Other results as
 * cairn_get; CAIRN_ERROR_UNSUPPORTED for caches that are no program caches and not in memory. */
CAIRN_API int cairn_get_within(cairn_cache *cache, const void *key, size_t key_size,
                               uint32_t patience_ms, cairn_blob **blob);

/* Notes, in memory that outlives the process, that a driver is about to be given the entry of this
 * key; cairn_use_end takes it back. If the process dies in between, however it does, the next one
 * that opens the cache removes this entry, and no other, counts it, and says so in the log. The
 * second time that it happens to an entry, it is kept out of this generation: it is not found, and
 * cairn_put of it returns CAIRN_KEPT_OUT. Costs some hundred nanoseconds and no system call.
 *
 * `*ticket` is for cairn_use_end, and may be given to it whatever the result. CAIRN_OK;
 * CAIRN_ERROR_UNSUPPORTED: it is not remembered, because the cache is no program cache or is
 * read-only, the key is longer than CAIRN_USED_KEY_SIZE_MAX, or too many (63) are in use;
 * CAIRN_ERROR_INVALID_ARGUMENT. A process that is killed by somebody else in this time counts as
 * well. As long as a child of fork() lives that has not called exec, a crash of its parent is not
 * seen. */
CAIRN_API int cairn_use_begin(cairn_cache *cache, const void *key, size_t key_size,
                              uint32_t *ticket);
CAIRN_API void cairn_use_end(cairn_cache *cache, uint32_t ticket);

/* Removes the entries that were stored at `begin_ms` or later and before `end_ms`, in milliseconds
 * since 1970-01-01 UTC, by any process. Where the clock was set back, an entry still counts as
 * later than those before it: for all until now, `end_ms` is UINT64_MAX. For every kind of cache.
 * Processes that use it keep nothing of them in memory; an entry that is stored anew meanwhile may
 * go, too. `removed` may be NULL; it receives how many they were. CAIRN_OK, also when there are
 * none; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_UNSUPPORTED behind a
 * broker; after errors of cairn_remove some of them may still be there. */
CAIRN_API int cairn_clear_range(cairn_cache *cache, uint64_t begin_ms, uint64_t end_ms,
                                uint64_t *removed);

typedef struct cairn_program_cache_stats {
    size_t size; /* sizeof(cairn_program_cache_stats), set by the caller */
    /* Of this process. */
    uint64_t memory_entries;
    uint64_t memory_bytes; /* keys and values */
    uint64_t memory_limit_bytes;
    uint64_t memory_hits;
    uint64_t queue_entries; /* not written yet */
    uint64_t queue_bytes;
    uint64_t queue_dropped; /* entries, because the queue was full */
    uint64_t queue_failed;  /* entries that could not be written */
    /* Of this generation, since it was made. */
    uint64_t crashes_dropped;  /* times that an entry was dropped because a process died with it */
    uint64_t crashes_kept_out; /* entries that are kept out for it */
    /* Of this process again. */
    uint64_t loaded_entries; /* that the thread brought into memory; counted when it is done */
    uint64_t load_done;      /* 1: it loads no more */
    uint64_t start_keys;     /* recorded of this start */
    uint64_t late;           /* look-ups that returned CAIRN_LATE */
} cairn_program_cache_stats;

/* Fills `*stats`, as far as `size` reaches. CAIRN_OK; CAIRN_ERROR_UNSUPPORTED for other caches;
 * CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_program_cache_stats_get(cairn_cache *cache, cairn_program_cache_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
