/* Cairn, controlled: caches switched off and on and emptied by kind, for all processes of the user,
 * as ID3D12Device9::ShaderCacheControl and `cairn control` do.
 * SPDX-License-Identifier: MIT
 *
 * The conventions of cairn.h hold. One small file, `.control` in the root of the caches
 * (docs/formats/control.md), says which kinds are switched off, and every handle maps it. All
 * processes see a change at once. It lasts until it is undone, also when the process that made it
 * has ended. Where the file is missing, damaged or cannot be read, everything is enabled. Deleting
 * the file enables everything, which other processes notice within a tenth of a second.
 *
 * Code that keeps entries of a kind asks cairn_control_disabled before each look-up and store of
 * its own, and drops the entries that it holds in memory when cairn_control_clears has changed.
 * Caches that applications open with cairn_open belong to no kind.
 */
#ifndef CAIRN_CAIRN_CONTROL_H
#define CAIRN_CAIRN_CONTROL_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of caches, with the values of D3D12_SHADER_CACHE_KIND_FLAGS. */
enum {
    /* Kept by Cairn on a driver's behalf: the programs of EGL applications and the blobs of
     * EGL_ANDROID_blob_cache; on disk the caches whose identifier begins with "gl-" or "egl-". */
    CAIRN_KIND_CACHE_FOR_DRIVER = 0x1,
    /* Shaders converted from one language to another (cairn_convert.h, `cairn convert`); on disk
     * the cache "conversions". */
    CAIRN_KIND_CONVERSIONS = 0x2,
    /* The drivers' own caches: those that drivers register below, and the directories of Mesa and
     * NVIDIA. Operations on them are hints. */
    CAIRN_KIND_DRIVER_MANAGED = 0x4,
    /* D3D12 shader cache sessions; on disk the caches whose identifier begins with "d3d12-". */
    CAIRN_KIND_APPLICATION_MANAGED = 0x8
};
#define CAIRN_KIND_ALL 0xFu

/* Flags of cairn_control_apply, with the values of D3D12_SHADER_CACHE_CONTROL_FLAGS. */
enum {
    CAIRN_CONTROL_DISABLE = 0x1, /* nothing is looked up or stored any more; all entries stay */
    CAIRN_CONTROL_ENABLE = 0x2,  /* the caches are used again */
    CAIRN_CONTROL_CLEAR = 0x4    /* all entries are deleted */
};

/* The kind that the cache of this identifier belongs to; 0: none. */
CAIRN_API uint32_t cairn_kind_of_identifier(const char *identifier);

/* -------------------------------------------------------------------------------------------------
 * opening */

typedef struct cairn_control cairn_control;

enum {
    /* Create nothing. Without it, the root and the file in it are made where they are missing, so
     * that this process sees changes at once and not only within a tenth of a second. */
    CAIRN_CONTROL_OPEN_READ_ONLY = 1u << 0
};

typedef struct cairn_control_options {
    size_t size;      /* sizeof(cairn_control_options) */
    const char *root; /* that of the caches, an absolute path. NULL: see cairn_root_resolve */
    uint32_t flags;   /* CAIRN_CONTROL_OPEN_... */
    cairn_log_fn log; /* may be NULL; must not call into the same control */
    void *log_user;
} cairn_control_options;

/* Opens the control of the caches below a root. Reads the environment, and the configuration file
 * `cairn/config` in $XDG_CONFIG_HOME or ~/.config, here and nowhere else. A root or file that
 * cannot be used is no error: a log line says why, everything is enabled, and nothing can be
 * changed. The handle is given back with cairn_control_close. CAIRN_OK;
 * CAIRN_ERROR_INVALID_ARGUMENT; CAIRN_ERROR_NO_MEMORY. `*control` is NULL on any error. */
CAIRN_API int cairn_control_open(const cairn_control_options *options, cairn_control **control);

/* Gives back a control. Must be the last call on it. All changes stay. Registered drivers are
 * forgotten. */
CAIRN_API void cairn_control_close(cairn_control *control);

/* -------------------------------------------------------------------------------------------------
 * asking: cheap enough for every call of an application; any thread; takes no lock */

/* The kinds that any process has disabled, as a sum of CAIRN_KIND_...; 0 for NULL. Costs a load
 * from shared memory and, ten times a second at most, a look at the file's name. */
CAIRN_API uint32_t cairn_control_disabled(const cairn_control *control);

/* A number that grows when any process clears this kind (one CAIRN_KIND_...). Code that keeps
 * entries of the kind in memory compares it with the number it has seen last, and drops the entries
 * when they differ. Read it before looking an entry up, not after. Compare numbers of one handle
 * only. The number also grows when the file was deleted and made anew. 0 for NULL, or when `kind`
 * is not one kind. */
CAIRN_API uint64_t cairn_control_clears(const cairn_control *control, uint32_t kind);

/* 1 in developer mode, in which alone this user may change things, else 0. It is on when
 * CAIRN_DEVELOPER_MODE is 1 in the environment or, without that variable, when the configuration
 * file says `developer_mode = 1`. Constant as long as the control is open. */
CAIRN_API int cairn_control_developer_mode(const cairn_control *control);

/* -------------------------------------------------------------------------------------------------
 * changing */

/* Does what `flags` says (a sum of CAIRN_CONTROL_...) for `kinds` (a sum of CAIRN_KIND_...), for
 * all processes of the user. CLEAR goes with DISABLE and with ENABLE: disabling comes before
 * clearing, and enabling after it, so that every older entry is gone either way. An entry that
 * another process stores while an enabled kind is cleared may stay.
 *
 * Clearing empties the caches of the kind on disk in this root, also while they are used; their
 * directories stay. For DRIVER_MANAGED see cairn_control_register_driver. Processes drop the
 * entries in their memory when they next look at cairn_control_clears. Caches elsewhere, such as
 * those of D3D12 sessions in working directories, are not touched.
 *
 * `unchanged_kinds` may be NULL. With CAIRN_OK it receives the kinds that were in the state asked
 * for before, or 0 without DISABLE and ENABLE.
 *
 * If the process is killed, each kind is either disabled or not, a clear may have been done in
 * part, and nothing has to be repaired.
 *
 *   CAIRN_OK
 *   CAIRN_ERROR_INVALID_ARGUMENT  no kind, no flag, DISABLE with ENABLE, or unknown bits
 *   CAIRN_ERROR_DENIED            not in developer mode (a log line says how to switch it on), or
 *                                 permissions forbid it
 *   CAIRN_ERROR_READ_ONLY         the control was opened so, or the file or a cache may not be
 *                                 written
 *   CAIRN_ERROR_NOT_FOUND         the user has no home directory, and CAIRN_DIR is not set
 *   CAIRN_ERROR_BUSY              other processes hold up the clearing of a cache, or delete the
 *                                 file again and again
 *   CAIRN_ERROR_NO_SPACE, CAIRN_ERROR_NO_MEMORY, CAIRN_ERROR_UNSUPPORTED, CAIRN_ERROR_IO
 *
 * After an error everything else has been done, and log lines say what has not. For DRIVER_MANAGED
 * a failure is a log line and no error: operations on it are hints. */
CAIRN_API int cairn_control_apply(cairn_control *control, uint32_t kinds, uint32_t flags,
                                  uint32_t *unchanged_kinds);

/* -------------------------------------------------------------------------------------------------
 * drivers with a cache of their own */

/* A driver's side, as D3D12's driver interface has it: D3D12DDI_D3D12_OPTIONS_DATA's
 * DriverManagedShaderCachePresent and pfnImplicitShaderCacheControl. */
typedef struct cairn_driver_cache {
    size_t size; /* sizeof(cairn_driver_cache) */
    /* Not 0: the driver has a cache of its own, and the function below is there. */
    int driver_managed_shader_cache_present;
    /* Does one thing (one CAIRN_CONTROL_...); a hint. Returns CAIRN_OK or a negative cairn_result.
     * cairn_control_apply, cairn_control_register_driver and cairn_control_tell_drivers call it on
     * their threads, one at a time. It must not call into the same control. */
    int (*implicit_shader_cache_control)(void *driver, uint32_t flag);
    void *driver; /* passed to the function */
} cairn_driver_cache;

#define CAIRN_CONTROL_DRIVERS_MAX 64u

/* Has a driver's cache controlled as DRIVER_MANAGED. If that is disabled already, the driver is
 * told so before the call returns. `*registration` is for cairn_control_unregister_driver; the
 * function and `driver` must stay valid until then. A driver without a cache is registered, and is
 * asked nothing.
 *
 * DRIVER_MANAGED also stands for the files of drivers. CLEAR deletes the entries of Mesa's and
 * NVIDIA's shader caches where their documentation and the environment place them. It deletes only
 * files with the names that those drivers give, no link, and nothing behind a link. DISABLE makes
 * `cairn run` start applications with those caches off. Running applications go on using them,
 * because drivers read their settings at their start only.
 *
 * CAIRN_OK; CAIRN_ERROR_INVALID_ARGUMENT, also when the driver says that it has a cache and gives
 * no function; CAIRN_ERROR_FULL: there are CAIRN_CONTROL_DRIVERS_MAX. */
CAIRN_API int cairn_control_register_driver(cairn_control *control,
                                            const cairn_driver_cache *driver,
                                            uint32_t *registration);

/* Takes a registration back, and waits for a call in progress. CAIRN_OK; CAIRN_MISS when there is
 * no such registration; CAIRN_ERROR_INVALID_ARGUMENT. */
CAIRN_API int cairn_control_unregister_driver(cairn_control *control, uint32_t registration);

/* 1 when a registered driver has a cache of its own, else 0: D3D12's support flag
 * DRIVER_MANAGED_CACHE. */
CAIRN_API int cairn_control_driver_cache_present(const cairn_control *control);

/* Tells the registered drivers what other processes have done to DRIVER_MANAGED since the last such
 * call or the registration. No thread of Cairn does so; a layer calls it now and then, such as with
 * each new pipeline. Cheap when there is nothing to tell. */
CAIRN_API void cairn_control_tell_drivers(cairn_control *control);

#ifdef __cplusplus
}
#endif
#endif
