// By which machines tell entries apart: the same for the same key of the same cache, wherever it is.
// SPDX-License-Identifier: MIT
//
// Thread safety: a pure function.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "pack/pack_format.h"

namespace cairn {

// The first 8 bytes of a hash of the identity of a part, and a key of it.
std::uint64_t entry_hash(const PackIdentity &identity, Bytes key);

}  // namespace cairn
