// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cairn {
namespace {

std::uint64_t word_at(const std::byte *bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
}

struct SipState {
    std::uint64_t v0, v1, v2, v3;

    void round() {
        v0 += v1;
        v1 = std::rotl(v1, 13) ^ v0;
        v0 = std::rotl(v0, 32);
        v2 += v3;
        v3 = std::rotl(v3, 16) ^ v2;
        v0 += v3;
        v3 = std::rotl(v3, 21) ^ v0;
        v2 += v1;
        v1 = std::rotl(v1, 17) ^ v2;
        v2 = std::rotl(v2, 32);
    }

    void add(std::uint64_t word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }
};

using Words = std::uint64_t[16];

constexpr std::array<std::uint64_t, 8> kStart = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr std::uint64_t kParameters = 0x01010020;  // a digest of 32 bytes, no key

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

[[gnu::always_inline]] inline void mix(std::uint64_t &a, std::uint64_t &b, std::uint64_t &c,
                                       std::uint64_t &d, std::uint64_t x, std::uint64_t y) {
    a += b + x;
    d = std::rotr(d ^ a, 32);
    c += d;
    b = std::rotr(b ^ c, 24);
    a += b + y;
    d = std::rotr(d ^ a, 16);
    c += d;
    b = std::rotr(b ^ c, 63);
}

// A template, so that the compiler knows the order and keeps the words in registers.
template <std::size_t kRound>
[[gnu::always_inline]] inline void mix_all(Words &v, const Words &m) {
    constexpr const std::uint8_t *order = kOrder[kRound % 10];
    mix(v[0], v[4], v[8], v[12], m[order[0]], m[order[1]]);
    mix(v[1], v[5], v[9], v[13], m[order[2]], m[order[3]]);
    mix(v[2], v[6], v[10], v[14], m[order[4]], m[order[5]]);
    mix(v[3], v[7], v[11], v[15], m[order[6]], m[order[7]]);
    mix(v[0], v[5], v[10], v[15], m[order[8]], m[order[9]]);
    mix(v[1], v[6], v[11], v[12], m[order[10]], m[order[11]]);
    mix(v[2], v[7], v[8], v[13], m[order[12]], m[order[13]]);
    mix(v[3], v[4], v[9], v[14], m[order[14]], m[order[15]]);
}

template <std::size_t... kRounds>
void mix_rounds(Words &v, const Words &m, std::index_sequence<kRounds...>) {
    (mix_all<kRounds>(v, m), ...);
}

}  // namespace

std::uint64_t keyed_hash(Bytes bytes, const HashSeed &seed) {
    const std::uint64_t k0 = get_le<std::uint64_t>(seed, 0);
    const std::uint64_t k1 = get_le<std::uint64_t>(seed, 8);
    SipState state = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                      k1 ^ 0x7465646279746573};
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) state.add(word_at(bytes.data() + at));
    std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
    for (int shift = 0; at < bytes.size(); ++at, shift += 8)
        last |= std::to_integer<std::uint64_t>(bytes[at]) << shift;
    state.add(last);
    state.v2 ^= 0xff;
    for (int i = 0; i < 4; ++i) state.round();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

Blake2b::Blake2b() : chain_(kStart) {
    chain_[0] ^= kParameters;
}

void Blake2b::add(Bytes bytes) {
    while (!bytes.empty()) {
        if (pending_size_ == kBlockSize) {
            compress(pending_.data(), 0);
            pending_size_ = 0;
        }
        // The last block stays for finish().
        if (pending_size_ == 0 && bytes.size() > kBlockSize) {
            compress(bytes.data(), 0);
            bytes = bytes.subspan(kBlockSize);
            continue;
        }
        const std::size_t taken = std::min(bytes.size(), kBlockSize - pending_size_);
        std::memcpy(pending_.data() + pending_size_, bytes.data(), taken);
        pending_size_ += taken;
        bytes = bytes.subspan(taken);
    }
}

std::array<std::byte, 32> Blake2b::finish() {
    std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), pending_.end(),
              std::byte{0});
    size_ += pending_size_ - kBlockSize;
    compress(pending_.data(), ~std::uint64_t{0});
    std::array<std::byte, 32> digest;
    for (std::size_t i = 0; i < 4; ++i) put_le(MutableBytes(digest), 8 * i, chain_[i]);
    return digest;
}

void Blake2b::compress(const std::byte *block, std::uint64_t is_last) {
    size_ += kBlockSize;
    Words m;
    for (std::size_t i = 0; i < 16; ++i) m[i] = word_at(block + 8 * i);
    Words v;
    std::copy(chain_.begin(), chain_.end(), v);
    std::copy(kStart.begin(), kStart.end(), v + 8);
    v[12] ^= size_;
    v[14] ^= is_last;
    mix_rounds(v, m, std::make_index_sequence<12>());
    for (std::size_t i = 0; i < 8; ++i) chain_[i] ^= v[i] ^ v[i + 8];
}

}  // namespace cairn
