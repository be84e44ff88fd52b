// SPDX-License-Identifier: MIT
#include "base/blake2bp_kernel.h"

namespace cairn::blake2 {

void hash_leaves_avx512(const std::byte *bytes, std::size_t size, LeafDigests &digests) {
    hash_one(bytes, size, digests);
}

void hash_two_avx512(const std::byte *bytes, std::size_t size, const std::byte *other,
                     std::size_t other_size, LeafDigests (&digests)[2]) {
    hash_texts<WideLanes>({{bytes, size}, {other, other_size}}, digests);
}

}  // namespace cairn::blake2
