// ID3D12Device to ID3D12Device10 as one class, whose functions lie in the order of COM's table.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "com/types.h"

namespace cairn::d3d12 {

// Structs that methods return, by size: that is all that the calling conventions look at.
struct AllocationInfo {  // D3D12_RESOURCE_ALLOCATION_INFO
    uint64_t size_bytes;
    uint64_t alignment;
};
struct HeapProperties {  // D3D12_HEAP_PROPERTIES
    uint32_t words[5];
};
struct Luid {  // LUID
    uint32_t low;
    int32_t high;
};

inline constexpr unsigned kDeviceLevels = 11;
// Of ID3D12Device, ID3D12Device1, ...
inline constexpr std::array<Guid, kDeviceLevels> kIidDevice = {{
    {0x189819f1, 0x1db6, 0x4b57, {0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7}},
    {0x77acce80, 0x638e, 0x4e65, {0x88, 0x95, 0xc1, 0xf2, 0x33, 0x86, 0x86, 0x3e}},
    {0x30baa41e, 0xb15b, 0x475c, {0xa0, 0xbb, 0x1a, 0xf5, 0xc5, 0xb6, 0x43, 0x28}},
    {0x81dadc15, 0x2bad, 0x4392, {0x93, 0xc5, 0x10, 0x13, 0x45, 0xc4, 0xaa, 0x98}},
    {0xe865df17, 0xa9ee, 0x46f9, {0xa4, 0x63, 0x30, 0x98, 0x31, 0x5a, 0xa2, 0xe5}},
    {0x8b4f173b, 0x2fea, 0x4b80, {0x8f, 0x58, 0x43, 0x07, 0x19, 0x1a, 0xb9, 0x5d}},
    {0xc70b221b, 0x40e4, 0x4a17, {0x89, 0xaf, 0x02, 0x5a, 0x07, 0x27, 0xa6, 0xdc}},
    {0x5c014b53, 0x68a1, 0x4b9b, {0x8b, 0xd1, 0xdd, 0x60, 0x46, 0xb9, 0x35, 0x8b}},
    {0x9218E6BB, 0xF944, 0x4F7E, {0xA7, 0x5C, 0xB1, 0xB2, 0xC7, 0xB7, 0x01, 0xF3}},
    {0x4c80e962, 0xf032, 0x4f60, {0xbc, 0x9e, 0xeb, 0xc2, 0xcf, 0xa1, 0xd8, 0x3c}},
    {0x517f8718, 0xaa66, 0x49f9, {0xb0, 0x2b, 0xa7, 0xab, 0x89, 0xc0, 0x60, 0x31}},
}};

// A parameter list with one more in front, as structs are returned through a pointer there.
#define CAIRN_D3D12_LIST(...) __VA_ARGS__
#define CAIRN_D3D12_PREPEND(first, ...) (first __VA_OPT__(, ) __VA_ARGS__)
#define CAIRN_D3D12_IN_FRONT(first, list) CAIRN_D3D12_PREPEND(first, CAIRN_D3D12_LIST list)

#if CAIRN_D3D12_VKD3D
#define CAIRN_D3D12_VALUE(type, name, parameters) \
    type *CAIRN_COM name CAIRN_D3D12_IN_FRONT(type *result, parameters)
#else
#define CAIRN_D3D12_VALUE(type, name, parameters) type CAIRN_COM name parameters
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class DeviceInterface : public Object {
  public:
#define METHOD(level, type, name, parameters, arguments) virtual type CAIRN_COM name parameters = 0;
#define OWN_METHOD METHOD
#define VALUE_METHOD(level, type, name, parameters, arguments) \
    virtual CAIRN_D3D12_VALUE(type, name, parameters) = 0;
#include "com/device_methods.inc"
#undef METHOD
#undef OWN_METHOD
#undef VALUE_METHOD

  protected:
    ~DeviceInterface() = default;
};

#pragma GCC diagnostic pop

}  // namespace cairn::d3d12
