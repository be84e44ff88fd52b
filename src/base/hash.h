// Keyed and cryptographic hashes: SipHash-2-4 for the index, BLAKE2b for program keys and BLAKE2bp
// for large inputs.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions; Blake2b belongs to one thread.
// Failure: none. They allocate nothing, call nothing and ask the system nothing.
#pragma once

#include <array>
#include <cstdint>

#include "base/blake2.h"
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
    friend std::array<std::byte, 32> blake2bp(Bytes bytes);
    friend std::array<std::byte, 32> hash_by_halves(Bytes bytes);
    friend void blake2::hash_leaves_baseline(const std::byte *, std::size_t, blake2::LeafDigests &);
    static constexpr std::size_t kBlockSize = blake2::kBlockSize;

    // A node of a tree, by the words of its parameter block. `is_last_node` has all bits set for
    // the last one on its level, else none.
    Blake2b(std::uint64_t sizes, std::uint64_t leaf, std::uint64_t depth,
            std::uint64_t is_last_node);
    // The digest of a BLAKE2bp tree, by those of its leaves.
    static std::array<std::byte, 32> root_of(blake2::LeafDigests &leaves);
    // Then `chain_` is the digest.
    void finish_chain();
    // `is_last` has all bits set for the last block, else none.
    void compress(const std::byte *block, std::uint64_t is_last);

    std::uint64_t is_last_node_;  // constant after construction
    std::array<std::uint64_t, 8> chain_;
    std::uint64_t size_ = 0;  // of what was compressed; inputs stay far below 2^64 bytes
    // The latest bytes. A full block is kept until it is known not to be the last.
    std::array<std::byte, kBlockSize> pending_;
    std::size_t pending_size_ = 0;
};

// BLAKE2bp (the BLAKE2 paper, 2.10) with a 32-byte digest and no key: four BLAKE2b's each hash every
// fourth block, and a fifth hashes their digests. It is as hard to break as BLAKE2b; the digests of
// the two differ.
//
// Vectors hold a word of each of the four. On AMD's Zen 5 it hashes 3000 MB/s (AVX-512) or 2600 MB/s
// (AVX2) of inputs of 70 KB, and on processors without both as much as BLAKE2b. Inputs below 512
// bytes take longer than with BLAKE2b, as six blocks are hashed at least.
std::array<std::byte, 32> blake2bp(Bytes bytes);

// BLAKE2b over the BLAKE2bp digests of both halves, for inputs of 4 KB and more. The first half has
// half the size (of 4097: 2048) rounded up to a multiple of 512 bytes. As hard to break as BLAKE2b.
//
// With AVX-512 the eight leaves are hashed at once, 5600 MB/s on Zen 5, and otherwise as many as
// blake2bp() hashes.
std::array<std::byte, 32> hash_by_halves(Bytes bytes);

// The hash of a source: what is short by blake2bp(), what is long by halves. The size decides which: no
// two hashes are of the same bytes.
inline std::array<std::byte, 32> hash_of_source(Bytes source) {
    constexpr std::size_t kLong = 4096;
    return source.size() < kLong ? blake2bp(source) : hash_by_halves(source);
}

}  // namespace cairn
