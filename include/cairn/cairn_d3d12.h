/* D3D12's shader cache sessions on Linux: ID3D12ShaderCacheSession, and a device that creates them.
 * SPDX-License-Identifier: MIT
 *
 * Two libraries, one for each of the calling conventions that COM has on x86-64 Linux:
 *
 *   libcairn_d3d12.so  functions cairn_d3d12_...   objects as DirectX-Headers declares them (WSL)
 *   libcairn_vkd3d.so  functions cairn_vkd3d_...   objects as vkd3d declares them (ms_abi)
 *
 * Link the one whose headers you use; both may be loaded into one process. Include d3d12.h or
 * vkd3d_d3d12.h before this file; headers without ID3D12ShaderCacheSession, such as those of vkd3d
 * 1.2, are completed by cairn_d3d12_session.h.
 *
 * Results are HRESULTs, with the numbers of dxgi's winerror.h, as int32_t. docs/d3d12.md and, row
 * by row, docs/conformance/d3d12.md list what each call of a session returns.
 *
 * Threads: any number of threads may call every function and every method of every object at once.
 * Processes: any number may use one cache on disk. Forking: a child may create sessions and release
 * inherited ones, whatever threads its parent had. An inherited session on disk is subject to rule
 * 6 of cairn.h, and one of MEMORY begins empty. Output: only by the functions given in the options.
 */
#ifndef CAIRN_CAIRN_D3D12_H
#define CAIRN_CAIRN_D3D12_H

#include "cairn/cairn.h"
#include "cairn/cairn_control.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The part of dxgi's winerror.h that headers on Linux lack. */
#ifndef DXGI_ERROR_INVALID_CALL
#define DXGI_ERROR_INVALID_CALL ((int32_t)0x887A0001)
#endif
#ifndef DXGI_ERROR_NOT_FOUND
#define DXGI_ERROR_NOT_FOUND ((int32_t)0x887A0002)
#endif
#ifndef DXGI_ERROR_MORE_DATA
#define DXGI_ERROR_MORE_DATA ((int32_t)0x887A0003)
#endif
#ifndef DXGI_ERROR_NOT_CURRENTLY_AVAILABLE
#define DXGI_ERROR_NOT_CURRENTLY_AVAILABLE ((int32_t)0x887A0022)
#endif
#ifndef DXGI_ERROR_CACHE_CORRUPT
#define DXGI_ERROR_CACHE_CORRUPT ((int32_t)0x887A0033)
#endif
#ifndef DXGI_ERROR_CACHE_FULL
#define DXGI_ERROR_CACHE_FULL ((int32_t)0x887A0034)
#endif
#ifndef DXGI_ERROR_CACHE_HASH_COLLISION
#define DXGI_ERROR_CACHE_HASH_COLLISION ((int32_t)0x887A0035)
#endif
#ifndef DXGI_ERROR_ALREADY_EXISTS
#define DXGI_ERROR_ALREADY_EXISTS ((int32_t)0x887A0036)
#endif

struct ID3D12Device;                    /* d3d12.h or vkd3d_d3d12.h */
struct D3D12_SHADER_CACHE_SESSION_DESC; /* the same, or cairn_d3d12_session.h */
struct _GUID;

/* A message of D3D12's debug layer: why a call failed. `id` is a D3D12_MESSAGE_ID (1280 to 1295),
 * `severity` a CAIRN_LOG_..., `text` one line, valid during the call. Called on the thread of the
 * call that failed. It must not call a session or device of Cairn's. */
typedef void (*cairn_d3d12_message_fn)(void *user, int id, int severity, const char *text);

/* Where and for which adapter. Everything but `size` may be 0. Strings are copied. */
typedef struct cairn_d3d12_options {
    size_t size;      /* sizeof(cairn_d3d12_options) */
    const char *root; /* directory of the caches, an absolute path. NULL: see cairn_root_resolve */
    /* The graphics adapter and its driver, for D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED: any text
     * that changes when they do. NULL: the device is asked, see docs/d3d12.md; without a device,
     * the same as "". */
    const char *adapter;
    const char *driver_version;
    cairn_d3d12_message_fn message; /* may be NULL */
    cairn_log_fn log;               /* for lines of the caches themselves; may be NULL */
    void *user;                     /* passed to both */
    /* The driver's side of ShaderCacheControl, where the driver has a cache of its own. The facade
     * tells it what this process does to DRIVER_MANAGED and, with the next pipeline or session,
     * what others do, and CheckFeatureSupport reports the cache. The function and `driver` in the
     * struct must stay valid as long as the facade. NULL: there is none. Only ..._wrap_device reads
     * it. */
    const cairn_driver_cache *driver_cache;
    /* The application that the caches on disk belong to: 1 to 56 of A-Z a-z 0-9 . _ - and not
     * beginning with a dot, or "" for caches that all programs share. NULL: the program that runs.
     * A library that keeps the same for all programs that use it gives "" or a name of its own. */
    const char *application;
} cairn_d3d12_options;

/* Puts a facade around a device. The facade answers ID3D12Device9::CreateShaderCacheSession,
 * ShaderCacheControl and CheckFeatureSupport(D3D12_FEATURE_SHADER_CACHE); everything else is passed
 * through. `*wrapped` is an ID3D12Device, and an ID3D12Device9 by QueryInterface. It holds a
 * reference to `device`, and is given back with Release. Wrapping a facade of this library gives
 * another reference to it, and ignores `options`. `options` may be NULL.
 *
 * S_OK; E_POINTER: `wrapped` is NULL; E_INVALIDARG: `device` is NULL or no ID3D12Device, options of
 * an unknown size, a root that is no absolute path, an application that is no name, or a
 * driver_cache that cairn_control_register_driver refuses; E_OUTOFMEMORY. `*wrapped` is NULL on
 * errors. */
CAIRN_API int32_t cairn_d3d12_wrap_device(struct ID3D12Device *device,
                                          const cairn_d3d12_options *options,
                                          struct ID3D12Device **wrapped);
CAIRN_API int32_t cairn_vkd3d_wrap_device(struct ID3D12Device *device,
                                          const cairn_d3d12_options *options,
                                          struct ID3D12Device **wrapped);

/* ID3D12Device9::CreateShaderCacheSession without a facade: `device` is any ID3D12Device, which the
 * session then holds a reference to, or NULL for tools that have none. `options` may be NULL.
 *
 * S_OK; S_FALSE: everything is right, and `session` is NULL; E_INVALIDARG: `desc` is NULL, names no
 * identifier, an unknown mode or flag, or MaximumValueFileSizeBytes above 1 GiB, or options of an
 * unknown size, or in which root is no absolute path or application no name: then `*session` stays
 * as it is; E_POINTER: `iid` is NULL; E_NOINTERFACE; DXGI_ERROR_ALREADY_EXISTS: a session of
 * another Version is open, here or in another process; DXGI_ERROR_NOT_CURRENTLY_AVAILABLE: disabled
 * by ShaderCacheControl, or another process is emptying the cache; DXGI_ERROR_CACHE_CORRUPT: the
 * cache cannot be opened or reset (the log line says why); E_OUTOFMEMORY. From E_POINTER on
 * `*session` is NULL. */
CAIRN_API int32_t cairn_d3d12_create_session(struct ID3D12Device *device,
                                             const cairn_d3d12_options *options,
                                             const struct D3D12_SHADER_CACHE_SESSION_DESC *desc,
                                             const struct _GUID *iid, void **session);
CAIRN_API int32_t cairn_vkd3d_create_session(struct ID3D12Device *device,
                                             const cairn_d3d12_options *options,
                                             const struct D3D12_SHADER_CACHE_SESSION_DESC *desc,
                                             const struct _GUID *iid, void **session);

/* ID3D12Device9::ShaderCacheControl without a device. `kinds` and `control` are sums of
 * D3D12_SHADER_CACHE_KIND_FLAGS and D3D12_SHADER_CACHE_CONTROL_FLAGS, which cairn_control.h
 * explains. For developer mode only.
 *
 * S_OK, also where a kind was in that state already; E_INVALIDARG: no kind, no flag, DISABLE with
 * ENABLE, unknown bits, or options as above; DXGI_ERROR_INVALID_CALL: not in developer mode (the
 * message says how to switch it on); E_ACCESSDENIED: permissions forbid it; E_OUTOFMEMORY; E_FAIL:
 * not everything could be done (log lines say what). */
CAIRN_API int32_t cairn_d3d12_shader_cache_control(const cairn_d3d12_options *options,
                                                   uint32_t kinds, uint32_t control);
CAIRN_API int32_t cairn_vkd3d_shader_cache_control(const cairn_d3d12_options *options,
                                                   uint32_t kinds, uint32_t control);

#ifdef __cplusplus
}
#endif

#endif
