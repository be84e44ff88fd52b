// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <sodium/crypto_generichash_blake2b.h>
#include <sodium/crypto_shorthash_siphash24.h>

namespace cairn {
namespace {

const unsigned char *octets(const std::byte *bytes) {
    return reinterpret_cast<const unsigned char *>(bytes);
}

}  // namespace

std::uint64_t keyed_hash(Bytes bytes, const HashSeed &seed) {
    static_assert(crypto_shorthash_siphash24_KEYBYTES == 16);
    std::array<std::byte, crypto_shorthash_siphash24_BYTES> digest;
    crypto_shorthash_siphash24(reinterpret_cast<unsigned char *>(digest.data()),
                               octets(bytes.data()), bytes.size(), octets(seed.data()));
    return get_le<std::uint64_t>(digest, 0);
}

Blake2b::Blake2b() {
    static_assert(sizeof(crypto_generichash_blake2b_state) <= sizeof state_);
    static_assert(alignof(crypto_generichash_blake2b_state) <= 64);
    crypto_generichash_blake2b_init(
        reinterpret_cast<crypto_generichash_blake2b_state *>(state_.data()), nullptr, 0, 32);
}

void Blake2b::add(Bytes bytes) {
    crypto_generichash_blake2b_update(
        reinterpret_cast<crypto_generichash_blake2b_state *>(state_.data()), octets(bytes.data()),
        bytes.size());
}

std::array<std::byte, 32> Blake2b::finish() {
    std::array<std::byte, 32> digest;
    crypto_generichash_blake2b_final(
        reinterpret_cast<crypto_generichash_blake2b_state *>(state_.data()),
        reinterpret_cast<unsigned char *>(digest.data()), digest.size());
    return digest;
}

}  // namespace cairn
