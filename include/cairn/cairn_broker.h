/* Cairn: a cache behind a broker, for processes that may open no files.
 * SPDX-License-Identifier: MIT
 *
 * A broker (the program cairnd) opens caches for others. It lends a client read-only descriptors of
 * a cache's files. The client looks up in them by itself, without a message or a system call that
 * takes a path, and sends what it stores to the broker. The conventions of cairn.h hold.
 *
 * A process that goes into a sandbox either opens the cache before (cairn_broker_open), or gets the
 * connection from the process that starts it:
 *
 *     launcher:  int fd;  cairn_broker_connect(&options, &fd);    then fork and exec, fd inherited
 *     sandbox:   cairn_broker_open_fd(fd, NULL, &cache);
 *
 * The process that connects binds the connection to one cache, and nobody reaches another by it.
 *
 * The table of cairn.h says which calls the handle has. Look-ups may miss entries that were stored
 * moments ago. cairn_put takes the entry into a queue and returns:
 *
 *   CAIRN_OK                the entry is on its way; cairn_flush waits until it has arrived
 *   CAIRN_EXISTS            with CAIRN_PUT_IF_ABSENT: there is one. That exactly one of several
 *                           concurrent calls returns CAIRN_OK does not hold here
 *   CAIRN_ERROR_BUSY        the queue is full, because the broker is slower than the caller
 *   CAIRN_ERROR_TOO_LARGE   the broker or the queue takes no value of this size
 *   CAIRN_ERROR_IO          there is no connection
 *
 * An entry that causes an error is dropped and counted (puts_refused).
 *
 * When the broker ends, the client can read on in what it was lent. Where the handle knows the
 * broker's path, the calls that need a connection make it anew; an inherited one is not made anew.
 * A child of fork() reads on, too; its puts return CAIRN_ERROR_IO, because the connection is its
 * parent's.
 */
#ifndef CAIRN_CAIRN_BROKER_H
#define CAIRN_CAIRN_BROKER_H

#include <cairn/cairn.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_BROKER_TIMEOUT_MS_DEFAULT 2000u
#define CAIRN_BROKER_QUEUE_BYTES_DEFAULT 16777216u /* 16 MiB */

/* A launcher sets this variable for the EGL front end (libEGL_cairn): the number of an inherited
 * descriptor of cairn_broker_connect, made with CAIRN_EGL_CONTENTS_VERSION as version. The front
 * end then keeps the programs of all drivers in the cache behind it, and nowhere else. */
#define CAIRN_BROKER_FD_ENV "CAIRN_BROKER_FD"
#define CAIRN_EGL_CONTENTS_VERSION 2u

typedef struct cairn_broker_options {
    size_t size; /* sizeof(cairn_broker_options) */
    /* The broker's socket. NULL: see cairn_broker_resolve. cairn_broker_open_fd uses it only to
     * make a connection anew that has ended, and with NULL does not. */
    const char *socket_path;
    /* As in cairn_options. cairn_broker_open_fd uses (and needs) it only with a socket_path. */
    const char *identifier;
    uint64_t version;
    uint32_t timeout_ms;   /* how long opening may take. 0: CAIRN_BROKER_TIMEOUT_MS_DEFAULT */
    uint32_t flags;        /* 0 */
    uint64_t queue_bytes;  /* that wait to be sent. 0: CAIRN_BROKER_QUEUE_BYTES_DEFAULT */
    uint64_t memory_bytes; /* as in cairn_options; the limit of the cache is not known here */
    cairn_log_fn log;      /* may be NULL */
    void *log_user;
} cairn_broker_options;

/* Writes the path that is used where `socket_path` is NULL to `buffer`, with a terminating zero:
 * $CAIRN_BROKER, else $XDG_RUNTIME_DIR/cairn/broker.sock. CAIRN_OK; CAIRN_TOO_SMALL;
 * CAIRN_ERROR_NOT_FOUND when neither is set to an absolute path; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_broker_resolve(char *buffer, size_t capacity);

/* Connects to a broker and binds the connection to a cache, which the broker opens or creates.
 * `*fd` is the caller's, for cairn_broker_open_fd here or in another process. It is closed on exec
 * until the caller changes that.
 *
 *   CAIRN_ERROR_INVALID_ARGUMENT
 *   CAIRN_ERROR_NOT_FOUND     no broker listens there
 *   CAIRN_ERROR_DENIED        it belongs to another user, or refuses this one
 *   CAIRN_ERROR_BUSY          the cache is open in another version, or too many clients connect now
 *   CAIRN_ERROR_FULL          it has as many clients as it takes
 *   CAIRN_ERROR_UNSUPPORTED   it speaks another protocol
 *   CAIRN_ERROR_IO            it did not answer in time, or failed */
CAIRN_API int cairn_broker_connect(const cairn_broker_options *options, int *fd);

/* Connects and opens the cache. The handle is given back with cairn_close, which sends what waits
 * for 100 ms at most. Errors as cairn_broker_connect; CAIRN_ERROR_NO_MEMORY. */
CAIRN_API int cairn_broker_open(const cairn_broker_options *options, cairn_cache **cache);

/* Opens the cache that a connection of cairn_broker_connect is bound to. Uses nothing but that
 * descriptor, the descriptors that arrive by it, and memory. `fd` belongs to the handle from then
 * on, and is closed after an error. `options` may be NULL. CAIRN_ERROR_INVALID_ARGUMENT, also when
 * `fd` is no such socket; CAIRN_ERROR_IO: the broker has gone, or does not answer in time;
 * CAIRN_ERROR_NO_MEMORY. */
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
    uint64_t hits_reported; /* told to the broker, so that it keeps the entries that are in use */
} cairn_broker_stats;

/* Fills `*stats`. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_UNSUPPORTED for a cache that
 * is not behind a broker. */
CAIRN_API int cairn_broker_stats_get(cairn_cache *cache, cairn_broker_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
