// The facade around a real device: creates and controls sessions, passes everything else through.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once, as far as the real device allows. Ownership: reference
// counted; holds a reference to the real device for each interface that it has.
// Failure: E_NOTIMPL, or nothing happens, for methods that the real device lacks.
#pragma once

#include <array>
#include <memory>

#include "com/device_interface.h"
#include "com/object.h"
#include "session_cache.h"
#include "setting.h"

namespace cairn::d3d12 {

// As cairn_d3d12_shader_cache_control, with the control of the setting's root; null: there is no
// memory. Without a root, everything is enabled and cannot be changed.
Result apply_control(const Setting &setting, cairn_control *control, uint32_t kinds,
                     uint32_t flags);

class Device final : public DeviceInterface {
  public:
    // As cairn_d3d12_wrap_device.
    static Result wrap(Unknown *device, const cairn_d3d12_options *options, void **wrapped);

    Result CAIRN_COM QueryInterface(const Guid *iid, void **object) override;
    uint32_t CAIRN_COM AddRef() override { return references_.add(); }
    uint32_t CAIRN_COM Release() override;

#define METHOD(level, type, name, parameters, arguments) type CAIRN_COM name parameters override;
#define OWN_METHOD METHOD
#define VALUE_METHOD(level, type, name, parameters, arguments) \
    CAIRN_D3D12_VALUE(type, name, parameters) override;
#include "com/device_methods.inc"
#undef METHOD
#undef OWN_METHOD
#undef VALUE_METHOD

  private:
    // The real device's interfaces, each with a reference; null where it lacks one.
    using Levels = std::array<std::unique_ptr<DeviceInterface, ReleaseReference>, kDeviceLevels>;

    Device(SettingRef setting, Levels real);
    ~Device() = default;
    bool has_level(const Guid &iid) const;

    ReferenceCount references_;

    // Constant after wrapping.
    const SettingRef setting_;
    const ControlRef control_;
    const Levels real_;
};

}  // namespace cairn::d3d12
