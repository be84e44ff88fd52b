// Keyed and cryptographic hashes: SipHash-2-4 for the index, BLAKE2b for program keys.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions; Blake2b belongs to one thread.
// Failure: none. They allocate nothing, call nothing and ask the system nothing.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace cairn {

using HashSeed = std::array<std::byte, 16>;

// SipHash-2-4. Without the seed nobody can construct inputs whose hashes collide.
std::uint64_t keyed_hash(Bytes bytes, const HashSeed &seed);

// Incremental BLAKE2b (RFC 7693) with a 32-byte digest and no key.
//
// There is one kernel, of 64-bit words, for all processors. On AMD's Zen 5 it hashes 1250 MB/s, as
// libsodium's portable one does. libsodium's vector kernels hash less there: 580 (SSSE3), 620
// (SSE4.1) and 710 MB/s (AVX2), since each step waits for the one before, and waits longer in
// vector registers.
class Blake2b {
  public:
    Blake2b();
    void add(Bytes bytes);
    // Once, and last.
    std::array<std::byte, 32> finish();

  private:
    static constexpr std::size_t kBlockSize = 128;

    // Takes in `pending_`; `is_last` has all bits set for the last block, else none.
    void compress(const std::byte *block, std::uint64_t is_last);

    std::array<std::uint64_t, 8> chain_;
    std::uint64_t size_ = 0;  // of what was compressed; inputs stay far below 2^64 bytes
    // The latest bytes. A full block is kept until it is known not to be the last.
    std::array<std::byte, kBlockSize> pending_;
    std::size_t pending_size_ = 0;
};

}  // namespace cairn
