// SPDX-License-Identifier: MIT
#include "com/device_interface.h"
#include "com/object.h"

// Not d3d12/api.h: this file speaks both conventions, and needs the types of neither header.
struct ID3D12Device;

// NOLINTNEXTLINE(readability-identifier-naming): vkd3d's
extern "C" __attribute__((ms_abi)) int32_t D3D12CreateDeviceVKD3D(void *adapter,
                                                                  unsigned feature_level,
                                                                  const _GUID *iid, void **device,
                                                                  int api_version);

namespace cairn::d3d12 {
namespace {

#define MS_ABI __attribute__((ms_abi))

// Places in the table of ID3D12Device.
enum Place : unsigned {
    kPlaceQueryInterface,
    kPlaceAddRef,
    kPlaceRelease,
#define METHOD(level, type, name, parameters, arguments) kPlace##name,
#define OWN_METHOD METHOD
#define VALUE_METHOD METHOD
#include "com/device_methods.inc"
#undef METHOD
#undef VALUE_METHOD
};

#if !CAIRN_D3D12_VKD3D
class Bridge final : public DeviceInterface {
  public:
    explicit Bridge(void *real) : real_(real), table_(*static_cast<void ***>(real)) {}

    Result QueryInterface(const Guid *iid, void **object) override {
        // Of this vkd3d, no newer interface is told apart from the first.
        if (*iid == kIidUnknown || *iid == kIidObject || *iid == kIidDevice[0]) {
            AddRef();
            *object = static_cast<DeviceInterface *>(this);
            return kOk;
        }
        *object = nullptr;
        return kNoInterface;
    }
    uint32_t AddRef() override { return references_.add(); }
    uint32_t Release() override {
        const uint32_t left = references_.remove();
        if (left == 0) {
            delete this;
        }
        return left;
    }

// A call of the same arguments in the other convention.
#define FORWARD(type, name, parameters, arguments)                                 \
    reinterpret_cast<type(MS_ABI *) CAIRN_D3D12_IN_FRONT(void *self, parameters)>( \
        table_[kPlace##name]) CAIRN_D3D12_IN_FRONT(real_, arguments)
#define METHOD(level, type, name, parameters, arguments)   \
    type name parameters override {                        \
        return FORWARD(type, name, parameters, arguments); \
    }
#define VALUE_METHOD(level, type, name, parameters, arguments)                                \
    type name parameters override {                                                           \
        type result = {};                                                                     \
        reinterpret_cast<type *(MS_ABI *)CAIRN_D3D12_IN_FRONT(                                \
            void *self, CAIRN_D3D12_IN_FRONT(type *place, parameters))>(table_[kPlace##name]) \
            CAIRN_D3D12_IN_FRONT(real_, CAIRN_D3D12_IN_FRONT(&result, arguments));            \
        return result;                                                                        \
    }
#include "com/device_methods.inc"

  private:
    ~Bridge() {
        reinterpret_cast<uint32_t(MS_ABI *)(void *)>(table_[kPlaceRelease])(real_);
    }

    ReferenceCount references_;
    void *const real_;
    void **const table_;
};
#endif

}  // namespace

ID3D12Device *make_real_device() {
    constexpr unsigned kFeatureLevel11 = 0xb000;
    constexpr int kVkd3dApiVersion12 = 2;
    void *device = nullptr;
    if (D3D12CreateDeviceVKD3D(nullptr, kFeatureLevel11, kIidDevice.data(), &device,
                               kVkd3dApiVersion12) != kOk) {
        return nullptr;
    }
#if CAIRN_D3D12_VKD3D
    return static_cast<ID3D12Device *>(device);
#else
    return static_cast<ID3D12Device *>(
        static_cast<void *>(static_cast<DeviceInterface *>(new Bridge(device))));
#endif
}

}  // namespace cairn::d3d12
