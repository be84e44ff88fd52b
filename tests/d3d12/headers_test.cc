// Compares the declarations of frontends/d3d12/com with those of DirectX-Headers.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "d3d12/api.h"
// Behind the real header.
#include "com/device_interface.h"

namespace d3d12_test {
namespace {

namespace ours = cairn::d3d12;

// Where a virtual method is in the table: C++'s pointer to it is its offset and one.
template <typename Method>
size_t place_of(Method method) {
    size_t word;
    static_assert(sizeof method == 2 * sizeof word);
    std::memcpy(&word, &method, sizeof word);
    return (word - 1) / sizeof(void *);
}

// Whether both are passed in the same way: in a register for numbers and pointers, of one size.
template <typename One, typename Other>
constexpr bool is_passed_alike() {
    using A = std::conditional_t<std::is_reference_v<One>, void *, One>;
    using B = std::conditional_t<std::is_reference_v<Other>, void *, Other>;
    constexpr bool is_pointer = std::is_pointer_v<A> || std::is_pointer_v<B>;
    constexpr bool is_float = std::is_floating_point_v<A> || std::is_floating_point_v<B>;
    constexpr bool fits = sizeof(A) == sizeof(B) && sizeof(A) <= 8;
    return fits && !is_float && (!is_pointer || std::is_pointer_v<A> == std::is_pointer_v<B>);
}

template <typename One, typename Other>
constexpr bool is_returned_alike() {
    if constexpr (std::is_void_v<One> || std::is_void_v<Other>) {
        return std::is_void_v<One> && std::is_void_v<Other>;
    } else {
        return sizeof(One) == sizeof(Other) && std::is_class_v<One> == std::is_class_v<Other>;
    }
}

template <typename Real, typename... RealArguments, typename Interface, typename Our,
          typename... OurArguments, typename OurInterface>
constexpr bool is_called_alike(Real (Interface::*)(RealArguments...),
                               Our (OurInterface::*)(OurArguments...)) {
    if constexpr (sizeof...(RealArguments) != sizeof...(OurArguments)) {
        return false;
    } else {
        return is_returned_alike<Real, Our>() &&
               (is_passed_alike<RealArguments, OurArguments>() && ...);
    }
}

#define EXPECT_SAME_METHOD(real, our)          \
    static_assert(is_called_alike(real, our)); \
    EXPECT_EQ(place_of(real), place_of(our)) << #our

// In the calling convention of the platform; the other library is made from the same rows.
TEST(Headers, DeviceMethodsAreWhereAndWhatTheRealOnesAre) {
    unsigned count = 0;
#define METHOD(level, type, name, parameters, arguments)                     \
    EXPECT_SAME_METHOD(&ID3D12Device10::name, &ours::DeviceInterface::name); \
    ++count;
#define OWN_METHOD METHOD
#define VALUE_METHOD METHOD
#include "com/device_methods.inc"
#undef METHOD
#undef OWN_METHOD
#undef VALUE_METHOD
    EXPECT_EQ(count, place_of(&ID3D12Device10::CreateReservedResource2) - 2);
}

TEST(Headers, SessionMethodsAreWhereAndWhatTheRealOnesAre) {
    using Real = ID3D12ShaderCacheSession;
    using Our = ours::ShaderCacheSession;
    EXPECT_SAME_METHOD(&Real::AddRef, &Our::AddRef);
    EXPECT_SAME_METHOD(&Real::Release, &Our::Release);
    EXPECT_SAME_METHOD(&Real::GetPrivateData, &Our::GetPrivateData);
    EXPECT_SAME_METHOD(&Real::SetPrivateData, &Our::SetPrivateData);
    EXPECT_SAME_METHOD(&Real::SetPrivateDataInterface, &Our::SetPrivateDataInterface);
    EXPECT_SAME_METHOD(&Real::SetName, &Our::SetName);
    EXPECT_SAME_METHOD(&Real::GetDevice, &Our::GetDevice);
    EXPECT_SAME_METHOD(&Real::FindValue, &Our::FindValue);
    EXPECT_SAME_METHOD(&Real::StoreValue, &Our::StoreValue);
    EXPECT_SAME_METHOD(&Real::SetDeleteOnDestroy, &Our::SetDeleteOnDestroy);
    EXPECT_SAME_METHOD(&Real::GetDesc, &Our::GetDesc);
}

void expect_same(const GUID &real, const ours::Guid &our) {
    EXPECT_EQ(std::memcmp(&real, &our, sizeof real), 0);
}

TEST(Headers, IdentifiersOfInterfacesAreTheRealOnes) {
    expect_same(IID_IUnknown, ours::kIidUnknown);
    expect_same(IID_ID3D12Object, ours::kIidObject);
    expect_same(IID_ID3D12DeviceChild, ours::kIidDeviceChild);
    expect_same(IID_ID3D12ShaderCacheSession, ours::kIidShaderCacheSession);
    const GUID *const devices[] = {&IID_ID3D12Device,  &IID_ID3D12Device1, &IID_ID3D12Device2,
                                   &IID_ID3D12Device3, &IID_ID3D12Device4, &IID_ID3D12Device5,
                                   &IID_ID3D12Device6, &IID_ID3D12Device7, &IID_ID3D12Device8,
                                   &IID_ID3D12Device9, &IID_ID3D12Device10};
    ASSERT_EQ(std::size(devices), ours::kDeviceLevels);
    for (unsigned level = 0; level < ours::kDeviceLevels; ++level) {
        expect_same(*devices[level], ours::kIidDevice[level]);
    }
}

TEST(Headers, NumbersAreTheRealOnes) {
    EXPECT_EQ(ours::kModeMemory, unsigned{D3D12_SHADER_CACHE_MODE_MEMORY});
    EXPECT_EQ(ours::kModeDisk, unsigned{D3D12_SHADER_CACHE_MODE_DISK});
    EXPECT_EQ(ours::kFlagDriverVersioned, unsigned{D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED});
    EXPECT_EQ(ours::kFlagUseWorkingDir, unsigned{D3D12_SHADER_CACHE_FLAG_USE_WORKING_DIR});
    EXPECT_EQ(ours::kFeatureShaderCache, unsigned{D3D12_FEATURE_SHADER_CACHE});
    EXPECT_EQ(ours::kSupportDriverManagedCache,
              unsigned{D3D12_SHADER_CACHE_SUPPORT_DRIVER_MANAGED_CACHE});
    EXPECT_EQ(sizeof(ours::AllocationInfo), sizeof(D3D12_RESOURCE_ALLOCATION_INFO));
    EXPECT_EQ(sizeof(ours::HeapProperties), sizeof(D3D12_HEAP_PROPERTIES));
    EXPECT_EQ(sizeof(ours::Luid), sizeof(LUID));
}

// com/types.h has these fields in this order; it is not compiled here, as the real one is.
TEST(Headers, TheDescriptionIsLaidOutAsOurs) {
    EXPECT_EQ(offsetof(Desc, Identifier), 0u);
    EXPECT_EQ(offsetof(Desc, Mode), 16u);
    EXPECT_EQ(offsetof(Desc, Flags), 20u);
    EXPECT_EQ(offsetof(Desc, MaximumInMemoryCacheSizeBytes), 24u);
    EXPECT_EQ(offsetof(Desc, MaximumInMemoryCacheEntries), 28u);
    EXPECT_EQ(offsetof(Desc, MaximumValueFileSizeBytes), 32u);
    EXPECT_EQ(offsetof(Desc, Version), 40u);
    EXPECT_EQ(sizeof(Desc), 48u);
}

}  // namespace
}  // namespace d3d12_test
