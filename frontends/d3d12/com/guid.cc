// SPDX-License-Identifier: MIT
#include <cstring>

#include "com/types.h"

namespace cairn::d3d12 {

bool operator==(const Guid &one, const Guid &other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

}  // namespace cairn::d3d12
