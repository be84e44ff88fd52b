/* Cairn: a cache behind a broker, for processes that may open no files.
 * SPDX-License-Identifier: MIT
 *
 * A broker (the program cairnd) opens caches for others. It lends a client read-only descriptors of
 * a cache's files; the client looks up in them by itself, with no message and no system call that
 * takes a path, and sends what it stores to the broker. The conventions of cairn.h hold.
 *
 * A process that goes into a sandbox either opens the cache before (cairn_broker_open), or is given
 * the connection by the process that starts it:
 *
 *     launcher:  int fd;  cairn_broker_connect(&options, &fd);    then fork and exec, fd inherited
 *     sandbox:   cairn_broker_open_fd(fd, NULL, &cache);
 *
 * The connection is bound to one cache by whoever connects; who has it reaches no other.
 *
 * What the handle can do: cairn_get, cairn_get_into, cairn_contains and
 * cairn_enumerate as always, but for entries that were stored moments ago, which may be missed;
 * cairn_stats_get; and cairn_put, which takes the entry into a queue and returns:
 *   CAIRN_OK                the entry is on its way; cairn_flush tells when it has arrived
 *   CAIRN_EXISTS            with CAIRN_PUT_IF_ABSENT: there is one. That exactly one of several
 *                           concurrent calls returns CAIRN_OK does not hold here
 *   CAIRN_ERROR_BUSY        the queue is full, because the broker is slower than the caller
 *   CAIRN_ERROR_TOO_LARGE   the broker or the queue takes no value of this size
 *   CAIRN_ERROR_IO          the connection ended
 * After an error the entry was dropped and counted (puts_refused). Nothing else changes the cache:
 * cairn_remove, cairn_clear, cairn_trim, cairn_sync and cairn_compress return
 * CAIRN_ERROR_UNSUPPORTED.
 *
 * When the broker ends, what has been lent can be read on. A connection to a path that the handle
 * knows is made anew, in the calls that need one; an inherited one is not.
 */
#ifndef CAIRN_CAIRN_BROKER_H
#define CAIRN_CAIRN_BROKER_H

#include <cairn/cairn.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_BROKER_TIMEOUT_MS_DEFAULT 2000u
#define CAIRN_BROKER_QUEUE_BYTES_DEFAULT 16777216u /* 16 MiB */

/* Set by a launcher for the EGL front end (libEGL_cairn): the number of an inherited descriptor of
 * cairn_broker_connect. The programs of all drivers are then kept in the cache behind it, and
 * nowhere else. The connection is to be made with CAIRN_EGL_CONTENTS_VERSION as version. */
#define CAIRN_BROKER_FD_ENV "CAIRN_BROKER_FD"
#define CAIRN_EGL_CONTENTS_VERSION 2u

typedef struct cairn_broker_options {
    size_t size; /* sizeof(cairn_broker_options) */
    /* Of the broker. NULL: see cairn_broker_resolve; for cairn_broker_open_fd: a connection that
     * ended is not made anew. */
    const char *socket_path;
    /* As in cairn_options. With cairn_broker_open_fd, used (and needed) only with a socket_path. */
    const char *identifier;
    uint64_t version;
    uint32_t timeout_ms; /* how long opening may take. 0: CAIRN_BROKER_TIMEOUT_MS_DEFAULT */
    uint32_t flags;      /* 0 */
    /* Of entries that wait to be sent. 0: CAIRN_BROKER_QUEUE_BYTES_DEFAULT */
    uint64_t queue_bytes;
    uint64_t memory_bytes; /* as in cairn_options */
    cairn_log_fn log;      /* may be NULL */
    void *log_user;
} cairn_broker_options;

/* Writes the path that is used where `socket_path` is NULL, terminated: $CAIRN_BROKER, else
 * $XDG_RUNTIME_DIR/cairn/broker.sock. CAIRN_TOO_SMALL; CAIRN_ERROR_NOT_FOUND when neither is set.
 */
CAIRN_API int cairn_broker_resolve(char *buffer, size_t capacity);

/* Connects to a broker and binds the connection to a cache, which the broker opens or creates.
 * `*fd`, which is closed on exec until the caller changes that, is the caller's: for
 * cairn_broker_open_fd, here or in another process. CAIRN_ERROR_INVALID_ARGUMENT;
 * CAIRN_ERROR_NOT_FOUND: no broker listens there; CAIRN_ERROR_DENIED: it belongs to another user,
 * or refuses this one; CAIRN_ERROR_BUSY: the cache is open in another version, or too many connect
 * at this moment; CAIRN_ERROR_FULL: it has as many clients as it takes; CAIRN_ERROR_UNSUPPORTED: it
 * speaks another protocol; CAIRN_ERROR_IO: it did not answer in time, or failed. */
CAIRN_API int cairn_broker_connect(const cairn_broker_options *options, int *fd);

/* The same, and opens the cache. The handle is given back with cairn_close, which sends what waits
 * for 100 ms at most. Errors as cairn_broker_connect; CAIRN_ERROR_NO_MEMORY. */
CAIRN_API int cairn_broker_open(const cairn_broker_options *options, cairn_cache **cache);

/* Opens the cache that a connection of cairn_broker_connect is bound to. Uses nothing but that
 * descriptor, those that arrive by it, and memory. `fd` belongs to the handle from then on, also
 * after an error. `options` may be NULL. CAIRN_ERROR_INVALID_ARGUMENT, also when fd is not such a
 * socket; CAIRN_ERROR_IO: the broker has gone, or does not answer in time; CAIRN_ERROR_NO_MEMORY.
 */
CAIRN_API int cairn_broker_open_fd(int fd, const cairn_broker_options *options,
                                   cairn_cache **cache);

typedef struct cairn_broker_stats {
    size_t size;        /* sizeof(cairn_broker_stats), set by the caller */
    uint64_t connected; /* 1: there is a connection now */
    /* Entries, since the handle was opened. */
    uint64_t accepted; /* taken into the queue */
    uint64_t dropped;  /* not taken: queue full, too large, or no connection */
    uint64_t lost;     /* taken, and still in the queue when a connection ended */
    /* Entries of this connection, as the broker counted them at the latest cairn_flush. */
    uint64_t stored;
    uint64_t refused;
    uint64_t queued_bytes;  /* now */
    uint64_t hits_reported; /* so that the broker keeps what is in use */
} cairn_broker_stats;

/* CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED as above. */
CAIRN_API int cairn_broker_stats_get(cairn_cache *cache, cairn_broker_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
