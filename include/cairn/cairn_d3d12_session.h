/* ID3D12ShaderCacheSession and its types, for headers that lack them, such as those of vkd3d 1.2.
 * SPDX-License-Identifier: MIT
 *
 * Include it after vkd3d_d3d12.h or d3d12.h. Where these know the interface, it declares nothing.
 * Names, numbers and layout are D3D12's. Methods have the calling convention of the headers before.
 * GetDesc returns its struct as vkd3d's methods do: through a pointer, which it also returns.
 */
#ifndef CAIRN_CAIRN_D3D12_SESSION_H
#define CAIRN_CAIRN_D3D12_SESSION_H

#if !defined(__ID3D12ShaderCacheSession_INTERFACE_DEFINED__) && defined(STDMETHODCALLTYPE)
#define __ID3D12ShaderCacheSession_INTERFACE_DEFINED__

typedef enum D3D12_SHADER_CACHE_MODE {
    D3D12_SHADER_CACHE_MODE_MEMORY = 0,
    D3D12_SHADER_CACHE_MODE_DISK = 1
} D3D12_SHADER_CACHE_MODE;

typedef enum D3D12_SHADER_CACHE_FLAGS {
    D3D12_SHADER_CACHE_FLAG_NONE = 0x0,
    D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED = 0x1,
    D3D12_SHADER_CACHE_FLAG_USE_WORKING_DIR = 0x2
} D3D12_SHADER_CACHE_FLAGS;

typedef enum D3D12_SHADER_CACHE_KIND_FLAGS {
    D3D12_SHADER_CACHE_KIND_FLAG_IMPLICIT_D3D_CACHE_FOR_DRIVER = 0x1,
    D3D12_SHADER_CACHE_KIND_FLAG_IMPLICIT_D3D_CONVERSIONS = 0x2,
    D3D12_SHADER_CACHE_KIND_FLAG_IMPLICIT_DRIVER_MANAGED = 0x4,
    D3D12_SHADER_CACHE_KIND_FLAG_APPLICATION_MANAGED = 0x8
} D3D12_SHADER_CACHE_KIND_FLAGS;

typedef enum D3D12_SHADER_CACHE_CONTROL_FLAGS {
    D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE = 0x1,
    D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE = 0x2,
    D3D12_SHADER_CACHE_CONTROL_FLAG_CLEAR = 0x4
} D3D12_SHADER_CACHE_CONTROL_FLAGS;

typedef struct D3D12_SHADER_CACHE_SESSION_DESC {
    GUID Identifier; /* not all zero */
    D3D12_SHADER_CACHE_MODE Mode;
    D3D12_SHADER_CACHE_FLAGS Flags;
    UINT MaximumInMemoryCacheSizeBytes; /* 0: 1 MiB */
    UINT MaximumInMemoryCacheEntries;   /* 0: 128 */
    UINT MaximumValueFileSizeBytes;     /* 0: 128 MiB; at most 1 GiB */
    UINT64 Version;
} D3D12_SHADER_CACHE_SESSION_DESC;

/* 28e2495d-0f64-4ae4-a6ec-129255dc49a8 */
static const GUID IID_ID3D12ShaderCacheSession = {
    0x28e2495d, 0x0f64, 0x4ae4, {0xa6, 0xec, 0x12, 0x92, 0x55, 0xdc, 0x49, 0xa8}};

#if defined(__cplusplus) && !defined(CINTERFACE)
struct ID3D12ShaderCacheSession : public ID3D12DeviceChild {
    virtual HRESULT STDMETHODCALLTYPE FindValue(const void *pKey, UINT KeySize, void *pValue,
                                                UINT *pValueSize) = 0;
    virtual HRESULT STDMETHODCALLTYPE StoreValue(const void *pKey, UINT KeySize, const void *pValue,
                                                 UINT ValueSize) = 0;
    virtual void STDMETHODCALLTYPE SetDeleteOnDestroy() = 0;
    virtual D3D12_SHADER_CACHE_SESSION_DESC *STDMETHODCALLTYPE
    GetDesc(D3D12_SHADER_CACHE_SESSION_DESC *result) = 0;
};
#else
typedef struct ID3D12ShaderCacheSession ID3D12ShaderCacheSession;

typedef struct ID3D12ShaderCacheSessionVtbl {
    HRESULT(STDMETHODCALLTYPE *QueryInterface)
    (ID3D12ShaderCacheSession *This, REFIID riid, void **ppvObject);
    ULONG(STDMETHODCALLTYPE *AddRef)(ID3D12ShaderCacheSession *This);
    ULONG(STDMETHODCALLTYPE *Release)(ID3D12ShaderCacheSession *This);
    HRESULT(STDMETHODCALLTYPE *GetPrivateData)
    (ID3D12ShaderCacheSession *This, REFGUID guid, UINT *pDataSize, void *pData);
    HRESULT(STDMETHODCALLTYPE *SetPrivateData)
    (ID3D12ShaderCacheSession *This, REFGUID guid, UINT DataSize, const void *pData);
    HRESULT(STDMETHODCALLTYPE *SetPrivateDataInterface)
    (ID3D12ShaderCacheSession *This, REFGUID guid, const IUnknown *pData);
    HRESULT(STDMETHODCALLTYPE *SetName)(ID3D12ShaderCacheSession *This, const WCHAR *Name);
    HRESULT(STDMETHODCALLTYPE *GetDevice)
    (ID3D12ShaderCacheSession *This, REFIID riid, void **ppvDevice);
    HRESULT(STDMETHODCALLTYPE *FindValue)
    (ID3D12ShaderCacheSession *This, const void *pKey, UINT KeySize, void *pValue,
     UINT *pValueSize);
    HRESULT(STDMETHODCALLTYPE *StoreValue)
    (ID3D12ShaderCacheSession *This, const void *pKey, UINT KeySize, const void *pValue,
     UINT ValueSize);
    void(STDMETHODCALLTYPE *SetDeleteOnDestroy)(ID3D12ShaderCacheSession *This);
    D3D12_SHADER_CACHE_SESSION_DESC *(STDMETHODCALLTYPE *GetDesc)(
        ID3D12ShaderCacheSession *This, D3D12_SHADER_CACHE_SESSION_DESC *result);
} ID3D12ShaderCacheSessionVtbl;

struct ID3D12ShaderCacheSession {
    const ID3D12ShaderCacheSessionVtbl *lpVtbl;
};
#endif

#endif

#endif
