// One compilation of libxxhash's XXH3 for one instruction set. Each checksum_<set>.cc defines its
// name and includes this.
// SPDX-License-Identifier: MIT
//
// Debian's libxxhash.so is compiled for SSE2 only; compiled for AVX-512 the same source is about
// four times as fast on values of some KiB (bench/README.md). The header's inline form gives us
// each, without symbols that could clash.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace cairn {
std::uint64_t CAIRN_CHECKSUM_NAME(const void *data, std::size_t size, std::uint64_t seed) {
    return XXH3_64bits_withSeed(data, size, seed);
}
}  // namespace cairn
