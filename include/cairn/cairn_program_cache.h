/* Cairn, for engines that keep compiled programs: what Chromium's "GPU Program Caching" asks of a
 * program cache, over the caches of cairn.h.
 * SPDX-License-Identifier: MIT
 *
 * cairn_program_cache_open gives a cairn_cache. The table of cairn.h says which calls it has. It
 * differs from a cache on disk in this:
 *
 *  - Memory over disk. A bounded level, evicted in least recently used order, answers first. What
 *    other processes clear is gone from it at once. An entry that they replace or remove stays
 *    until it has left this process's memory.
 *  - A queue. cairn_put returns when the entry is in a bounded queue, from which a thread of the
 *    cache writes it within milliseconds. This process finds it at once, others when it is written.
 *    CAIRN_ERROR_BUSY says that the queue is full and nothing changed. An entry that is larger than
 *    the queue, and one put with CAIRN_PUT_IF_ABSENT, is written before the call returns. A process
 *    that is killed or ends by _exit loses its queue, unless it calls cairn_flush before;
 *    cairn_close writes it. An entry that cannot be written (the disk is full) is counted, and the
 *    one that it replaces is removed.
 *  - One generation for each identity. The cache is that of one application, its build, and one
 *    identity, such as a driver's. Others are beside it, and come back when their identity does.
 *  - It remembers an entry that a driver dies with: cairn_use_begin.
 *  - It loads ahead. After it was opened, a thread of the cache brings the newest entries into
 *    memory, until memory is full or cairn_trim is called. No call waits for it. It replaces
 *    nothing that is put, removed or cleared meanwhile by something older.
 *  - It records what a start uses: the keys of its first ten seconds, in the order of their first
 *    use, in the file `order` of the cache's directory. cairn_clear removes it.
 *  - After fork() the child may use the cache at any time, whatever the parent's threads do. It
 *    opens it anew with its first call, and begins with empty memory and queue.
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
#define CAIRN_USED_KEY_SIZE_MAX 64u        /* bytes of a key of cairn_use_begin */

/* A flag of cairn_program_cache_options: nothing is brought into memory before it is used. */
#define CAIRN_PROGRAM_CACHE_NO_LOADING (1u << 16)
/* Another: what the start uses is not recorded. So does `record = 0` in the configuration. For
 * private windows and the like. */
#define CAIRN_PROGRAM_CACHE_NO_RECORD (1u << 17)

typedef struct cairn_program_cache_options {
    size_t size;             /* sizeof(cairn_program_cache_options) */
    const char *root;        /* as in cairn_options */
    const char *application; /* 1 to 64 of A-Z a-z 0-9 . _ - and not beginning with a dot */
    const char *build;       /* of the application, one line of any text; NULL: none */
    /* Everything that decides whether an entry can be used: vendor, renderer, driver version,
     * build-ids and the like. UTF-8 text for people, at most CAIRN_IDENTITY_SIZE_MAX bytes; lists
     * show its first line. */
    const char *identity;
    uint64_t version; /* of the layout of entries, as in cairn_options */
    /* CAIRN_OPEN_READ_ONLY, ..._EXISTING, ..._SYNC_ON_CLOSE, ..._COMPRESS, ..._NO_LAYERS,
     * CAIRN_PROGRAM_CACHE_... */
    uint32_t flags;
    /* Generations that no process has used for so many days are removed.
     * 0: 30; UINT32_MAX: never. */
    uint32_t unused_days;
    /* Of this generation on disk. 0: `limit_percent` of what the user gives the application. */
    uint64_t limit_bytes;
    uint64_t memory_bytes; /* keys and values in memory, as in cairn_options */
    /* Keys and values queued. 0: CAIRN_QUEUE_BYTES_DEFAULT. CAIRN_NONE: no queue; a put writes. */
    uint64_t queue_bytes;
    /* Of all generations below the root, on disk. 0: CAIRN_LIMIT_BYTES_DEFAULT. CAIRN_NONE: no
     * limit. */
    uint64_t total_bytes;
    cairn_log_fn log; /* may be NULL */
    void *log_user;
    /* Where limit_bytes is 0, for applications that keep several generations at once. 0: 100. */
    uint32_t limit_percent;
    /* Paths of packs that lie under the cache, as in cairn_options. Only those of this very
     * generation are used. */
    const char *const *layers;
    size_t layer_count;
} cairn_program_cache_options;

/* Opens the generation of this application, build and identity, and makes it where it is missing: a
 * cache below the root whose name begins with the application's, with a text `generation` in it
 * that says what it is of. An entry that an earlier process died with (cairn_use_begin) is dropped.
 * The handle is given back with cairn_close. Errors as cairn_open.
 *
 * The user says what an application may take, for all its generations together: by the environment
 * variable CAIRN_LIMIT ("4G"), else by `limit` in the configuration file, for this application (by
 * its name there, without the "gl-" of the front ends for GL) or for each. The default is
 * CAIRN_LIMIT_BYTES_DEFAULT, the least is 4 MiB, and both are read when the cache is opened. Such
 * an application has what the user gave it in every process, and no part in `total_bytes`.
 * `compress = 1` and `compress = 0` in that file go before CAIRN_OPEN_COMPRESS in the same way.
 *
 * Superseded generations go by themselves. Once an hour, a process that opens a program cache has a
 * thread look for generations that were not used for `unused_days`, and remove them. When all
 * generations take more than `total_bytes`, each application has the same share: of those with
 * more, the least recently used generations go, and of the latest one entries go. An application
 * that is given another limit than before is looked at in the same way at once. No generation goes
 * that a process has open, and no cache of cairn_open. In a generation, what another version of Cairn
 * keeps in a format of its own goes when it seems unused for four times as long. */
CAIRN_API int cairn_program_cache_open(const cairn_program_cache_options *options,
                                       cairn_cache **cache);

/* The identifier by which `cairn` and cairn_open know a program cache, or another cache on disk.
 * Valid until cairn_close. NULL for a cache in memory or behind a broker. */
CAIRN_API const char *cairn_program_cache_identifier(const cairn_cache *cache);

/* As cairn_get, but the calling thread does not wait for the disk longer than `patience_ms`
 * milliseconds, and the time that the system takes to wake a thread: the cache's thread reads.
 * CAIRN_LATE says that it is not known yet whether there is such an entry. If there is, it will be
 * in memory for a later look-up when the disk has answered, where the cache has a memory level.
 * With 0, an entry that is not in memory is fetched while nobody waits. An entry in memory, or put
 * a moment ago, costs as much as with cairn_get; one that the system has in its page cache some
 * microseconds more; every other look-up a change of threads more. Other results as cairn_get;
 * CAIRN_ERROR_UNSUPPORTED. */
CAIRN_API int cairn_get_within(cairn_cache *cache, const void *key, size_t key_size,
                               uint32_t patience_ms, cairn_blob **blob);

/* Notes, in memory that outlives the process, that a driver is about to be given the entry of this
 * key; cairn_use_end takes the note back. If the process dies in between, for whatever reason, the
 * next one that opens the cache removes this entry and no other, counts it, and says so in the log.
 * The second time, the entry is kept out of this generation: it is not found, and cairn_put of it
 * returns CAIRN_KEPT_OUT. Costs some hundred nanoseconds and no system call.
 *
 * `*ticket` is for cairn_use_end, and may be given to it whatever the result. CAIRN_OK;
 * CAIRN_ERROR_UNSUPPORTED: nothing is noted, because the cache is no program cache or is read-only,
 * the key is longer than CAIRN_USED_KEY_SIZE_MAX, or 63 entries are in use;
 * CAIRN_ERROR_INVALID_ARGUMENT. A process that somebody kills in this time counts as well. While a
 * child of fork() lives that has not called exec, a crash of its parent is not seen. */
CAIRN_API int cairn_use_begin(cairn_cache *cache, const void *key, size_t key_size,
                              uint32_t *ticket);
CAIRN_API void cairn_use_end(cairn_cache *cache, uint32_t ticket);

/* Removes the entries that any process stored at `begin_ms` or later and before `end_ms`, in
 * milliseconds since 1970-01-01 UTC. Where the clock was set back, an entry still counts as later
 * than those before it: give UINT64_MAX as `end_ms` for all until now. Processes that use the cache
 * keep none of these entries in memory. An entry that is stored anew meanwhile may go, too.
 * `removed` may be NULL; it receives the number of removed entries. CAIRN_OK, also when there are
 * none; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_UNSUPPORTED. After the
 * errors of cairn_remove some of the entries may still be there. */
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
