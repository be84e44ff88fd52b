// Spans of bytes and little-endian numbers in them.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace cairn {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline Bytes as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

inline bool same_bytes(Bytes a, Bytes b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline std::string hexadecimal(Bytes bytes) {
    constexpr const char *kDigits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text.push_back(kDigits[std::to_integer<unsigned>(byte) >> 4]);
        text.push_back(kDigits[std::to_integer<unsigned>(byte) & 15]);
    }
    return text;
}

// Little-endian integer of sizeof(T) bytes at `offset`. REQUIRES: it lies inside the span.
template <typename T>
T get_le(Bytes bytes, std::size_t offset) {
    assert(offset + sizeof(T) <= bytes.size());
    T value = 0;
    if constexpr (std::endian::native == std::endian::little) {
        // Not all compilers see it in the loop.
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
        return value;
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        const auto octet = static_cast<std::uint64_t>(bytes[offset + i]);
        value = static_cast<T>(value | static_cast<T>(octet << (8 * i)));
    }
    return value;
}

template <typename T>
void put_le(MutableBytes bytes, std::size_t offset, T value) {
    assert(offset + sizeof(T) <= bytes.size());
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(bytes.data() + offset, &value, sizeof(T));
        return;
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes[offset + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
}

// `value` rounded up to a multiple of `unit`, a power of two. REQUIRES: the result is
// representable.
template <std::unsigned_integral T>
constexpr T align_up(T value, std::type_identity_t<T> unit) {
    return (value + unit - 1) & ~(unit - 1);
}

}  // namespace cairn
