// Keyed and cryptographic hashes: SipHash-2-4 for the index, BLAKE2b for program keys. Both are
// libsodium's.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions; Blake2b belongs to one thread.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace cairn {

using HashSeed = std::array<std::byte, 16>;

// SipHash-2-4. Without the seed nobody can construct inputs whose hashes collide.
std::uint64_t keyed_hash(Bytes bytes, const HashSeed &seed);

// Incremental BLAKE2b with a 32-byte digest.
class Blake2b {
  public:
    Blake2b();
    void add(Bytes bytes);
    std::array<std::byte, 32> finish();

  private:
    // libsodium's crypto_generichash_state, which its header forces to 64-byte alignment.
    alignas(64) std::array<std::byte, 384> state_;
};

}  // namespace cairn
