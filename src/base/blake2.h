// What the kernels of BLAKE2b and BLAKE2bp share: the rounds (RFC 7693), for one hash or for four in
// the lanes of vectors, and the leaves of a tree.
// SPDX-License-Identifier: MIT
//
// Files for one kind of processor include this. So all of it is inlined: the linker may give a
// function that it finds in several files to all of them, also on processors without the
// instructions of its file.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace cairn::blake2 {

constexpr std::size_t kBlockSize = 128;
constexpr std::uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                     0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                     0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// The words of the parameter block that are not zero in a BLAKE2bp tree with a digest of 32 bytes
// (the BLAKE2 paper, 2.5 and 2.10). Word 1 is the number of the leaf.
constexpr std::uint64_t kTreeSizes = 0x02040020;  // word 0: depth 2, fanout 4, no key
constexpr std::uint64_t kLeafDepth = 0x4000;      // word 2: digests of leaves have 64 bytes
constexpr std::uint64_t kRootDepth = 0x4001;

// Which words of the block each round mixes in, RFC 7693, 2.7.
constexpr std::uint8_t kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                         {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                         {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                         {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                         {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                         {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                         {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                         {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                         {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                         {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

[[gnu::always_inline]] inline std::uint64_t word_at(const std::byte *bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
}

// The types of GCC's and Clang's vector extensions, with a word of each of four hashes.
using Lanes [[gnu::vector_size(32)]] = std::uint64_t;
using LaneBytes [[gnu::vector_size(32)]] = std::uint8_t;

// Each word turned right by this many bytes.
template <std::size_t kBytes, std::size_t... kPlace>
[[gnu::always_inline]] inline void rotate_bytes(Lanes &lanes, std::index_sequence<kPlace...>) {
    const auto bytes = reinterpret_cast<LaneBytes>(lanes);
    lanes = reinterpret_cast<Lanes>(
        __builtin_shufflevector(bytes, bytes, (kPlace / 8 * 8 + (kPlace + kBytes) % 8)...));
}

template <std::size_t kBits, typename Word>
[[gnu::always_inline]] inline void rotate(Word &word) {
#if defined(__AVX2__) && !defined(__AVX512VL__)
    // AVX2 moves bytes with one instruction, but has none that rotates by bits.
    if constexpr (kBits % 8 == 0 && sizeof(Word) == sizeof(Lanes))
        return rotate_bytes<kBits / 8>(word, std::make_index_sequence<sizeof(Lanes)>());
#endif
    word = (word >> kBits) | (word << (64 - kBits));
}

template <typename Word>
[[gnu::always_inline]] inline void mix(Word &a, Word &b, Word &c, Word &d, const Word &x,
                                       const Word &y) {
    a += x;
    a += b;
    rotate<32>(d ^= a);
    c += d;
    rotate<24>(b ^= c);
    a += y;
    a += b;
    rotate<16>(d ^= a);
    c += d;
    rotate<63>(b ^= c);
}

// A template, so that the compiler knows the order and keeps the words in registers.
template <std::size_t kRound, typename Word>
[[gnu::always_inline]] inline void mix_all(Word (&v)[16], const Word (&m)[16]) {
    constexpr const std::uint8_t *kWords = kOrder[kRound % 10];
    mix(v[0], v[4], v[8], v[12], m[kWords[0]], m[kWords[1]]);
    mix(v[1], v[5], v[9], v[13], m[kWords[2]], m[kWords[3]]);
    mix(v[2], v[6], v[10], v[14], m[kWords[4]], m[kWords[5]]);
    mix(v[3], v[7], v[11], v[15], m[kWords[6]], m[kWords[7]]);
    mix(v[0], v[5], v[10], v[15], m[kWords[8]], m[kWords[9]]);
    mix(v[1], v[6], v[11], v[12], m[kWords[10]], m[kWords[11]]);
    mix(v[2], v[7], v[8], v[13], m[kWords[12]], m[kWords[13]]);
    mix(v[3], v[4], v[9], v[14], m[kWords[14]], m[kWords[15]]);
}

template <typename Word, std::size_t... kRounds>
[[gnu::always_inline]] inline void mix_rounds(Word (&v)[16], const Word (&m)[16],
                                              std::index_sequence<kRounds...>) {
    (mix_all<kRounds>(v, m), ...);
}

// All twelve rounds over the state `v`, with the block `m`.
template <typename Word>
[[gnu::always_inline]] inline void mix_block(Word (&v)[16], const Word (&m)[16]) {
    mix_rounds(v, m, std::make_index_sequence<12>());
}

// The digests of the leaves of a BLAKE2bp tree, as words. Leaf i hashes the blocks i, i + 4, ...
using LeafDigests = std::uint64_t[4][8];
void hash_leaves_baseline(const std::byte *bytes, std::size_t size, LeafDigests &digests);
void hash_leaves_avx2(const std::byte *bytes, std::size_t size,
                      LeafDigests &digests);  // REQUIRES: has_avx2()
void hash_leaves_avx512(const std::byte *bytes, std::size_t size,
                        LeafDigests &digests);  // REQUIRES: has_avx512()
// Of two texts at once, in the time that one of them takes.
void hash_two_avx512(const std::byte *bytes, std::size_t size, const std::byte *other,
                     std::size_t other_size,
                     LeafDigests (&digests)[2]);  // REQUIRES: has_avx512()

}  // namespace cairn::blake2
