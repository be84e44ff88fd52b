// The types of the API that the sources need, for either calling convention.
// SPDX-License-Identifier: MIT
//
// The real headers cannot be included: DirectX-Headers and vkd3d define the same names differently,
// and neither knows the other's convention. tests/d3d12 compares all of this with DirectX-Headers.
// Types of C that cairn_d3d12.h names are global; the interfaces are ours, as classes whose virtual
// functions lie in the order of COM's tables.
#pragma once

#include <cstdint>
#include <cstring>

// One source, two libraries: frontends/d3d12/CMakeLists.txt compiles it once with each value.
#ifndef CAIRN_D3D12_VKD3D
#error "CAIRN_D3D12_VKD3D must be 0 (DirectX-Headers) or 1 (vkd3d)"
#endif
// CAIRN_D3D12_VALUE declares a method that returns a struct: by ms_abi it has a pointer to it in
// front of its parameters.
#if CAIRN_D3D12_VKD3D
#define CAIRN_COM __attribute__((ms_abi))
#define CAIRN_D3D12_VALUE(type, name, parameters) \
    type *CAIRN_COM name CAIRN_D3D12_IN_FRONT(type *result, parameters)
#else
#define CAIRN_COM
#define CAIRN_D3D12_VALUE(type, name, parameters) type CAIRN_COM name parameters
#endif

// A list with one more in front.
#define CAIRN_D3D12_LIST(...) __VA_ARGS__
#define CAIRN_D3D12_PREPEND(first, ...) (first __VA_OPT__(, ) __VA_ARGS__)
#define CAIRN_D3D12_IN_FRONT(first, list) CAIRN_D3D12_PREPEND(first, CAIRN_D3D12_LIST list)

// The API's own spelling. NOLINTBEGIN(readability-identifier-naming)

// One test includes the real header before this one, to compare them.
#ifndef __d3d12_h__
struct _GUID {
    uint32_t Data1;
    uint16_t Data2;
    uint16_t Data3;
    uint8_t Data4[8];
};

struct D3D12_SHADER_CACHE_SESSION_DESC {
    _GUID Identifier;
    uint32_t Mode;
    uint32_t Flags;
    uint32_t MaximumInMemoryCacheSizeBytes;
    uint32_t MaximumInMemoryCacheEntries;
    uint32_t MaximumValueFileSizeBytes;
    uint64_t Version;
};
static_assert(sizeof(D3D12_SHADER_CACHE_SESSION_DESC) == 48);
#endif

namespace cairn::d3d12 {

using Guid = ::_GUID;
using SessionDesc = ::D3D12_SHADER_CACHE_SESSION_DESC;
using Result = int32_t;  // HRESULT

constexpr Result code(uint32_t number) {
    return static_cast<Result>(number);
}
inline constexpr Result kOk = 0;
inline constexpr Result kFalse = 1;
inline constexpr Result kNotImplemented = code(0x80004001);   // E_NOTIMPL
inline constexpr Result kNoInterface = code(0x80004002);      // E_NOINTERFACE
inline constexpr Result kPointer = code(0x80004003);          // E_POINTER
inline constexpr Result kFail = code(0x80004005);             // E_FAIL
inline constexpr Result kAccessDenied = code(0x80070005);     // E_ACCESSDENIED
inline constexpr Result kOutOfMemory = code(0x8007000E);      // E_OUTOFMEMORY
inline constexpr Result kInvalidArgument = code(0x80070057);  // E_INVALIDARG
inline constexpr Result kInvalidCall = code(0x887A0001);      // DXGI_ERROR_...
inline constexpr Result kNotFound = code(0x887A0002);
inline constexpr Result kMoreData = code(0x887A0003);
inline constexpr Result kNotCurrentlyAvailable = code(0x887A0022);
inline constexpr Result kCacheCorrupt = code(0x887A0033);
inline constexpr Result kCacheFull = code(0x887A0034);
inline constexpr Result kCacheHashCollision = code(0x887A0035);
inline constexpr Result kAlreadyExists = code(0x887A0036);

inline constexpr uint32_t kModeMemory = 0;
inline constexpr uint32_t kModeDisk = 1;
inline constexpr uint32_t kFlagDriverVersioned = 0x1;
inline constexpr uint32_t kFlagUseWorkingDir = 0x2;
inline constexpr uint32_t kFeatureShaderCache = 19;
inline constexpr uint32_t kSupportDriverManagedCache = 0x10;
inline constexpr uint32_t kSupportShaderControlClear = 0x20;
inline constexpr uint32_t kSupportShaderSessionDelete = 0x40;

inline constexpr Guid kIidUnknown = {0, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};
inline constexpr Guid kIidObject = {
    0xc4fec28f, 0x7966, 0x4e95, {0x9f, 0x94, 0xf4, 0x31, 0xcb, 0x56, 0xc3, 0xb8}};
inline constexpr Guid kIidDeviceChild = {
    0x905db94b, 0xa00c, 0x4140, {0x9d, 0xf5, 0x2b, 0x64, 0xca, 0x9e, 0xa3, 0x57}};
inline constexpr Guid kIidShaderCacheSession = {
    0x28e2495d, 0x0f64, 0x4ae4, {0xa6, 0xec, 0x12, 0x92, 0x55, 0xdc, 0x49, 0xa8}};

inline bool operator==(const Guid &one, const Guid &other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

// Interfaces have no virtual destructor: it would take a place in the table.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class Unknown {
  public:
    virtual Result CAIRN_COM QueryInterface(const Guid *iid, void **object) = 0;
    virtual uint32_t CAIRN_COM AddRef() = 0;
    virtual uint32_t CAIRN_COM Release() = 0;

  protected:
    ~Unknown() = default;
};

// With what it inherits of ID3D12Object and ID3D12DeviceChild.
class ShaderCacheSession : public Unknown {
  public:
    virtual Result CAIRN_COM GetPrivateData(const Guid *guid, uint32_t *size, void *data) = 0;
    virtual Result CAIRN_COM SetPrivateData(const Guid *guid, uint32_t size, const void *data) = 0;
    virtual Result CAIRN_COM SetPrivateDataInterface(const Guid *guid, const void *object) = 0;
    virtual Result CAIRN_COM SetName(const wchar_t *name) = 0;
    virtual Result CAIRN_COM GetDevice(const Guid *iid, void **device) = 0;
    virtual Result CAIRN_COM FindValue(const void *key, uint32_t key_size, void *value,
                                       uint32_t *value_size) = 0;
    virtual Result CAIRN_COM StoreValue(const void *key, uint32_t key_size, const void *value,
                                        uint32_t value_size) = 0;
    virtual void CAIRN_COM SetDeleteOnDestroy() = 0;
    virtual CAIRN_D3D12_VALUE(SessionDesc, GetDesc, ()) = 0;

  protected:
    ~ShaderCacheSession() = default;
};

#pragma GCC diagnostic pop

// NOLINTEND(readability-identifier-naming)

}  // namespace cairn::d3d12
