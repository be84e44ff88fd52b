// What stands for a device's graphics adapter and driver in the name of a DRIVER_VERSIONED cache.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread. Failure: empty texts, when nothing can be found out.
#pragma once

#include <string>

namespace cairn::d3d12 {

struct AdapterNames {
    std::string adapter;
    std::string driver_version;
};

// `device` is an ID3D12Device. One of vkd3d's: what Vulkan says. Of any other, the library that
// implements it, by its build-id. No library is loaded for it.
AdapterNames ask_device(void *device);

}  // namespace cairn::d3d12
