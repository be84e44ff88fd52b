// XXH3-64 at the speed of the widest vectors this processor has.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure function. A checksum finds accidents, not attacks.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cairn {

// XXH3_64bits_withSeed of the bytes; the same on every machine.
std::uint64_t checksum(Bytes bytes, std::uint64_t seed);

}  // namespace cairn
