/* Cairn: remembers compiled GPU programs, so that none is compiled twice. The C interface.
 * SPDX-License-Identifier: MIT
 *
 * Conventions of all calls, here and in the other headers of this folder:
 *
 *  1. Handles are opaque. The caller owns what a call named `..._open`, `..._get...`, `..._acquire`
 *     or `..._begin` returns, and gives it back with the call that the comment names. Giving back
 *     NULL does nothing.
 *  2. Bytes are a pointer and a size in bytes. A pointer may be NULL only where its size is 0 or
 *     where the comment says so. The library copies what it keeps, so the caller may reuse its
 *     memory as soon as a call returns.
 *  3. Results are `cairn_result` values, as int. 0 is success, positive values are outcomes that a
 *     correct program meets every day (a miss), negative values are errors. A call that does not
 *     return CAIRN_OK leaves output arguments as they were, unless its comment says otherwise.
 *  4. Threads: any number of threads may call on one cache at once. cairn_close must be the last
 *     call on it. Any thread may read a blob, and one frees it. A key builder belongs to one
 *     thread.
 *  5. Processes: any number of processes may open the same cache on disk, and no look-up waits for
 *     another process, but for 20 ms at most where damage has to be mended, and for the user's agent
 *     as long as the user allows (cairn_get). When a put has returned CAIRN_OK, every process finds
 *     the entry, even if the one that stored it is killed right after. Program caches and caches
 *     behind a broker put into a queue; their headers say what holds there.
 *  6. Forking: after fork() both processes may go on using a disk cache that was open before. If
 *     another thread may have been inside a call on it at that moment, let the child open its own,
 *     and always do so for a cache in memory. A child that lives on shares its parent's file locks:
 *     when the parent dies, no process takes over the segment that it was writing until the child
 *     ends, closes the cache or calls exec.
 *  7. Structs begin with `size`, the sizeof() that the caller was compiled with. Set every other
 *     member to zero for its default.
 *  8. The library prints nothing and installs no signal handler, and no thread of a cache outlives
 *     cairn_close. The log function given at open receives one line for each event worth knowing.
 *     Only calls that open or resolve something read the environment, and the first call that has a
 *     cache serve a driver's blobs (cairn_egl.h).
 *  9. No exception leaves a call, and none may enter it from a callback. Each call that returns a
 *     cairn_result may return CAIRN_ERROR_NO_MEMORY, also where its comment does not list it.
 * 10. The interface only grows. A program runs with every later library of the same SONAME, since
 *     no call, member, constant or result goes away or changes its meaning. New calls may come, new
 *     members at the end of a struct that has `size`, and new flags, which an older library refuses
 *     with CAIRN_ERROR_INVALID_ARGUMENT. New results may come too: treat an unknown positive one as
 *     a miss, and an unknown negative one as CAIRN_ERROR_IO.
 *
 * There are four kinds of cache, and one handle for all. cairn_open opens a cache on disk or in
 * memory, cairn_program_cache_open a program cache (cairn_program_cache.h), and cairn_broker_open
 * one behind a broker (cairn_broker.h):
 *
 *   call                    on disk      in memory        program cache         behind a broker
 *   ----------------------  -----------  ---------------  --------------------  ------------------
 *   cairn_get, _into,       yes          yes              memory, then disk     yes, moments late
 *     cairn_contains
 *   cairn_get_within        -            as cairn_get     yes                   -
 *   cairn_put               yes          yes              queued                queued
 *   cairn_remove            yes          yes              yes                   -
 *   cairn_clear, _range     yes          yes              yes                   -
 *   cairn_trim              -            yes              its memory            -
 *   cairn_resize            -            yes              -                     -
 *   cairn_flush             no queue     no queue         until written         until stored
 *   cairn_sync              yes          does nothing     flushes first         -
 *   cairn_compress          yes          does nothing     flushes first         -
 *   cairn_lease_acquire     processes    threads          processes             -
 *   cairn_stats_get         yes          yes              yes                   yes
 *   cairn_enumerate         yes          yes              flushes first         yes
 *   cairn_get_nth           -            yes              -                     -
 *   cairn_use_begin         -            -                yes                   -
 *   cairn_program_cache_    -            -                yes                   -
 *     stats_get
 *   cairn_broker_stats_get  -            -                -                     yes
 *
 * `-` is CAIRN_ERROR_UNSUPPORTED.
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

/* The version that a program is compiled with; cairn_version_string() has that of the library. */
#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 2
#define CAIRN_VERSION_PATCH 0

/* Limits of every cache. */
#define CAIRN_KEY_SIZE_MAX 65536u             /* bytes; the smallest key has 1 byte */
#define CAIRN_VALUE_SIZE_MAX 1073741823u      /* bytes; a value may have 0 bytes */
#define CAIRN_IDENTIFIER_SIZE_MAX 128u        /* characters, without the terminating zero */
#define CAIRN_LIMIT_BYTES_DEFAULT 1073741824u /* 1 GiB */
#define CAIRN_LIMIT_BYTES_MIN 1048576u        /* 1 MiB; on disk a smaller limit is raised to this */
#define CAIRN_MEMORY_BYTES_DEFAULT 268435456u /* 256 MiB */
/* For a member of options whose 0 is a default: none at all. */
#define CAIRN_NONE UINT64_MAX

typedef enum cairn_result {
    CAIRN_OK = 0,
    CAIRN_MISS = 1,          /* no such entry */
    CAIRN_EXISTS = 2,        /* the entry is there already and was left as it is */
    CAIRN_TOO_SMALL = 3,     /* the caller's buffer is smaller than the value */
    CAIRN_KEPT_OUT = 4,      /* drivers have died with this entry (cairn_program_cache.h) */
    CAIRN_LATE = 5,          /* not known within the time given (cairn_get_within), or not made */
    CAIRN_NOT_CONVERTED = 6, /* the converter refuses this input (cairn_convert.h) */

    /* A pointer, size, flag or identifier is outside what the call accepts. */
    CAIRN_ERROR_INVALID_ARGUMENT = -1,
    /* There is no memory; nothing changed. */
    CAIRN_ERROR_NO_MEMORY = -2,
    /* The file system or the user's disk quota is full. */
    CAIRN_ERROR_NO_SPACE = -3,
    /* The cache's own limit is reached, and nothing could be evicted. */
    CAIRN_ERROR_FULL = -4,
    /* The entry alone is larger than the cache may become. */
    CAIRN_ERROR_TOO_LARGE = -5,
    /* Permissions forbid it, or the directory is not safe to use (a log line says why). */
    CAIRN_ERROR_DENIED = -6,
    /* The cache was opened, or could only be opened, for reading. */
    CAIRN_ERROR_READ_ONLY = -7,
    /* Another process has the cache open in another version, or holds up a change; or a queue is
     * full. */
    CAIRN_ERROR_BUSY = -8,
    /* Any other failure of the operating system (a log line says which). */
    CAIRN_ERROR_IO = -9,
    /* This kind of cache, file system or build cannot do it. */
    CAIRN_ERROR_UNSUPPORTED = -10,
    /* There is no such cache, and the call was not to create it. */
    CAIRN_ERROR_NOT_FOUND = -11
} cairn_result;

/* A static, lower-case English description of a result, such as "no such entry". Never NULL. */
CAIRN_API const char *cairn_result_string(int result);

/* The library's version, such as "0.2.0". Static. */
CAIRN_API const char *cairn_version_string(void);

/* -------------------------------------------------------------------------------------------------
 * opening a cache */

typedef struct cairn_cache cairn_cache;

/* Severity of a log line. */
enum { CAIRN_LOG_ERROR = 0, CAIRN_LOG_WARNING = 1, CAIRN_LOG_INFO = 2 };

/* Receives one line, without a line end, valid during the call only. Any thread that uses the cache
 * may call it, and so may the cache's own threads. It must not call into the same cache. */
typedef void (*cairn_log_fn)(void *user, int severity, const char *line);

enum {
    CAIRN_MODE_DISK = 0,  /* persistent, shared by processes */
    CAIRN_MODE_MEMORY = 1 /* lives in this handle only and ends with it; touches no file */
};

enum {
    /* Write nothing. The directory may be read-only. */
    CAIRN_OPEN_READ_ONLY = 1u << 0,
    /* Do not create the cache if there is none. */
    CAIRN_OPEN_EXISTING = 1u << 1,
    /* cairn_close does what cairn_sync does first. */
    CAIRN_OPEN_SYNC_ON_CLOSE = 1u << 2,
    /* For tools: open the cache in the version it has. `version` is for a cache that is made. */
    CAIRN_OPEN_ANY_VERSION = 1u << 3,
    /* A put returns CAIRN_ERROR_FULL instead of evicting entries. */
    CAIRN_OPEN_REFUSE_WHEN_FULL = 1u << 4,
    /* On disk: while the cache is open, a thread of its own compresses stored entries, as
     * cairn_compress does. */
    CAIRN_OPEN_COMPRESS = 1u << 5,
    /* In memory mode only: `limit_bytes` counts values and no keys. */
    CAIRN_OPEN_COUNT_VALUES_ONLY = 1u << 6,
    /* On disk: each look-up asks the kernel first whether the cache's files were deleted by hand. A
     * deleted entry is not found any more, and one that any process stores anew is found at once.
     * Without this flag, look-ups notice a deletion after some time. */
    CAIRN_OPEN_NOTICE_DELETION = 1u << 7,
    /* On disk: no packs lie under the cache, see `layers`. The user's agent, which shares what is
     * compiled with other machines where the user wants that, neither hears of it nor is asked. */
    CAIRN_OPEN_NO_LAYERS = 1u << 8
};

typedef struct cairn_options {
    size_t size; /* sizeof(cairn_options) */
    /* The directory that holds the caches. NULL: see cairn_root_resolve. */
    const char *root;
    /* Names the cache below the root: 1 to 128 of A-Z a-z 0-9 . _ - and not beginning with a
     * dot. */
    const char *identifier;
    uint64_t version; /* of the contents: those of another version are not seen, see cairn_open */
    uint32_t mode;    /* CAIRN_MODE_... */
    uint32_t flags;   /* CAIRN_OPEN_... */
    /* On disk: of all files together. In memory mode: of keys and values.
     * 0: CAIRN_LIMIT_BYTES_DEFAULT. */
    uint64_t limit_bytes;
    uint64_t limit_entries; /* 0: only bytes are limited */
    /* The most bytes of entries that this process keeps in memory besides, so that further hits are
     * faster. 0: CAIRN_MEMORY_BYTES_DEFAULT, or the cache's limit where that is less. CAIRN_NONE:
     * it keeps none. A cache in memory mode has no use for it. */
    uint64_t memory_bytes;
    /* UTF-8 text for people, written to the file `about` when the directory is created. May
     * be NULL. */
    const char *about;
    cairn_log_fn log; /* may be NULL */
    void *log_user;   /* passed to log */
    /* Which entries stay when room must be made, for either limit, on disk and in memory mode.
     * "default" (also for NULL): those that were found, the oftener the better, and those that cost
     * most per byte (cost_us); on disk it learns from when entries are needed again how much it
     * matters that they were found lately. "lru": those that were found lately, in memory mode
     * exactly those that were used last. "fifo": the newest. "mru": the oldest. Pinned entries go
     * last. Each process that opens the cache for writing evicts by its own. */
    const char *policy;
    /* On disk: paths of packs (`cairn pack create`) that lie under the cache, as layers. What the
     * cache does not have, the first of them answers that has it; what is removed or cleared is
     * hidden in them, for all processes, until a pack is replaced by one with other entries. Behind
     * these come the packs beside the executable, in `cairn-packs/`, then the user's and the
     * system's installed ones; 16 in all. Only packs of this identifier and version are used, and
     * of those only what verifies. A pack holds code that drivers run, so its file and folder must
     * belong to root, the user or the owner of the executable, and nobody else may write them. One
     * that cannot be used has a line of the log. With `share = 1` in the user's configuration, packs
     * that are pulled from other machines while the cache is open become layers, too: share caches
     * whose values depend on nothing but identifier, version and key. A file may be replaced (by a
     * rename) or removed while it is in use. Where the cache itself cannot be had, because the
     * directory cannot be read or written or the disk is full, cairn_open gives the layers with a
     * cache in memory over them. docs/packs.md. */
    const char *const *layers;
    size_t layer_count;
} cairn_options;

/* Writes the directory that is used where `root` is NULL to `buffer`, with a terminating zero:
 * $CAIRN_DIR; else $XDG_CACHE_HOME/cairn; else .cache/cairn in $HOME or, without that, in the home
 * directory of the user database. Values that are no absolute path are ignored, and so are all
 * variables in a program that runs with another user's rights. `capacity` is in bytes. CAIRN_OK;
 * CAIRN_TOO_SMALL; CAIRN_ERROR_NOT_FOUND when the user has no home directory;
 * CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_root_resolve(char *buffer, size_t capacity);

/* Opens a cache, and creates it (mode 0700) where it is missing. Takes the same time however large
 * the cache is, unless it must be brought below a lower limit. The handle is given back with
 * cairn_close. `*cache` is NULL on any error.
 *
 * A cache of another `version` on disk is emptied if no other process has it open; otherwise the
 * result is CAIRN_ERROR_BUSY. A damaged cache opens, and the entries that damage has hit are
 * missed. Where something else has the name of one of the cache's files (a directory, link, pipe,
 * socket or device), it is taken away, and nothing that it leads to is touched. A directory that
 * may not be written opens for reading.
 *
 *   CAIRN_ERROR_INVALID_ARGUMENT
 *   CAIRN_ERROR_DENIED       the root or the cache's directory is a symbolic link, belongs to
 *                            another user or is writable by others; permissions forbid it; or there
 *                            is no root, because the user has no home directory
 *   CAIRN_ERROR_BUSY         it is open in another version, or is being deleted again and again
 *   CAIRN_ERROR_NOT_FOUND    there is none, with CAIRN_OPEN_EXISTING or CAIRN_OPEN_READ_ONLY
 *   CAIRN_ERROR_UNSUPPORTED  processes cannot share files there, as on a network file system
 *   CAIRN_ERROR_NO_SPACE, CAIRN_ERROR_NO_MEMORY, CAIRN_ERROR_IO */
CAIRN_API int cairn_open(const cairn_options *options, cairn_cache **cache);

/* Gives back a cache. Blobs taken from it stay valid. */
CAIRN_API void cairn_close(cairn_cache *cache);

/* -------------------------------------------------------------------------------------------------
 * looking up */

/* An immutable value. */
typedef struct cairn_blob cairn_blob;

/* The bytes of a blob: aligned to 16 bytes, valid until cairn_blob_free, and not NULL even for an
 * empty value. For a blob that is NULL: NULL, and 0 from the next two. */
CAIRN_API const void *cairn_blob_data(const cairn_blob *blob);
CAIRN_API size_t cairn_blob_size(const cairn_blob *blob);
/* The cost of making the value, in microseconds, as given with the put; 0: unknown. */
CAIRN_API uint32_t cairn_blob_cost_us(const cairn_blob *blob);
CAIRN_API void cairn_blob_free(cairn_blob *blob);

/* Looks up a key. The checksum of the value has been verified on the very bytes that are handed
 * out. The caller asks for no size first, so no change can come between two calls. An entry that
 * this process finds a second time stays in its memory (see memory_bytes), and blobs of it share
 * that copy. A blob keeps its bytes when the entry is replaced, removed or evicted, and after
 * cairn_close. It is given back with cairn_blob_free. Where the user's configuration says so
 * (`share`, `ask_ms`), a miss on disk may wait for so many milliseconds for what other machines
 * have. CAIRN_OK; CAIRN_MISS, also for an entry that is damaged, which is dropped, or cannot be
 * read; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_NO_MEMORY. */
CAIRN_API int cairn_get(cairn_cache *cache, const void *key, size_t key_size, cairn_blob **blob);

/* The same into the caller's buffer of `capacity` bytes. `*value_size` receives the value's size
 * with CAIRN_OK and with CAIRN_TOO_SMALL. With CAIRN_OK the buffer begins with the value. Whatever
 * the result, all of the buffer may have been written to, so the key must not lie in it. `buffer`
 * may be NULL where `capacity` is 0: that asks for the size. Results as cairn_get, and
 * CAIRN_TOO_SMALL. */
CAIRN_API int cairn_get_into(cairn_cache *cache, const void *key, size_t key_size, void *buffer,
                             size_t capacity, size_t *value_size);

/* CAIRN_OK when the key has an entry, CAIRN_MISS when not. Does not read the value: a get that
 * follows may still miss, because the entry was removed in between or is damaged.
 * CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_contains(cairn_cache *cache, const void *key, size_t key_size);

/* -------------------------------------------------------------------------------------------------
 * storing */

enum {
    /* Leave an existing entry as it is and return CAIRN_EXISTS. Of any number of concurrent calls
     * for one key, in any number of processes, exactly one returns CAIRN_OK. */
    CAIRN_PUT_IF_ABSENT = 1u << 0,
    /* When room must be made, evict others in preference to this entry. */
    CAIRN_PUT_PINNED = 1u << 1
};

typedef struct cairn_put_options {
    size_t size;      /* sizeof(cairn_put_options) */
    uint32_t flags;   /* CAIRN_PUT_... */
    uint32_t cost_us; /* cost of making the value again, in microseconds; 0: unknown */
} cairn_put_options;

/* Stores a value under a key, in place of an older one. After CAIRN_OK every process finds it. It
 * does not survive a power loss before cairn_sync. `options` may be NULL. After an error the older
 * entry, if any, is still there. If the process is killed inside the call, the value may be found
 * at once, later or never. When the cache's files were deleted since it was opened, a put makes
 * them anew, even with CAIRN_OPEN_EXISTING, and the log has one line.
 *
 *   CAIRN_OK
 *   CAIRN_EXISTS                  with CAIRN_PUT_IF_ABSENT
 *   CAIRN_KEPT_OUT                program caches only, see cairn_use_begin
 *   CAIRN_ERROR_INVALID_ARGUMENT  also a key or value size outside the limits
 *   CAIRN_ERROR_FULL              nothing can be evicted, or with CAIRN_OPEN_REFUSE_WHEN_FULL
 *   CAIRN_ERROR_TOO_LARGE         the entry alone is larger than the limit
 *   CAIRN_ERROR_READ_ONLY
 *   CAIRN_ERROR_BUSY              other processes hold up the change; of a queue, it is full
 *   CAIRN_ERROR_DENIED, CAIRN_ERROR_UNSUPPORTED  when deleted files cannot be made anew
 *   CAIRN_ERROR_NO_SPACE, CAIRN_ERROR_NO_MEMORY, CAIRN_ERROR_IO */
CAIRN_API int cairn_put(cairn_cache *cache, const void *key, size_t key_size, const void *value,
                        size_t value_size, const cairn_put_options *options);

/* Removes an entry. CAIRN_OK; CAIRN_MISS; CAIRN_ERROR_INVALID_ARGUMENT. After any other error it
 * may still be there: CAIRN_ERROR_BUSY, because other processes hold up the change, or entries that
 * damage hides are still being searched for; CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_DENIED;
 * CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_NO_MEMORY; CAIRN_ERROR_IO. */
CAIRN_API int cairn_remove(cairn_cache *cache, const void *key, size_t key_size);

/* Removes all entries, for every process that has the cache open, and gives their disk space back.
 * CAIRN_OK; CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_DENIED; CAIRN_ERROR_IO; where the files were deleted
 * also as cairn_put. */
CAIRN_API int cairn_clear(cairn_cache *cache);

/* Evicts entries by the policy that cairn_options names, pinned ones last, until keys and values
 * (with CAIRN_OPEN_COUNT_VALUES_ONLY, values) hold at most `bytes`. With 0 no entry stays, not even
 * one that counts no bytes. The limit stays as it is. Of a program cache this is about its memory,
 * where it has one, in least recently used order; the disk keeps all. `freed_bytes` may be NULL; it
 * receives how many bytes went, counted alike. When memory is short, trim to a quarter of the limit
 * or to 0. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED. */
CAIRN_API int cairn_trim(cairn_cache *cache, uint64_t bytes, uint64_t *freed_bytes);

/* Makes `limit_bytes` the limit of a cache in memory, and in the same step evicts as cairn_trim
 * does until at most `keep_bytes` are held, or `limit_bytes` where that is less. An entry that
 * another thread stores meanwhile is either freed and counted, or stored under the new limit. A
 * limit of 0 means 0 here: an entry that counts any bytes is refused as too large. Results as
 * cairn_trim. */
CAIRN_API int cairn_resize(cairn_cache *cache, uint64_t limit_bytes, uint64_t keep_bytes,
                           uint64_t *freed_bytes);

/* Waits until the puts before it have arrived: of a program cache until they are written, behind a
 * broker until the broker has done them; at most `patience_ms` milliseconds. Other caches have no
 * queue and return CAIRN_OK. CAIRN_OK, also where an entry could not be stored, which is counted
 * (cairn_program_cache_stats.queue_failed, cairn_broker_stats.refused); CAIRN_ERROR_BUSY: some
 * still wait; CAIRN_ERROR_IO: the connection to the broker ended; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_flush(cairn_cache *cache, uint32_t patience_ms);

/* Makes every entry that any process stored before survive a power loss. Takes as long as the disk
 * does. CAIRN_OK; CAIRN_ERROR_READ_ONLY for a handle that only reads; CAIRN_ERROR_BUSY: entries of
 * a program cache are still queued; CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_IO. After an error nothing is
 * known to be durable. */
CAIRN_API int cairn_sync(cairn_cache *cache);

/* Compresses (zstd) stored entries, a 64th of the limit at a time, but not the part that a process
 * is writing just now. Program binaries then take a quarter of their space, and a get that reads
 * one from disk takes some microseconds longer. The work is done with pauses and holds up no other
 * process.
 *
 *   CAIRN_OK                also when there was nothing to do
 *   CAIRN_ERROR_BUSY        another process compresses, or the segments are being searched (after a
 *                           system start, or for entries that damage hides): try later
 *   CAIRN_ERROR_FULL        there is no room for the compressed copy of a part of the cache
 *   CAIRN_ERROR_READ_ONLY, CAIRN_ERROR_NO_SPACE, CAIRN_ERROR_NO_MEMORY, CAIRN_ERROR_IO
 *
 * After an error some of the entries are compressed, and none is lost. */
CAIRN_API int cairn_compress(cairn_cache *cache);

/* -------------------------------------------------------------------------------------------------
 * several that miss the same entry */

/* The right to make an entry. One thread of all processes has it at a time: the thread that misses
 * an entry acquires the lease, makes the value, puts it and releases the lease, and the others wait
 * meanwhile. It is advice: no other call asks for it. */
typedef struct cairn_lease cairn_lease;

/* Acquires the lease of a key. Waits asleep for at most `patience_ms` milliseconds; with 0 it does
 * not wait. The lease of a cache in memory is one among the threads that use this handle.
 *
 *   CAIRN_OK          no other thread has it, and the entry is not there: make it. `*lease` is
 *                     given back with cairn_lease_release, by any thread, and before cairn_close.
 *   CAIRN_EXISTS      the entry is there, from the beginning or since another made it: get it.
 *   CAIRN_ERROR_BUSY  another thread still has it. A thread that has a lease already, of any key
 *                     and cache, does not wait for that, so that no two threads wait for each
 *                     other.
 *   CAIRN_ERROR_INVALID_ARGUMENT
 *
 * Every other error says that there can be no lease: CAIRN_ERROR_UNSUPPORTED;
 * CAIRN_ERROR_READ_ONLY; CAIRN_ERROR_DENIED; CAIRN_ERROR_NOT_FOUND (the cache's directory was
 * deleted); CAIRN_ERROR_NO_SPACE; CAIRN_ERROR_NO_MEMORY; CAIRN_ERROR_IO. After any error make the
 * entry, as if there were no leases.
 *
 * The kernel releases the lease of a process that ends, however that happens, and a waiting thread
 * then has it within a millisecond or two. A thread that is stopped while it has a lease holds up
 * the others for as long as they have patience. A child of fork() does not have its parent's
 * leases. When nobody stores the entry, the waiting threads get the lease one after the other, so
 * choose a patience not much longer than making an entry takes. */
CAIRN_API int cairn_lease_acquire(cairn_cache *cache, const void *key, size_t key_size,
                                  uint32_t patience_ms, cairn_lease **lease);

/* Gives a lease back. Put the entry first. Of a program cache it waits until queued entries are
 * written, one second at most, so that the next process finds the entry. After a second in vain it
 * waits 10 ms at most, until they are written in time or ten seconds have passed. */
CAIRN_API void cairn_lease_release(cairn_lease *lease);

/* -------------------------------------------------------------------------------------------------
 * looking at */

typedef struct cairn_stats {
    size_t size; /* sizeof(cairn_stats), set by the caller */
    /* Of the cache, all processes together. */
    uint64_t entries;     /* counted now: takes time in proportion to the index */
    uint64_t disk_bytes;  /* blocks that all its files hold; 0 in memory mode */
    uint64_t limit_bytes; /* as in force for this handle */
    uint64_t version;
    /* Of this handle, since it was opened. */
    uint64_t hits;
    uint64_t misses;
    uint64_t puts;          /* that stored a value; behind a broker, that were queued */
    uint64_t puts_refused;  /* that the cache refused */
    uint64_t damaged;       /* entries dropped because their bytes did not verify */
    uint64_t memory_bytes;  /* of entries that this process has in memory now */
    uint64_t bytes_read;    /* of values, by hits */
    uint64_t bytes_written; /* of values, by puts */
    /* Of the check after a system start, which runs in the background: bytes of segments. */
    uint64_t check_bytes_total;
    uint64_t check_bytes_left;
    /* Packs that lie under the cache, their entries, and the hits of this handle among `hits` that
     * they have answered. */
    uint64_t layers;
    uint64_t layer_entries;
    uint64_t layer_hits;
} cairn_stats;

/* Fills `*stats`. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_stats_get(cairn_cache *cache, cairn_stats *stats);

typedef struct cairn_entry {
    size_t size; /* sizeof(cairn_entry) as the library was built */
    const void *key;
    size_t key_size;
    size_t value_size;
    uint64_t stored_at_ms; /* since 1970-01-01 UTC, by the clock of the process that stored it */
    uint32_t cost_us;      /* as given with the put */
    uint32_t flags;        /* CAIRN_PUT_PINNED */
    size_t stored_size;    /* bytes that the value takes; less than value_size when compressed */
} cairn_entry;

/* Receives an entry. `entry` and what it points to are valid during the call. Non-zero stops the
 * enumeration. It may call cairn_get..., cairn_contains and cairn_remove on the same cache. */
typedef int (*cairn_entry_fn)(void *user, const cairn_entry *entry);

/* Calls `fn` for each entry, in no order. It sees an entry that is there all the time exactly once,
 * and may or may not see one that comes or goes meanwhile. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT;
 * CAIRN_ERROR_NO_MEMORY. */
CAIRN_API int cairn_enumerate(cairn_cache *cache, cairn_entry_fn fn, void *user);

/* In memory mode: the entry that stands at `index` in the order of use, 0 being the most recently
 * used. That order stays as it is, and the call counts as no hit. The key goes to `key`, of
 * `key_capacity` bytes, and its size to `*key_size`, also with CAIRN_TOO_SMALL. The blob is given
 * back with cairn_blob_free. CAIRN_OK; CAIRN_MISS when there are not so many entries;
 * CAIRN_TOO_SMALL: the key is larger; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED. */
CAIRN_API int cairn_get_nth(cairn_cache *cache, uint64_t index, void *key, size_t key_capacity,
                            size_t *key_size, cairn_blob **blob);

/* -------------------------------------------------------------------------------------------------
 * program keys */

/* A program's key must hold everything that can change the compiled result. A key builder takes it
 * as tagged fields, each with its length, so that no two different lists of fields give the same
 * key, and makes a hash (BLAKE2b-256). */
typedef struct cairn_key_builder cairn_key_builder;

#define CAIRN_PROGRAM_KEY_SIZE 32u /* bytes */

/* `domain` names what is hashed and its revision, such as "gl-program/1". NULL when there is no
 * memory. */
CAIRN_API cairn_key_builder *cairn_key_begin(const char *domain);
/* Adds a field. Order counts. `data` may be NULL where size is 0: an empty field differs from no
 * field. */
CAIRN_API void cairn_key_add(cairn_key_builder *builder, uint32_t tag, const void *data,
                             size_t size);
/* Adds a field that is a number. */
CAIRN_API void cairn_key_add_u64(cairn_key_builder *builder, uint32_t tag, uint64_t number);
/* Writes the key and frees the builder. */
CAIRN_API void cairn_key_finish(cairn_key_builder *builder, uint8_t key[CAIRN_PROGRAM_KEY_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
