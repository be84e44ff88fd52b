// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/blake2.h"
#include "base/processor.h"

namespace cairn {
namespace {

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

constexpr std::uint64_t kPlainSizes = 0x01010020;  // no tree: a digest of 32 bytes, no key

}  // namespace

std::uint64_t keyed_hash(Bytes bytes, const HashSeed &seed) {
    const auto k0 = get_le<std::uint64_t>(seed, 0);
    const auto k1 = get_le<std::uint64_t>(seed, 8);
    SipState state = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                      k1 ^ 0x7465646279746573};
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) state.add(blake2::word_at(bytes.data() + at));
    std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
    for (int shift = 0; at < bytes.size(); ++at, shift += 8)
        last |= std::to_integer<std::uint64_t>(bytes[at]) << shift;
    state.add(last);
    state.v2 ^= 0xff;
    for (int i = 0; i < 4; ++i) state.round();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

Blake2b::Blake2b() : Blake2b(kPlainSizes, 0, 0, 0) {}

Blake2b::Blake2b(std::uint64_t sizes, std::uint64_t leaf, std::uint64_t depth,
                 std::uint64_t is_last_node)
    : is_last_node_(is_last_node) {
    std::copy_n(blake2::kStart, 8, chain_.begin());
    chain_[0] ^= sizes;
    chain_[1] ^= leaf;
    chain_[2] ^= depth;
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
    finish_chain();
    std::array<std::byte, 32> digest;
    for (std::size_t i = 0; i < 4; ++i) put_le(MutableBytes(digest), 8 * i, chain_[i]);
    return digest;
}

void Blake2b::finish_chain() {
    std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), pending_.end(),
              std::byte{0});
    size_ -= kBlockSize - pending_size_;  // which compress() adds
    compress(pending_.data(), ~std::uint64_t{0});
}

void Blake2b::compress(const std::byte *block, std::uint64_t is_last) {
    size_ += kBlockSize;
    std::uint64_t m[16];
    for (std::size_t i = 0; i < 16; ++i) m[i] = blake2::word_at(block + 8 * i);
    std::uint64_t v[16];
    std::copy(chain_.begin(), chain_.end(), v);
    std::copy_n(blake2::kStart, 8, v + 8);
    v[12] ^= size_;
    v[14] ^= is_last;
    v[15] ^= is_last & is_last_node_;
    blake2::mix_block(v, m);
    for (std::size_t i = 0; i < 8; ++i) chain_[i] ^= v[i] ^ v[i + 8];
}

void blake2::hash_leaves_baseline(const std::byte *bytes, std::size_t size, LeafDigests &digests) {
    for (std::size_t leaf = 0; leaf < 4; ++leaf) {
        Blake2b hash(kTreeSizes, leaf, kLeafDepth, leaf == 3 ? ~std::uint64_t{0} : 0);
        for (std::size_t at = leaf * kBlockSize; at < size; at += 4 * kBlockSize)
            hash.add({bytes + at, std::min(kBlockSize, size - at)});
        hash.finish_chain();
        std::copy(hash.chain_.begin(), hash.chain_.end(), digests[leaf]);
    }
}

namespace {

void hash_leaves(Bytes bytes, blake2::LeafDigests &digests) {
    const auto kernel = has_avx512() ? blake2::hash_leaves_avx512
                        : has_avx2() ? blake2::hash_leaves_avx2
                                     : blake2::hash_leaves_baseline;
    kernel(bytes.data(), bytes.size(), digests);
}

}  // namespace

std::array<std::byte, 32> Blake2b::root_of(blake2::LeafDigests &leaves) {
    // Words are hashed as little-endian bytes.
    for (auto &leaf : leaves)
        for (std::uint64_t &word : leaf)
            word = blake2::word_at(reinterpret_cast<const std::byte *>(&word));
    Blake2b root(blake2::kTreeSizes, 0, blake2::kRootDepth, ~std::uint64_t{0});
    root.add(std::as_bytes(std::span(leaves)));
    return root.finish();
}

std::array<std::byte, 32> blake2bp(Bytes bytes) {
    blake2::LeafDigests leaves;
    hash_leaves(bytes, leaves);
    return Blake2b::root_of(leaves);
}

std::array<std::byte, 32> hash_by_halves(Bytes bytes) {
    const Bytes first =
        bytes.first(std::min<std::size_t>(align_up(bytes.size() / 2, 512), bytes.size()));
    const Bytes second = bytes.subspan(first.size());
    blake2::LeafDigests leaves[2];
    if (has_avx512()) {
        blake2::hash_two_avx512(first.data(), first.size(), second.data(), second.size(), leaves);
    } else {
        hash_leaves(first, leaves[0]);
        hash_leaves(second, leaves[1]);
    }
    Blake2b both;
    for (auto &half : leaves) both.add(Blake2b::root_of(half));
    return both.finish();
}

}  // namespace cairn
