// The functions of cairn_d3d12.h, under the names of the library that this is compiled for.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_d3d12.h>

#include "device.h"
#include "session.h"

#if CAIRN_D3D12_VKD3D
#define EXPORT(name) cairn_vkd3d_##name
#else
#define EXPORT(name) cairn_d3d12_##name
#endif

using namespace cairn::d3d12;

int32_t EXPORT(wrap_device)(ID3D12Device *device, const cairn_d3d12_options *options,
                            ID3D12Device **wrapped) {
    if (wrapped == nullptr) return kPointer;
    *wrapped = nullptr;
    if (device == nullptr) return kInvalidArgument;
    void *facade = nullptr;
    const Result result = without_exceptions(
        [&] { return Device::wrap(reinterpret_cast<Unknown *>(device), options, &facade); });
    if (result == kOk) {
        *wrapped = static_cast<ID3D12Device *>(facade);
    }
    return result;
}

int32_t EXPORT(create_session)(ID3D12Device *device, const cairn_d3d12_options *options,
                               const D3D12_SHADER_CACHE_SESSION_DESC *desc, const _GUID *iid,
                               void **session) {
    return without_exceptions([&] {
        const SettingRef setting = read_setting(options, device);
        return setting == nullptr ? kInvalidArgument
                                  : Session::create(setting, reinterpret_cast<Unknown *>(device),
                                                    desc, iid, session);
    });
}

int32_t EXPORT(shader_cache_control)(const cairn_d3d12_options *options, uint32_t kinds,
                                     uint32_t control) {
    return without_exceptions([&] {
        const SettingRef setting = read_setting(options, nullptr);
        if (setting == nullptr) return kInvalidArgument;
        const ControlRef opened = open_control(setting->root, 0, setting->log, setting->user);
        return apply_control(*setting, opened.get(), kinds, control);
    });
}
