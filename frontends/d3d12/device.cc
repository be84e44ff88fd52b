// SPDX-License-Identifier: MIT
#include "device.h"

#include <type_traits>

#include "session.h"

namespace cairn::d3d12 {
namespace {

// Asked of a device, says that it is a facade of this library; no other implementation knows it.
#if CAIRN_D3D12_VKD3D
constexpr Guid kIidFacade = {
    0x3b9a6f1e, 0x6a0b, 0x4b43, {0x9c, 0x53, 0x5e, 0x0c, 0x0f, 0x5a, 0x3d, 0x71}};
#else
constexpr Guid kIidFacade = {
    0x7d5d9d52, 0x2f8c, 0x4f0e, {0x8a, 0x21, 0x1a, 0x8f, 0x64, 0xd2, 0x07, 0x9b}};
#endif

constexpr unsigned kShaderCacheLevel = 9;

// The result of a method that the real device lacks.
template <typename Type>
Type absent() {
    if constexpr (std::is_same_v<Type, Result>) {
        return kNotImplemented;
    } else if constexpr (!std::is_void_v<Type>) {
        return {};
    }
}

Result result_of(const Setting &setting, const cairn_control *control, int result) {
    switch (result) {
        case CAIRN_OK:
            return kOk;
        case CAIRN_ERROR_INVALID_ARGUMENT:
            setting.say(Message::control_invalid_flags);
            return kInvalidArgument;
        case CAIRN_ERROR_DENIED:
            if (cairn_control_developer_mode(control) == 0) {
                setting.say(Message::control_developer_mode);
                return kInvalidCall;
            }
            return kAccessDenied;
        case CAIRN_ERROR_READ_ONLY:
            return kAccessDenied;
        case CAIRN_ERROR_NO_MEMORY:
            return kOutOfMemory;
        default:
            return kFail;
    }
}

}  // namespace

Result apply_control(const Setting &setting, cairn_control *control, uint32_t kinds,
                     uint32_t flags) {
    if (control == nullptr) return kOutOfMemory;
    uint32_t unchanged = 0;
    const int result = cairn_control_apply(control, kinds, flags, &unchanged);
    if (result != CAIRN_OK) return result_of(setting, control, result);
    // Sessions in working directories are reached from here only, and the others of this process need
    // not wait until they look.
    if ((flags & CAIRN_CONTROL_CLEAR) != 0 && (kinds & CAIRN_KIND_APPLICATION_MANAGED) != 0 &&
        clear_caches(setting.root) != Outcome::ok) {
        return kFail;
    }
    if (unchanged != 0) {
        setting.say(Message::control_state_already_set);
    }
    return kOk;
}

Device::Device(SettingRef setting, Levels real)
    : setting_(std::move(setting)),
      control_(open_control(setting_->root, 0, setting_->log, setting_->user)),
      real_(std::move(real)) {}

Result Device::wrap(Unknown *device, const cairn_d3d12_options *options, void **wrapped) {
    if (device->QueryInterface(&kIidFacade, wrapped) == kOk) return kOk;
    *wrapped = nullptr;
    Levels real;
    for (unsigned level = 0; level < kDeviceLevels; ++level) {
        void *found = nullptr;
        if (device->QueryInterface(&kIidDevice[level], &found) == kOk) {
            real[level].reset(static_cast<DeviceInterface *>(found));
        }
    }
    SettingRef setting = real[0] == nullptr ? nullptr : read_setting(options, real[0].get());
    if (setting == nullptr) return kInvalidArgument;
    std::unique_ptr<Device, ReleaseReference> made(new Device(std::move(setting), std::move(real)));
    const cairn_driver_cache *driver = options == nullptr ? nullptr : options->driver_cache;
    uint32_t registration = 0;  // given back with the control
    if (driver != nullptr &&
        cairn_control_register_driver(made->control_.get(), driver, &registration) != CAIRN_OK) {
        return kInvalidArgument;
    }
    *wrapped = static_cast<DeviceInterface *>(made.release());
    return kOk;
}

// ID3D12Device9 is what the facade is for. Nothing between it and what the real device has is
// claimed: applications take a newer interface for a promise.
bool Device::has_level(const Guid &iid) const {
    for (unsigned level = 0; level < kDeviceLevels; ++level) {
        if (iid == kIidDevice[level]) return level == kShaderCacheLevel || real_[level] != nullptr;
    }
    return iid == kIidObject || iid == kIidUnknown || iid == kIidFacade;
}

Result Device::QueryInterface(const Guid *iid, void **object) {
    if (!has_place_for(iid, object)) return kPointer;
    if (has_level(*iid)) {
        AddRef();
        *object = static_cast<DeviceInterface *>(this);
        return kOk;
    }
    return real_[0]->QueryInterface(iid, object);
}

uint32_t Device::Release() {
    const uint32_t left = references_.remove();
    if (left == 0) {
        delete this;
    }
    return left;
}

#define OWN_METHOD(...)
#define METHOD(level, type, name, parameters, arguments)                                \
    type Device::name parameters {                                                      \
        return real_[level] == nullptr ? absent<type>() : real_[level]->name arguments; \
    }
#if CAIRN_D3D12_VKD3D
#define VALUE_METHOD(level, type, name, parameters, arguments)                   \
    type *Device::name CAIRN_D3D12_IN_FRONT(type *result, parameters) {          \
        *result = {};                                                            \
        return real_[level] == nullptr                                           \
                   ? result                                                      \
                   : real_[level]->name CAIRN_D3D12_IN_FRONT(result, arguments); \
    }
#else
#define VALUE_METHOD METHOD
#endif
#include "com/device_methods.inc"
#undef METHOD
#undef OWN_METHOD
#undef VALUE_METHOD

// A new pipeline is where a driver looks into its cache.
#define PIPELINE_METHOD(level, name)                                                              \
    Result Device::name(const void *desc, const void *riid, void *state) {                        \
        cairn_control_tell_drivers(control_.get());                                               \
        return real_[level] == nullptr ? kNotImplemented : real_[level]->name(desc, riid, state); \
    }
PIPELINE_METHOD(0, CreateGraphicsPipelineState)
PIPELINE_METHOD(0, CreateComputePipelineState)
PIPELINE_METHOD(2, CreatePipelineState)

Result Device::CheckFeatureSupport(uint32_t feature, void *data, uint32_t size) {
    if (feature != kFeatureShaderCache) return real_[0]->CheckFeatureSupport(feature, data, size);
    if (data == nullptr || size != sizeof(uint32_t)) return kInvalidArgument;
    uint32_t &flags = *static_cast<uint32_t *>(data);
    flags = 0;
    if (real_[0]->CheckFeatureSupport(feature, &flags, sizeof flags) != kOk) {
        flags = 0;
    }
    flags |= kSupportShaderControlClear | kSupportShaderSessionDelete;
    if (cairn_control_driver_cache_present(control_.get()) != 0) {
        flags |= kSupportDriverManagedCache;
    }
    return kOk;
}

Result Device::CreateShaderCacheSession(const void *desc, const void *iid, void *session) {
    cairn_control_tell_drivers(control_.get());
    return without_exceptions([&] {
        return Session::create(setting_, this, static_cast<const SessionDesc *>(desc),
                               static_cast<const Guid *>(iid), static_cast<void **>(session));
    });
}

Result Device::ShaderCacheControl(uint32_t kinds, uint32_t control) {
    return without_exceptions(
        [&] { return apply_control(*setting_, control_.get(), kinds, control); });
}

}  // namespace cairn::d3d12
