// A small, fast random generator whose sequence is the same everywhere, so that a printed seed
// repeats a run.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cairn_test {

// Spreads the bits of a number over all bits of the result; different numbers have different
// results.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return mix(mix(a) ^ b);
}

class Random {
  public:
    explicit constexpr Random(std::uint64_t seed) : state_(mix(seed)) {}

    constexpr std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15u;
        return mix(state_);
    }
    // A number below `bound`, which is not 0.
    constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    // True one time in `n`.
    constexpr bool one_in(std::uint64_t n) { return below(n) == 0; }

    void fill(std::span<std::uint8_t> bytes) {
        std::size_t at = 0;
        while (at < bytes.size()) {
            const std::uint64_t word = next();
            const std::size_t part = bytes.size() - at < 8 ? bytes.size() - at : 8;
            std::memcpy(bytes.data() + at, &word, part);
            at += part;
        }
    }

  private:
    std::uint64_t state_;
};

}  // namespace cairn_test
