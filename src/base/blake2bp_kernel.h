// The four leaves of BLAKE2bp in the lanes of vectors. Each blake2bp_<set>.cc is compiled for one
// kind of x86-64 processor, defines its name and includes this.
// SPDX-License-Identifier: MIT
//
// Lists of indices stand where loops would be natural: GCC keeps a vector in a register only if it
// knows every index before it unrolls loops.
#include "base/blake2.h"

namespace cairn::blake2 {
namespace {

constexpr std::size_t kRowSize = 4 * kBlockSize;

// Four words of each leaf's block, from `bytes` on in leaf 0: turns them into four vectors.
[[gnu::always_inline]] inline void load_words(Lanes *words, const std::byte *bytes) {
    Lanes leaf[4];
    std::memcpy(&leaf[0], bytes, sizeof(Lanes));
    std::memcpy(&leaf[1], bytes + kBlockSize, sizeof(Lanes));
    std::memcpy(&leaf[2], bytes + 2 * kBlockSize, sizeof(Lanes));
    std::memcpy(&leaf[3], bytes + 3 * kBlockSize, sizeof(Lanes));
    const Lanes even01 = __builtin_shufflevector(leaf[0], leaf[1], 0, 4, 2, 6);
    const Lanes even23 = __builtin_shufflevector(leaf[2], leaf[3], 0, 4, 2, 6);
    const Lanes odd01 = __builtin_shufflevector(leaf[0], leaf[1], 1, 5, 3, 7);
    const Lanes odd23 = __builtin_shufflevector(leaf[2], leaf[3], 1, 5, 3, 7);
    words[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
    words[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
    words[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
    words[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
}

// Takes one row in. `counts` are the bytes that each leaf has then hashed; `is_last` and `goes_on`
// have all bits set for leaves that end here, and for those that did not end before.
template <std::size_t... i>
[[gnu::always_inline]] inline void compress_row(Lanes (&chain)[8], const std::byte *row,
                                                const Lanes &counts, const Lanes &is_last,
                                                const Lanes &goes_on, std::index_sequence<i...>) {
    Lanes m[16];
    load_words(m, row);
    load_words(m + 4, row + 32);
    load_words(m + 8, row + 64);
    load_words(m + 12, row + 96);
    Lanes v[16] = {chain[i]..., (Lanes{} + kStart[i])...};
    v[12] ^= counts;
    v[14] ^= is_last;
    v[15] ^= is_last & Lanes{0, 0, 0, ~std::uint64_t{0}};
    mix_block(v, m);
    ((chain[i] ^= (v[i] ^ v[i + 8]) & goes_on), ...);
}

}  // namespace

void CAIRN_HASH_LEAVES_NAME(const std::byte *bytes, std::size_t size, LeafDigests &digests) {
    Lanes sizes;  // how many bytes each leaf hashes
    for (std::size_t leaf = 0; leaf < 4; ++leaf) {
        const std::size_t start = leaf * kBlockSize;
        const std::size_t rest = size % kRowSize > start ? size % kRowSize - start : 0;
        sizes[leaf] = size / kRowSize * kBlockSize + (rest < kBlockSize ? rest : kBlockSize);
    }
    constexpr auto kEight = std::make_index_sequence<8>();
    Lanes chain[8] = {Lanes{} + (kStart[0] ^ kTreeSizes),
                      (Lanes{} + kStart[1]) ^ Lanes{0, 1, 2, 3},
                      Lanes{} + (kStart[2] ^ kLeafDepth),
                      Lanes{} + kStart[3],
                      Lanes{} + kStart[4],
                      Lanes{} + kStart[5],
                      Lanes{} + kStart[6],
                      Lanes{} + kStart[7]};
    Lanes goes_on = ~Lanes{};  // even an empty leaf takes in one block
    std::size_t done = 0;      // bytes of each leaf, up to its end
    do {
        const std::byte *row = bytes + 4 * done;
        std::byte padded[kRowSize];
        if (const std::size_t left = size - 4 * done; left < kRowSize) {
            std::memset(padded, 0, kRowSize);
            if (left > 0) std::memcpy(padded, row, left);
            row = padded;
        }
        done += kBlockSize;
        const Lanes is_last = reinterpret_cast<Lanes>(sizes <= done);
        compress_row(chain, row, is_last ? sizes : Lanes{} + done, is_last, goes_on, kEight);
        goes_on = ~is_last;
    } while (4 * done < size);
    std::uint64_t words[8][4];
    std::memcpy(words, chain, sizeof words);
    for (std::size_t leaf = 0; leaf < 4; ++leaf)
        for (std::size_t i = 0; i < 8; ++i) digests[leaf][i] = words[i][leaf];
}

}  // namespace cairn::blake2
