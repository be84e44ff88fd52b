/* Cairn, for engines that compile and link OpenGL or OpenGL ES programs: two calls around the
 * engine's own link, by glGetProgramBinary and glProgramBinary.
 * SPDX-License-Identifier: MIT
 *
 *     cairn_gl_link link;
 *     if (cairn_gl_program_load(gl, program, inputs, count, &link) != CAIRN_OK) {
 *         ... compile, attach, glLinkProgram(program) ...
 *         cairn_gl_program_store(gl, program, &link);
 *     }
 *
 * Nothing here is needed where an EGL application runs under `cairn run`. The conventions of
 * cairn.h hold, and these:
 *
 *  - No header of GL is needed, and the library links none: the caller gives the function that
 *    finds those of GL.
 *  - cairn_gl_open, cairn_gl_program_load and cairn_gl_program_store need a current context. All
 *    contexts that are used with a cairn_gl are of one driver, device and version; threads may use
 *    it at once.
 *  - They leave no GL error behind and change no state of the context. Where a driver refuses a
 *    binary with an error, an earlier one that the application has not asked for goes with it.
 */
#ifndef CAIRN_CAIRN_GL_H
#define CAIRN_CAIRN_GL_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_gl cairn_gl;

typedef void (*cairn_gl_function)(void);
/* eglGetProcAddress, glfwGetProcAddress, SDL_GL_GetProcAddress, or a function that behaves like
 * them; it finds the functions of the core, too. */
typedef cairn_gl_function (*cairn_gl_get_proc_address)(const char *name);

typedef struct cairn_gl_options {
    size_t size;             /* sizeof(cairn_gl_options) */
    const char *application; /* 1 to 64 of A-Z a-z 0-9 . _ - and not beginning with a dot */
    cairn_gl_get_proc_address get_proc_address;
    const char *root;     /* as in cairn_options */
    uint64_t limit_bytes; /* on disk. 0: what the user gives the application, by default
                             CAIRN_LIMIT_BYTES_DEFAULT (cairn_program_cache.h) */
    cairn_log_fn log;     /* may be NULL */
    void *log_user;
} cairn_gl_options;

/* Opens the program cache (cairn_program_cache.h) of this application and of the current context's
 * driver: GL_VENDOR, GL_RENDERER, GL_VERSION, GL_SHADING_LANGUAGE_VERSION, profile and flags. The
 * handle is given back with cairn_gl_close. CAIRN_OK, also where the driver has no program
 * binaries: then nothing is found and nothing stored. Errors as cairn_program_cache_open;
 * CAIRN_ERROR_UNSUPPORTED when no context is current or `get_proc_address` does not find the core's
 * functions. */
CAIRN_API int cairn_gl_open(const cairn_gl_options *options, cairn_gl **gl);

/* Writes what is queued, and gives back. Needs no context. */
CAIRN_API void cairn_gl_close(cairn_gl *gl);

/* The program cache itself, to trim, flush, clear or look at; valid until cairn_gl_close. NULL of
 * NULL. */
CAIRN_API cairn_cache *cairn_gl_cache(cairn_gl *gl);

/* A part of the inputs of a program. */
typedef struct cairn_gl_input {
    const void *data;
    size_t size; /* bytes */
} cairn_gl_input;

/* From a load that missed to the store that follows it; filled by the load. */
typedef struct cairn_gl_link {
    uint8_t key[CAIRN_PROGRAM_KEY_SIZE];
    uint64_t begin_ns;
} cairn_gl_link;

/* Looks for the linked program. `inputs` are, in an order of the caller's, all that can change the
 * result of the link besides the driver: the source and stage of each shader, names bound to
 * attributes and to fragment outputs, transform feedback varyings, GL_PROGRAM_SEPARABLE. `program`
 * is an object of glCreateProgram; shaders may be attached or not.
 *
 * CAIRN_OK: the program is linked, as after glLinkProgram. Everything else: link it, then store
 * it; GL_PROGRAM_BINARY_RETRIEVABLE_HINT is set for that. CAIRN_MISS: there is no such entry, or
 * the driver refused it, which removes it, or `gl` is NULL, so that an engine goes on without a
 * cache with the same code. CAIRN_ERROR_NO_MEMORY. CAIRN_ERROR_INVALID_ARGUMENT: `link` has no key,
 * the hint is not set, and the store says CAIRN_ERROR_INVALID_ARGUMENT, too.
 *
 * If the process dies while the driver has the binary, the next one does not load it: see
 * cairn_use_begin. */
CAIRN_API int cairn_gl_program_load(cairn_gl *gl, uint32_t program, const cairn_gl_input *inputs,
                                    size_t count, cairn_gl_link *link);

/* Stores a program that the caller has linked after a load that missed. The time since then counts
 * as the cost of making it. Returns when it is queued for writing. CAIRN_OK; CAIRN_MISS: the
 * program is not linked, or the driver gives no binary of it; CAIRN_KEPT_OUT;
 * CAIRN_ERROR_UNSUPPORTED where the driver has no program binaries or `gl` is NULL; other errors as
 * cairn_put. */
CAIRN_API int cairn_gl_program_store(cairn_gl *gl, uint32_t program, const cairn_gl_link *link);

typedef struct cairn_gl_stats {
    size_t size;      /* sizeof(cairn_gl_stats), set by the caller */
    uint64_t loaded;  /* programs that the driver accepted */
    uint64_t missed;  /* loads that found no entry */
    uint64_t refused; /* entries that the driver refused */
    uint64_t stored;
    uint64_t store_failed; /* stores that returned an error or CAIRN_KEPT_OUT */
} cairn_gl_stats;

/* Fills `*stats` with what this handle did. CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_gl_stats_get(const cairn_gl *gl, cairn_gl_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
