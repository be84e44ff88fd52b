// SPDX-License-Identifier: MIT
#include "base/blake2bp_kernel.h"

void cairn::blake2::hash_leaves_avx2(const std::byte *bytes, std::size_t size,
                                     LeafDigests &digests) {
    hash_one(bytes, size, digests);
}
