// A real device: vkd3d's, on whatever Vulkan driver there is.
// SPDX-License-Identifier: MIT
//
// Its methods are ms_abi. For tests in the other calling convention, it stands behind an object
// that changes the convention of each call and nothing else; objects that it creates are as vkd3d
// has made them, and not for calling.
#pragma once

#include "d3d12/api.h"

namespace d3d12_test {

// Null: vkd3d was not there when the tests were built, or has no Vulkan device.
Com<ID3D12Device> create_real_device();

}  // namespace d3d12_test
