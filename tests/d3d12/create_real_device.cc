// SPDX-License-Identifier: MIT
#include "d3d12/real_device.h"

#if CAIRN_TEST_HAS_VKD3D
namespace cairn::d3d12 {
ID3D12Device *make_real_device();
}
#endif

namespace d3d12_test {

Com<ID3D12Device> create_real_device() {
#if CAIRN_TEST_HAS_VKD3D
    return Com<ID3D12Device>(cairn::d3d12::make_real_device());
#else
    return {};
#endif
}

}  // namespace d3d12_test
