// A device's graphics adapter and driver, as the name of a DRIVER_VERSIONED cache has them.
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

// `device` is an ID3D12Device. Asks Vulkan about a device of vkd3d's. Any other device stands for
// the library that implements it, by its build-id. Loads no library.
AdapterNames ask_device(void *device);

}  // namespace cairn::d3d12
