/* Cairn: shaders converted into other languages, once.
 * SPDX-License-Identifier: MIT
 *
 * GLSL and HLSL to SPIR-V, SPIR-V to GLSL, DXBC to SPIR-V. A shader that any process of the user
 * has converted before comes from the cache `conversions` and starts no process. The conventions of
 * cairn.h hold.
 *
 * The calling process converts nothing itself, because converters are other projects' libraries,
 * made for input that means well. The program cairn-convert does it, in a sandbox with bounds on
 * time, memory and output (docs/convert.md). It is no child of the caller: no SIGCHLD comes, no
 * wait() finds it, and it leaves no zombie. It has no descriptor, memory or environment of the
 * caller, and ends when the caller does.
 *
 *     cairn_converter_options options = {.size = sizeof options};
 *     cairn_converter *converter;
 *     if (cairn_converter_open(&options, &converter) == CAIRN_OK) {
 *         cairn_conversion conversion = {.size = sizeof conversion};
 *         cairn_blob *output;
 *         conversion.converter = "glslang";
 *         conversion.input = text;
 *         conversion.input_size = strlen(text);
 *         if (cairn_convert(converter, &conversion, &output, NULL) == CAIRN_OK) {
 *             ... cairn_blob_data(output), cairn_blob_size(output) ...
 *             cairn_blob_free(output);
 *         }
 *         cairn_converter_close(converter);
 *     }
 *
 * While the kind CAIRN_KIND_CONVERSIONS of cairn_control.h is switched off, nothing is looked up or
 * stored, and each conversion is made anew. The same holds where the cache cannot be used.
 */
#ifndef CAIRN_CAIRN_CONVERT_H
#define CAIRN_CAIRN_CONVERT_H

#include <cairn/cairn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This variable names the program cairn-convert, as an absolute path. cairn_converter_open reads
 * it, but not in programs that run with another user's rights. */
#define CAIRN_CONVERT_ENV "CAIRN_CONVERT"

#define CAIRN_CONVERT_TIMEOUT_MS_DEFAULT 60000u
#define CAIRN_CONVERT_MEMORY_BYTES_DEFAULT 2147483648u /* 2 GiB */
#define CAIRN_CONVERT_INPUT_SIZE_MAX 16777216u         /* 16 MiB */
#define CAIRN_CONVERT_OPTIONS_MAX 64u

/* A handle: the cache, and the description of the program. Any number of threads may call on one
 * handle at once; cairn_converter_close is the last call. A forked child opens its own. */
typedef struct cairn_converter cairn_converter;

typedef struct cairn_converter_options {
    size_t size;      /* sizeof(cairn_converter_options) */
    const char *root; /* as in cairn_options */
    /* The program cairn-convert, as an absolute path. NULL: as CAIRN_CONVERT_ENV says, else where
     * it is installed with this library. */
    const char *program;
    uint64_t limit_bytes; /* of the cache `conversions`, as in cairn_options */
    uint64_t
        process_bytes;   /* of memory, for one conversion. 0: CAIRN_CONVERT_MEMORY_BYTES_DEFAULT */
    uint32_t timeout_ms; /* of one cairn_convert. 0: CAIRN_CONVERT_TIMEOUT_MS_DEFAULT */
    uint32_t flags;      /* 0 */
    cairn_log_fn log;    /* may be NULL. A warning says why nothing is stored */
    void *log_user;
} cairn_converter_options;

/* Opens a converter. Starts no process, so a missing program shows when something has to be
 * converted. CAIRN_OK, also where the cache cannot be used; CAIRN_ERROR_INVALID_ARGUMENT, also when
 * the program's path is not absolute; CAIRN_ERROR_NO_MEMORY. `*converter` is NULL on any error. */
CAIRN_API int cairn_converter_open(const cairn_converter_options *options,
                                   cairn_converter **converter);
/* NULL does nothing. */
CAIRN_API void cairn_converter_close(cairn_converter *converter);

typedef struct cairn_conversion_option {
    const char *name;
    const char *value;
} cairn_conversion_option;

/* Where an output came from. */
enum {
    CAIRN_CONVERSION_CACHED = 1, /* no process was started */
    CAIRN_CONVERSION_KEPT = 2,   /* converted, and stored */
    CAIRN_CONVERSION_MADE = 3    /* converted, and not stored */
};

typedef struct cairn_conversion {
    size_t size; /* sizeof(cairn_conversion) */
    /* "glslang" (GLSL or HLSL to SPIR-V), "spirv-cross" (SPIR-V to GLSL) or "vkd3d-shader" (DXBC to
     * SPIR-V). */
    const char *converter;
    /* The converter's, in any order, each name once; cairn_converter_describe lists them. An option
     * that is not given has its default. */
    const cairn_conversion_option *options;
    size_t option_count;
    const void *input; /* may be NULL where the size is 0 */
    size_t input_size;
    uint32_t source; /* set with CAIRN_OK: CAIRN_CONVERSION_... */
    uint32_t flags;  /* 0 */
} cairn_conversion;

/* Looks the conversion up, or makes and stores it. Takes `timeout_ms` at most.
 *
 * `*output` is set with CAIRN_OK only, and NULL otherwise. `messages` may be NULL; `*messages`
 * receives the converter's messages, or the reason why nothing was converted: UTF-8 where the input
 * is, with line ends, not terminated, possibly empty; NULL where there is none. They may quote the
 * input. Both are given back with cairn_blob_free and stay valid when the handle is closed.
 *
 *   CAIRN_OK                      `*output` is byte for byte the converter's, also from the cache
 *   CAIRN_NOT_CONVERTED           the converter refused the input, crashed on it, or took more
 *                                 memory or made more output than it may. Not stored: the next call
 *                                 tries again
 *   CAIRN_LATE                    not done within `timeout_ms`
 *   CAIRN_ERROR_INVALID_ARGUMENT  also for an option that the converter does not have, or whose
 *                                 value it does not take
 *   CAIRN_ERROR_TOO_LARGE         the input is larger than CAIRN_CONVERT_INPUT_SIZE_MAX
 *   CAIRN_ERROR_UNSUPPORTED       there is no such converter, or the program is not installed
 *   CAIRN_ERROR_NO_MEMORY
 *   CAIRN_ERROR_IO                the program could not be started, or did not answer as it should
 *
 * Two processes that convert the same shader at the same time both do the work. */
CAIRN_API int cairn_convert(cairn_converter *converter, cairn_conversion *conversion,
                            cairn_blob **output, cairn_blob **messages);

/* Lists the converters. `*text` receives lines with fields between tabs, and is given back with
 * cairn_blob_free:
 *     converter  ID  VERSION  ABOUT
 *     option     NAME  VALUES  ABOUT    of the converter before it; the default is the first of
 *                                       VALUES, between `|`; `*` is any identifier of at most 64
 *                                       characters
 * Pass over lines that begin otherwise, and over fields that you do not know. Errors as
 * cairn_convert. */
CAIRN_API int cairn_converter_describe(cairn_converter *converter, cairn_blob **text);

#ifdef __cplusplus
}
#endif
#endif
