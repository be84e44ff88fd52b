/* Cairn, for launchers: makes an application's GPU programs before it is started, and tells how far it
 * is, for a progress bar. What `cairn warm` does (docs/recipes.md).
 * SPDX-License-Identifier: MIT
 *
 *     cairn_warm_options options = {0};
 *     options.size = sizeof options;
 *     options.application = "game";
 *     cairn_warm *warm = NULL;
 *     if (cairn_warm_start(&options, &warm) == CAIRN_OK) {
 *         cairn_warm_progress progress = {0};
 *         progress.size = sizeof progress;
 *         while (cairn_warm_wait(warm, 100, &progress) == CAIRN_LATE)
 *             show(progress.done, progress.total);
 *         cairn_warm_end(warm);
 *     }
 *     // start the game
 *
 * The program `cairn` does it, in processes of the lowest priority that may crash; the calling process
 * makes no context and loads no driver. The conventions of cairn.h hold.
 */
#ifndef CAIRN_CAIRN_WARM_H
#define CAIRN_CAIRN_WARM_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This variable names the program cairn, as an absolute path. cairn_warm_start reads it, but not in
 * programs that run with another user's rights. */
#define CAIRN_WARM_PROGRAM_ENV "CAIRN_WARM_PROGRAM"

/* Flags of cairn_warm_options. Nobody waits: rest on battery, and where memory is short. */
#define CAIRN_WARM_IF_NEEDED (1u << 0)
/* Also what was made before. */
#define CAIRN_WARM_AGAIN (1u << 1)

/* A handle of work that is going on. Calls on one handle are made one at a time. */
typedef struct cairn_warm cairn_warm;

typedef struct cairn_warm_options {
    size_t size;             /* sizeof(cairn_warm_options) */
    const char *root;        /* as in cairn_options */
    const char *application; /* as `cairn ls` shows it; NULL: that of `pack`, or all with recipes */
    const char *pack; /* absolute path of a pack with recipes, which need not be installed; NULL */
    const char *program; /* the program cairn, as an absolute path; NULL: as CAIRN_WARM_PROGRAM_ENV
                              * says, else where it was installed with this library */
    const char *executable; /* absolute path of the application's program, by which drivers may know
                              * it; NULL: as it was recorded here, or found */
    uint32_t jobs;          /* players at once, 64 at most; 0: 1 */
    uint32_t flags;         /* CAIRN_WARM_... */
} cairn_warm_options;

typedef struct cairn_warm_progress {
    size_t size; /* sizeof(cairn_warm_progress), set by the caller */
    /* Programs of the application that is at it, or of the last one. */
    uint64_t done; /* the sum of those below `total` */
    uint64_t total;
    uint64_t made;
    uint64_t known;   /* made before */
    uint64_t refused; /* they do not compile or link with this driver */
    uint64_t failed;  /* the driver crashed or hung; left out from now on */
    uint64_t skipped; /* no context of their kind is to be had */
    uint64_t damaged;
} cairn_warm_progress;

/* Starts it, and does not wait. The process that makes the programs is no child of the caller, as
 * wait() sees it. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT: also for a path that is not absolute, and for
 * both an application and a pack; CAIRN_ERROR_UNSUPPORTED: the program is not installed;
 * CAIRN_ERROR_NO_MEMORY; CAIRN_ERROR_IO: it could not be started. `*warm` is NULL on any error. */
CAIRN_API int cairn_warm_start(const cairn_warm_options *options, cairn_warm **warm);

/* Waits for news or the end, `patience_ms` milliseconds at most, and fills `*progress` (which may be
 * NULL) as far as `size` reaches. CAIRN_OK: it has ended; CAIRN_LATE: it is still at it;
 * CAIRN_ERROR_IO: it has ended without an answer: there are no recipes, or it was killed;
 * CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_warm_wait(cairn_warm *warm, uint32_t patience_ms,
                              cairn_warm_progress *progress);

/* Stops it, where it is still at it, and frees the handle. What was made stays. `warm` may be NULL. */
CAIRN_API void cairn_warm_end(cairn_warm *warm);

#ifdef __cplusplus
}
#endif
#endif
