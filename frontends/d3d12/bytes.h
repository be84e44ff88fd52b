// Bytes that belong to somebody else.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace cairn::d3d12 {

using Bytes = std::span<const std::byte>;

inline Bytes bytes(const void *data, size_t size) {
    return {static_cast<const std::byte *>(data), size};
}

}  // namespace cairn::d3d12
