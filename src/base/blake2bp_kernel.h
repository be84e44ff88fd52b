// The four leaves of one BLAKE2bp hash, or of two at once, in the lanes of vectors. Each
// blake2bp_<set>.cc is compiled for one kind of x86 processor and includes this.
// SPDX-License-Identifier: MIT
//
// Lists of indices stand where loops would be natural: GCC keeps a vector in a register only if it
// knows every index before it unrolls loops.
#include "base/blake2.h"

namespace cairn::blake2 {
namespace {

constexpr std::size_t kRowSize = 4 * kBlockSize;

struct Text {
    const std::byte *bytes;
    std::size_t size;
};

// A word of each leaf of two hashes.
using WideLanes [[gnu::vector_size(64)]] = std::uint64_t;

// Transposes four words of each leaf's block into four vectors.
[[gnu::always_inline]] inline void transpose(Lanes *words, const Lanes (&leaf)[4]) {
    const Lanes even01 = __builtin_shufflevector(leaf[0], leaf[1], 0, 4, 2, 6);
    const Lanes even23 = __builtin_shufflevector(leaf[2], leaf[3], 0, 4, 2, 6);
    const Lanes odd01 = __builtin_shufflevector(leaf[0], leaf[1], 1, 5, 3, 7);
    const Lanes odd23 = __builtin_shufflevector(leaf[2], leaf[3], 1, 5, 3, 7);
    words[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
    words[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
    words[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
    words[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
}

// The same in each half.
[[gnu::always_inline]] inline void transpose(WideLanes *words, const WideLanes (&leaf)[4]) {
    const WideLanes even01 = __builtin_shufflevector(leaf[0], leaf[1], 0, 8, 2, 10, 4, 12, 6, 14);
    const WideLanes even23 = __builtin_shufflevector(leaf[2], leaf[3], 0, 8, 2, 10, 4, 12, 6, 14);
    const WideLanes odd01 = __builtin_shufflevector(leaf[0], leaf[1], 1, 9, 3, 11, 5, 13, 7, 15);
    const WideLanes odd23 = __builtin_shufflevector(leaf[2], leaf[3], 1, 9, 3, 11, 5, 13, 7, 15);
    words[0] = __builtin_shufflevector(even01, even23, 0, 1, 8, 9, 4, 5, 12, 13);
    words[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 8, 9, 4, 5, 12, 13);
    words[2] = __builtin_shufflevector(even01, even23, 2, 3, 10, 11, 6, 7, 14, 15);
    words[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 10, 11, 6, 7, 14, 15);
}

// Four words of each leaf's block, from `at` on in a row of each text.
template <typename L, std::size_t kTexts>
[[gnu::always_inline]] inline void load_words(L *words, const std::byte *const (&rows)[kTexts],
                                              std::size_t at) {
    Lanes parts[4][kTexts];
    for (std::size_t leaf = 0; leaf < 4; ++leaf)
        for (std::size_t text = 0; text < kTexts; ++text)
            std::memcpy(&parts[leaf][text], rows[text] + leaf * kBlockSize + at, sizeof(Lanes));
    L leaves[4];
    static_assert(sizeof leaves == sizeof parts);
    std::memcpy(leaves, parts, sizeof leaves);
    transpose(words, leaves);
}

// Takes one row of each text in. `counts` are the bytes that each leaf has then hashed; `is_last`
// and `goes_on` have all bits set for leaves that end here, and for those that did not end before;
// `is_fourth` for the last leaf of each text.
template <typename L, std::size_t kTexts, std::size_t... i>
[[gnu::always_inline]] inline void compress_rows(L (&chain)[8],
                                                 const std::byte *const (&rows)[kTexts],
                                                 const L &counts, const L &is_last,
                                                 const L &goes_on, const L &is_fourth,
                                                 std::index_sequence<i...>) {
    L m[16];
    load_words(m, rows, 0);
    load_words(m + 4, rows, 32);
    load_words(m + 8, rows, 64);
    load_words(m + 12, rows, 96);
    L v[16] = {chain[i]..., (L{} + kStart[i])...};
    v[12] ^= counts;
    v[14] ^= is_last;
    v[15] ^= is_last & is_fourth;
    mix_block(v, m);
    ((chain[i] ^= (v[i] ^ v[i + 8]) & goes_on), ...);
}

// How many bytes a leaf of a text hashes.
inline std::size_t leaf_size(std::size_t size, std::size_t leaf) {
    const std::size_t start = leaf * kBlockSize;
    const std::size_t rest = size % kRowSize > start ? size % kRowSize - start : 0;
    return size / kRowSize * kBlockSize + (rest < kBlockSize ? rest : kBlockSize);
}

// L has a lane for each leaf of each text.
template <typename L, std::size_t kTexts>
[[gnu::always_inline]] inline void hash_texts(const Text (&texts)[kTexts],
                                              LeafDigests (&digests)[kTexts]) {
    L sizes, numbers, is_fourth;
    for (std::size_t lane = 0; lane < 4 * kTexts; ++lane) {
        sizes[lane] = leaf_size(texts[lane / 4].size, lane % 4);
        numbers[lane] = lane % 4;
        is_fourth[lane] = lane % 4 == 3 ? ~std::uint64_t{0} : 0;
    }
    constexpr auto kEight = std::make_index_sequence<8>();
    L chain[8] = {L{} + (kStart[0] ^ kTreeSizes),
                  (L{} + kStart[1]) ^ numbers,
                  L{} + (kStart[2] ^ kLeafDepth),
                  L{} + kStart[3],
                  L{} + kStart[4],
                  L{} + kStart[5],
                  L{} + kStart[6],
                  L{} + kStart[7]};
    L goes_on = ~L{};      // even an empty leaf takes in one block
    std::size_t done = 0;  // bytes of each leaf, up to its end
    bool is_done = false;
    while (!is_done) {
        const std::byte *rows[kTexts];
        std::byte padded[kTexts][kRowSize];
        is_done = true;
        for (std::size_t i = 0; i < kTexts; ++i) {
            const auto [bytes, size] = texts[i];
            const std::size_t left = size > 4 * done ? size - 4 * done : 0;
            rows[i] = bytes + 4 * done;
            if (left < kRowSize) {
                std::memset(padded[i], 0, kRowSize);
                if (left > 0) std::memcpy(padded[i], rows[i], left);
                rows[i] = padded[i];
            }
            is_done &= left <= kRowSize;
        }
        done += kBlockSize;
        const auto is_last = reinterpret_cast<L>(sizes <= done);
        compress_rows(chain, rows, is_last ? sizes : L{} + done, is_last, goes_on, is_fourth,
                      kEight);
        goes_on = ~is_last;
    }
    std::uint64_t words[8][4 * kTexts];
    std::memcpy(words, chain, sizeof words);
    for (std::size_t lane = 0; lane < 4 * kTexts; ++lane)
        for (std::size_t i = 0; i < 8; ++i) digests[lane / 4][lane % 4][i] = words[i][lane];
}

[[gnu::always_inline]] inline void hash_one(const std::byte *bytes, std::size_t size,
                                            LeafDigests &digests) {
    LeafDigests all[1];
    hash_texts<Lanes>({{bytes, size}}, all);
    std::memcpy(digests, all, sizeof digests);
}

}  // namespace
}  // namespace cairn::blake2
