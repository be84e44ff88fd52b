/* Cairn: remembers compiled GPU programs, so that none is compiled twice. The C interface.
 * SPDX-License-Identifier: MIT
 *
 * Conventions, which every call keeps:
 *
 *  1. Handles are opaque. What a call named `..._open`, `..._get...` or `..._begin` returns is
 * owned by the caller and is given back with the call that its comment names. NULL may be given
 * back; nothing happens.
 *  2. Bytes are a pointer and a size in bytes. A pointer may be NULL only where its size is 0 or
 * where the comment says so. The library copies what it keeps: caller's memory may be reused as
 * soon as a call returns.
 *  3. Results are `cairn_result` values returned as int. 0 is success, positive values are outcomes
 * that a correct program meets every day (a miss), negative values are errors. On anything but
 * CAIRN_OK output arguments are left as they were, except where the comment says otherwise. No call
 * sets errno for the caller to read.
 *  4. Threads: every call on a cache may be made from any number of threads at once, except
 * cairn_close, which must be the last. A blob is immutable and may be read by any thread; it is
 * freed once. A key builder belongs to one thread.
 *  5. Processes: any number of processes may open the same cache, and none waits for another to
 * read. What one process has stored (its put has returned CAIRN_OK) is found by every other one,
 * also if the first is killed right after.
 *  6. Forking: after fork() both processes may go on using a disk cache that was open before;
 * neither needs to know. If another thread may be inside a call of the cache at that moment, and
 * for memory caches, let the child open its own. A child that lives on shares the file locks of its
 * parent: after the parent's death nobody takes over the segment that it was writing until the
 * child ends, closes the cache, or calls exec.
 *  7. Structs begin with `size`, the sizeof() that the caller was compiled with, so that they can
 * grow. Set everything else to zero for the defaults.
 *  8. Nothing is printed. A log function given at open receives one line per event worth knowing.
 * No signal handler is installed, no thread outlives cairn_close, the environment is read by
 * cairn_open, cairn_root_resolve, cairn_control_open and, once, where a cache first serves a
 * driver's blobs (cairn_egl.h).
 *  9. No exception leaves a call, and none may enter it from a callback. Each call that returns a
 * cairn_result may return CAIRN_ERROR_NO_MEMORY, also where its comment does not name it.
 */
#ifndef CAIRN_CAIRN_H
#define CAIRN_CAIRN_H

#include <stddef.h>
#include <stdint.h>

#if defined(CAIRN_STATIC)
#define CAIRN_API
#else
#define CAIRN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface; cairn_version_string() tells that of the library in use. */
#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0

/* Limits of every cache. */
#define CAIRN_KEY_SIZE_MAX 65536u             /* bytes; the smallest key has 1 byte */
#define CAIRN_VALUE_SIZE_MAX 1073741823u      /* bytes; a value may have 0 bytes */
#define CAIRN_IDENTIFIER_SIZE_MAX 128u        /* characters, without the terminating zero */
#define CAIRN_LIMIT_BYTES_DEFAULT 1073741824u /* 1 GiB */
#define CAIRN_LIMIT_BYTES_MIN 1048576u /* 1 MiB; on disk, a smaller limit is raised to this */
#define CAIRN_MEMORY_BYTES_DEFAULT 268435456u /* 256 MiB */
#define CAIRN_NONE UINT64_MAX                 /* where a number of bytes is given: none at all */

typedef enum cairn_result {
    CAIRN_OK = 0,
    CAIRN_MISS = 1,          /* no such entry */
    CAIRN_EXISTS = 2,        /* the entry is there already and was left as it is */
    CAIRN_TOO_SMALL = 3,     /* the caller's buffer is smaller than the value */
    CAIRN_KEPT_OUT = 4,      /* drivers have died with this entry (cairn_program_cache.h) */
    CAIRN_LATE = 5,          /* not known within the time given (cairn_get_within), or not made */
    CAIRN_NOT_CONVERTED = 6, /* the converter makes nothing of this input (cairn_convert.h) */

    CAIRN_ERROR_INVALID_ARGUMENT =
        -1, /* a pointer, size, flag or identifier is outside what the call accepts */
    CAIRN_ERROR_NO_MEMORY = -2, /* memory could not be had; nothing changed */
    CAIRN_ERROR_NO_SPACE = -3,  /* the file system or the user's disk quota is full */
    CAIRN_ERROR_FULL =
        -4, /* the cache's own limit is reached and nothing could be removed for it */
    CAIRN_ERROR_TOO_LARGE = -5, /* the entry alone is larger than the cache may become */
    CAIRN_ERROR_DENIED =
        -6, /* no permission, or the directory is not safe to use (the log line says why) */
    CAIRN_ERROR_READ_ONLY = -7, /* the cache was opened, or could only be opened, for reading */
    CAIRN_ERROR_BUSY =
        -8, /* another process has this cache open in another version, or holds up a change */
    CAIRN_ERROR_IO =
        -9, /* the operating system reported any other failure (the log line says which) */
    CAIRN_ERROR_UNSUPPORTED = -10, /* this file system or build cannot do what was asked */
    CAIRN_ERROR_NOT_FOUND = -11    /* CAIRN_OPEN_EXISTING was given and there is no such cache */
} cairn_result;

/* A static, lower-case English description of a result, such as "no such entry". Never NULL. */
CAIRN_API const char *cairn_result_string(int result);

/* The library's version, such as "0.1.0". Static. */
CAIRN_API const char *cairn_version_string(void);

/* ----------------------------------------------------------------------------------------------
 * opening a cache */

typedef struct cairn_cache cairn_cache;

/* Severity of a log line. */
enum { CAIRN_LOG_ERROR = 0, CAIRN_LOG_WARNING = 1, CAIRN_LOG_INFO = 2 };

/* Receives one line, without a line end, valid during the call only. May be called from any thread
 * that uses the cache; must not call into the same cache. */
typedef void (*cairn_log_fn)(void *user, int severity, const char *line);

enum {
    CAIRN_MODE_DISK = 0,  /* persistent, shared by processes */
    CAIRN_MODE_MEMORY = 1 /* lives in this handle only and ends with it; touches no file */
};

enum {
    CAIRN_OPEN_READ_ONLY = 1u << 0,     /* never write; the directory may be read-only */
    CAIRN_OPEN_EXISTING = 1u << 1,      /* do not create the cache if there is none */
    CAIRN_OPEN_SYNC_ON_CLOSE = 1u << 2, /* cairn_close does what cairn_sync does first */
    /* For tools: open the cache in the version it has; `version` is for a cache that is made. */
    CAIRN_OPEN_ANY_VERSION = 1u << 3,
    CAIRN_OPEN_REFUSE_WHEN_FULL = 1u << 4, /* CAIRN_ERROR_FULL instead of evicting entries */
    /* While the cache is open and is stored to, do in a thread of its own what cairn_compress does.
     * On disk only. */
    CAIRN_OPEN_COMPRESS = 1u << 5,
    /* In memory mode, and only there: `limit_bytes` counts values and no keys. */
    CAIRN_OPEN_COUNT_VALUES_ONLY = 1u << 6,
    /* Each look-up asks the kernel first whether the cache's files were deleted by hand: nothing
     * that was deleted is found any more, and what any process stores anew is found at once.
     * Without it, look-ups notice a deletion after some time. On disk only. */
    CAIRN_OPEN_NOTICE_DELETION = 1u << 7
};

typedef struct cairn_options {
    size_t size;            /* sizeof(cairn_options) */
    const char *root;       /* directory that holds the caches. NULL: see cairn_root_resolve */
    const char *identifier; /* names the cache below the root: 1 to 128 of A-Z a-z 0-9 . _ - and not
                               beginning with a dot */
    uint64_t version;     /* contents written under another version are not seen, see cairn_open */
    uint32_t mode;        /* CAIRN_MODE_... */
    uint32_t flags;       /* CAIRN_OPEN_... */
    uint64_t limit_bytes; /* on disk, every file counted; in memory mode keys and values. 0:
                             CAIRN_LIMIT_BYTES_DEFAULT */
    uint64_t limit_entries; /* 0: no limit but that on bytes */
    /* The most bytes of entries that are kept in memory. 0: CAIRN_MEMORY_BYTES_DEFAULT, or the
     * cache's limit where that is less. CAIRN_NONE: none. */
    uint64_t memory_bytes;
    const char *about; /* UTF-8 text for people, written to the file `about` when the cache is
                               created; may be NULL */
    cairn_log_fn log;  /* may be NULL */
    void *log_user;    /* passed to log */
    /* What is kept when room must be made: "default" (also for NULL), "lru", "fifo", "mru". Every
     * process that opens the cache for writing evicts by its own. */
    const char *policy;
} cairn_options;

/* Writes the directory that is used when `root` is NULL to `buffer`, terminated: $CAIRN_DIR; else
 * $XDG_CACHE_HOME/cairn; else $HOME/.cache/cairn (or the home directory of the user database).
 * Relative values of the two variables are ignored. `capacity` is in bytes. CAIRN_TOO_SMALL;
 * CAIRN_ERROR_NOT_FOUND when the user has no home directory. */
CAIRN_API int cairn_root_resolve(char *buffer, size_t capacity);

/* Opens a cache, and creates it (mode 0700) where it is missing. Takes the same time however large
 * the cache is, and waits for nobody. The handle is given back with cairn_close.
 *
 * A cache found on disk under another `version` is emptied if nobody else has it open; else
 * CAIRN_ERROR_BUSY. A damaged cache opens; what is damaged will be missed. Something else that has
 * the name of one of its files (a directory, link, pipe, socket or device) is taken away, and
 * nothing that it leads to is touched. A directory that may not be written opens for reading.
 *
 * CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_DENIED when the root or the cache's directory is a
 * symbolic link, belongs to another user, is writable by others, or permissions forbid it;
 * CAIRN_ERROR_BUSY; CAIRN_ERROR_NOT_FOUND; CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_NO_MEMORY;
 * CAIRN_ERROR_UNSUPPORTED; CAIRN_ERROR_IO. `*cache` is NULL on any error. */
CAIRN_API int cairn_open(const cairn_options *options, cairn_cache **cache);

/* Gives back a cache. Blobs and views taken from it stay valid. */
CAIRN_API void cairn_close(cairn_cache *cache);

/* ------------------------------------------------------------------------------------------------------
 * looking up */

/* An immutable value, owned by the caller. */
typedef struct cairn_blob cairn_blob;

/* The bytes of a blob; aligned to 16 bytes; valid until cairn_blob_free. Not NULL, also for an
 * empty value. */
CAIRN_API const void *cairn_blob_data(const cairn_blob *blob);
CAIRN_API size_t cairn_blob_size(const cairn_blob *blob);
/* What making the value was said to cost when it was stored, in microseconds; 0: unknown. */
CAIRN_API uint32_t cairn_blob_cost_us(const cairn_blob *blob);
CAIRN_API void cairn_blob_free(cairn_blob *blob);

/* Looks up a key. The checksum of the value has been verified on the very bytes that are handed out.
 * There is no size to be asked for first, hence no race between two calls. An entry that a process
 * reads a second time is kept in its memory (see memory_bytes), and the blobs of one entry share
 * that copy. A blob keeps its bytes when the entry is replaced, removed or evicted, and after
 * cairn_close. It is given back with cairn_blob_free. CAIRN_OK; CAIRN_MISS, also for a damaged
 * entry, which is dropped; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_NO_MEMORY. */
CAIRN_API int cairn_get(cairn_cache *cache, const void *key, size_t key_size, cairn_blob **blob);

/* The same into the caller's buffer of `capacity` bytes, without a copy in between. `*value_size`
 * receives the value's size in bytes with CAIRN_OK and with CAIRN_TOO_SMALL. Whatever the result,
 * all of the buffer may have been written to, so the key must not lie in it; only with CAIRN_OK its
 * first `*value_size` bytes are the value. `buffer` may be NULL where capacity is 0: that asks for
 * the size. Results as cairn_get, and CAIRN_TOO_SMALL. */
CAIRN_API int cairn_get_into(cairn_cache *cache, const void *key, size_t key_size, void *buffer,
                             size_t capacity, size_t *value_size);

/* CAIRN_OK when the key has an entry, CAIRN_MISS when not. The value is not read: a get that
 * follows may still miss, because the entry was removed in between or is damaged.
 * CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_contains(cairn_cache *cache, const void *key, size_t key_size);

/* ---------------------------------------------------------------------------------------------------------
 * storing */

enum {
    CAIRN_PUT_IF_ABSENT = 1u << 0, /* leave an existing entry as it is and return CAIRN_EXISTS: of
                                      any number of concurrent calls for one key, in any number of
                                      processes, exactly one returns CAIRN_OK */
    CAIRN_PUT_PINNED = 1u << 1     /* kept in preference to all others when room must be made */
};

typedef struct cairn_put_options {
    size_t size;      /* sizeof(cairn_put_options) */
    uint32_t flags;   /* CAIRN_PUT_... */
    uint32_t cost_us; /* what making the value again would cost, in microseconds; 0: unknown */
} cairn_put_options;

/* Stores a value under a key, in place of an older one. After CAIRN_OK every process finds it,
 * whatever happens to this one. `options` may be NULL. Not durable against power loss before
 * cairn_sync. CAIRN_OK; CAIRN_EXISTS; CAIRN_ERROR_INVALID_ARGUMENT (key or value size);
 * CAIRN_ERROR_FULL; CAIRN_ERROR_TOO_LARGE; CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_READ_ONLY;
 * CAIRN_ERROR_BUSY; CAIRN_ERROR_NO_MEMORY; CAIRN_ERROR_IO. After an error the older entry, if any,
 * is still there. If the process is killed inside the call, the value may be found at once, later,
 * or never. When the cache's files were deleted since it was opened, with its directory or the
 * whole root, they are made anew, also with CAIRN_OPEN_EXISTING; that may fail as cairn_open does
 * with CAIRN_ERROR_DENIED and CAIRN_ERROR_UNSUPPORTED, and has one log line. */
CAIRN_API int cairn_put(cairn_cache *cache, const void *key, size_t key_size, const void *value,
                        size_t value_size, const cairn_put_options *options);

/* Removes an entry. CAIRN_OK; CAIRN_MISS; CAIRN_ERROR_INVALID_ARGUMENT. After any other error it
 * may still be there: CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_DENIED; CAIRN_ERROR_NO_SPACE;
 * CAIRN_ERROR_BUSY (entries that damage hides are still searched for); CAIRN_ERROR_NO_MEMORY;
 * CAIRN_ERROR_IO. */
CAIRN_API int cairn_remove(cairn_cache *cache, const void *key, size_t key_size);

/* Removes all entries and gives their disk space back; for every process that has the cache open.
 * CAIRN_OK; CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_IO; where it was deleted also what cairn_put says.
 */
CAIRN_API int cairn_clear(cairn_cache *cache);

/* In memory mode, and of the memory level of a program cache: evicts the least recently used
 * entries, pinned ones last, until keys and values (with CAIRN_OPEN_COUNT_VALUES_ONLY, values) hold
 * at most `bytes`. With 0 nothing stays, nor entries that count no bytes. The limit stays as it is.
 * `freed_bytes` may be NULL; it receives how many bytes went, counted alike. CAIRN_OK;
 * CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED for a cache on disk. */
CAIRN_API int cairn_trim(cairn_cache *cache, uint64_t bytes, uint64_t *freed_bytes);

/* In memory mode: `limit_bytes` is the cache's limit from now on, and in the same step entries are
 * evicted as by cairn_trim until at most `keep_bytes` are held, or `limit_bytes` where that is less.
 * Here a limit of 0 means 0: an entry that counts any bytes is refused as too large. Results as
 * cairn_trim; CAIRN_ERROR_UNSUPPORTED for every other kind of cache. */
CAIRN_API int cairn_resize(cairn_cache *cache, uint64_t limit_bytes, uint64_t keep_bytes,
                           uint64_t *freed_bytes);

/* Makes everything that was stored before, by any process, survive a power loss. Takes as long as
 * the disk does. CAIRN_OK; CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_IO: then nothing is known to be
 * durable; CAIRN_ERROR_READ_ONLY for a handle that only reads. */
CAIRN_API int cairn_sync(cairn_cache *cache);

/* Waits until what was put before has arrived: of a program cache until it is written, behind a
 * broker until the broker has stored it; at most `patience_ms` milliseconds. A put of any other
 * cache has arrived when it returns. CAIRN_OK, also where a queued entry could not be stored, which
 * is counted (cairn_program_cache_stats.queue_failed, cairn_broker_stats.refused);
 * CAIRN_ERROR_BUSY: some entries still wait; CAIRN_ERROR_IO: the connection to the broker ended;
 * CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_flush(cairn_cache *cache, uint32_t patience_ms);

/* Compresses (zstd) what was stored: a 64th of the limit at a time, and what ended processes have
 * left; not what this or another process is writing just now. Program binaries take a quarter of
 * their space then, and a get that reads one from disk takes some microseconds longer; the values
 * that are got are the same. Other processes may use the cache meanwhile; the work is done in small
 * pieces with pauses, and holds up nobody. CAIRN_OK, also when there was nothing to do, and in
 * memory mode, where nothing is done; CAIRN_ERROR_BUSY: somebody else is at it, or the segments are
 * being searched (after a system start, or for what damage hides): later; CAIRN_ERROR_FULL: there
 * is no room for the compressed copy of a part of the cache; CAIRN_ERROR_READ_ONLY;
 * CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_NO_MEMORY; CAIRN_ERROR_IO. After an error some of the entries
 * are compressed, and none is lost. */
CAIRN_API int cairn_compress(cairn_cache *cache);

/* ---------------------------------------------------------------------------------------------------------
 * several who miss the same entry */

/* The right to make an entry, which one thread of all processes has at a time: who misses an entry
 * acquires it, makes the value, puts it, releases it; the others wait meanwhile. It is advice: no
 * other call asks for it. */
typedef struct cairn_lease cairn_lease;

/* Acquires the lease of a key, and waits for it for `patience_ms` milliseconds at most, asleep; 0:
 * it does not wait. For every kind of cache but those behind a broker: of one on disk among all
 * processes and threads, of one in memory among the threads that use this handle.
 *
 * CAIRN_OK: nobody else has it, and the entry is not there: make it. `*lease` is given back with
 * cairn_lease_release, by any thread, and before cairn_close. CAIRN_EXISTS: the entry is there, at
 * first or since somebody else made it; get it. CAIRN_ERROR_BUSY: somebody else still has it; also
 * at once where the calling thread has a lease, of any key and cache: who has one does not wait,
 * so that no two wait for each other. CAIRN_ERROR_INVALID_ARGUMENT. All else says that no lease can
 * be had: CAIRN_ERROR_UNSUPPORTED behind a broker; CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_DENIED;
 * CAIRN_ERROR_NOT_FOUND (the cache's directory was deleted); CAIRN_ERROR_NO_SPACE;
 * CAIRN_ERROR_NO_MEMORY; CAIRN_ERROR_IO. After any error: make the entry, as if there were no
 * leases.
 *
 * The kernel releases it when its process ends, however that happens, and one who waits has it
 * within a millisecond or two. Who is stopped while it has one holds up the others for as long as
 * they have patience. A child of fork() does not have what its parent has. When nobody stores the
 * entry, those who wait get the lease one after the other, so patience is best not much longer
 * than making an entry takes. */
CAIRN_API int cairn_lease_acquire(cairn_cache *cache, const void *key, size_t key_size,
                                  uint32_t patience_ms, cairn_lease **lease);

/* Gives a lease back, once; put the entry first. Of a program cache (cairn_program_cache.h) it
 * waits until what was put is written, 100 ms at most, so that the next process finds it. */
CAIRN_API void cairn_lease_release(cairn_lease *lease);

/* ---------------------------------------------------------------------------------------------------------
 * looking at */

typedef struct cairn_stats {
    size_t size; /* sizeof(cairn_stats), set by the caller */
    /* Of the cache, all processes together. */
    uint64_t entries;     /* counted now: takes time in proportion to the index */
    uint64_t disk_bytes;  /* blocks held by all its files; 0 in memory mode */
    uint64_t limit_bytes; /* as in force for this handle */
    uint64_t version;
    /* Of this handle, since it was opened. */
    uint64_t hits;
    uint64_t misses;
    uint64_t puts;          /* that returned CAIRN_OK */
    uint64_t puts_refused;  /* that returned an error */
    uint64_t damaged;       /* entries dropped because their bytes did not verify */
    uint64_t memory_bytes;  /* private copies held now */
    uint64_t bytes_read;    /* values, by hits */
    uint64_t bytes_written; /* values, by puts */
    /* Of the check after a system start, which runs in the background: bytes of segments. */
    uint64_t check_bytes_total;
    uint64_t check_bytes_left;
} cairn_stats;

/* Fills `*stats`. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_stats_get(cairn_cache *cache, cairn_stats *stats);

typedef struct cairn_entry {
    size_t size; /* sizeof(cairn_entry) as the library was built */
    const void *key;
    size_t key_size;
    size_t value_size;
    uint64_t stored_at_ms; /* milliseconds since 1970-01-01 UTC, by the clock of the process that
                              stored it */
    uint32_t cost_us;      /* as given with the put */
    uint32_t flags;        /* CAIRN_PUT_PINNED */
    size_t stored_size;    /* bytes that the value takes as it is stored; less than value_size where
                              it is compressed */
} cairn_entry;

/* Called for an entry; `entry` and what it points to are valid during the call. Non-zero stops the
 * enumeration. May call cairn_get..., cairn_contains and cairn_remove on the same cache. */
typedef int (*cairn_entry_fn)(void *user, const cairn_entry *entry);

/* Calls `fn` for each entry, in no order. Entries that are there all the time are seen exactly
 * once; those that come or go meanwhile may be seen or not. CAIRN_OK, or
 * CAIRN_ERROR_INVALID_ARGUMENT, CAIRN_ERROR_NO_MEMORY. */
CAIRN_API int cairn_enumerate(cairn_cache *cache, cairn_entry_fn fn, void *user);

/* In memory mode: the entry that stands at `index` in the order of use, 0 being the most recently
 * used. That order stays as it is, and nothing is counted as a hit. The key goes to `key`, of
 * `key_capacity` bytes, its size to `*key_size`, also with CAIRN_TOO_SMALL; the blob is given back
 * with cairn_blob_free. CAIRN_OK; CAIRN_MISS when there are not so many entries; CAIRN_TOO_SMALL;
 * CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED for a cache on disk. */
CAIRN_API int cairn_get_nth(cairn_cache *cache, uint64_t index, void *key, size_t key_capacity,
                            size_t *key_size, cairn_blob **blob);

/* -----------------------------------------------------------------------------------------------------
 * program keys */

/* A program's key must hold everything that can change the compiled result. A key builder takes it
 * as tagged fields, each with its length, so that no two different lists of fields can be confused,
 * and gives an unbroken hash (BLAKE2b-256). */
typedef struct cairn_key_builder cairn_key_builder;

#define CAIRN_PROGRAM_KEY_SIZE 32u /* bytes */

/* `domain` names what is hashed and its revision, such as "gl-program/1". NULL when memory cannot
 * be had. */
CAIRN_API cairn_key_builder *cairn_key_begin(const char *domain);
/* Adds a field. Order counts. `data` may be NULL where size is 0: an empty field differs from no
 * field. */
CAIRN_API void cairn_key_add(cairn_key_builder *builder, uint32_t tag, const void *data,
                             size_t size);
/* Adds a field that is a number. */
CAIRN_API void cairn_key_add_u64(cairn_key_builder *builder, uint32_t tag, uint64_t number);
/* Writes the key and frees the builder. */
CAIRN_API void cairn_key_finish(cairn_key_builder *builder, uint8_t key[CAIRN_PROGRAM_KEY_SIZE]);

/* -------------------------------------------------------------------------------------------------------
 * run report */

/* What front ends saved in the processes of one run, counted in memory shared with the launcher
 * (`cairn run`), so that it is there however a process ends. All fields are only ever added to,
 * atomically (relaxed), by any process and thread. */
typedef struct cairn_report {
    uint64_t layout;        /* CAIRN_REPORT_LAYOUT */
    uint64_t processes;     /* that attached and used a front end */
    uint64_t contexts;      /* created */
    uint64_t compile_calls; /* glCompileShader by the application */
    uint64_t compile_ns;    /* spent inside those calls */
    uint64_t link_calls;    /* glLinkProgram, glCreateShaderProgramv by the application */
    uint64_t link_ns; /* spent inside those calls, deferred compiles and status queries that waited
                         included */
    uint64_t driver_compiles; /* compiles that reached the driver */
    uint64_t driver_links;    /* links that reached the driver */
    uint64_t hits;            /* links answered with a cached binary that the driver accepted */
    uint64_t misses;          /* cacheable links that found no entry */
    uint64_t rejected;        /* cached binaries that the driver refused */
    uint64_t stored;          /* entries stored */
    uint64_t store_failed;    /* entries that could not be stored */
    uint64_t
        bypassed; /* links passed to the driver because the front end does not cache their kind */
    uint64_t saved_ns; /* sum over hits of the recorded cost of compiling and linking minus the time
                          spent */
    uint64_t bytes_read;    /* program binaries, from the cache */
    uint64_t bytes_written; /* program binaries, to the cache */
    uint64_t overhead_ns;   /* time in Cairn itself on misses: keys, lookups, stores */
    uint64_t loads;         /* processes that loaded a front end */
    uint64_t displays;      /* initialised */
    uint64_t own_binaries;  /* program binaries that the application gave its driver by itself */
    uint64_t problem; /* CAIRN_PROBLEM_...: what the first that anybody had with the cache is; 0:
                         nobody had one */
    char problem_text[160]; /* why, with a terminating zero; there before `problem` is */
    uint64_t reserved[21];
} cairn_report;

/* Problems with a cache. */
enum {
    CAIRN_PROBLEM_NOT_USED = 1,  /* it could not be opened */
    CAIRN_PROBLEM_NOT_STORED = 2 /* an entry could not be stored */
};

#define CAIRN_REPORT_LAYOUT 1u
#define CAIRN_REPORT_ENV "CAIRN_REPORT" /* path of the shared memory, set by the launcher */

/* Maps the report named by `path` (as found in the environment variable CAIRN_REPORT_ENV) for
 * adding to. NULL when it cannot be mapped or is of another layout: then nothing is counted. The
 * mapping stays for the life of the process. */
CAIRN_API cairn_report *cairn_report_attach(const char *path);

#ifdef __cplusplus
}
#endif
#endif
