// Values that say what they are, so that a reader can tell a right value from every wrong one.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
// Failure: read_stamp answers nullopt to any bytes that stamped_value has not made, wherever they
// differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "support/cache.h"

namespace cairn_test {

struct Stamp {
    std::uint64_t key = 0;      // which key the value was stored under
    std::uint64_t writer = 0;   // who stored it
    std::uint64_t version = 0;  // which value of that writer or key it is
    std::uint64_t begin = 0;    // when, by the test's own clock
    bool operator==(const Stamp &) const = default;
};

inline constexpr std::size_t kStampSize = 48;  // bytes; the smallest stamped value

// A value of `size` bytes, at least kStampSize; the bytes behind the stamp follow from it. Every
// second value can be compressed.
ByteVector stamped_value(const Stamp &stamp, std::size_t size);

// The stamp of a whole, unchanged value.
std::optional<Stamp> read_stamp(ByteView value);

// A key of 16 to `size_max` bytes that belongs to `number` in a family of keys.
ByteVector numbered_key(std::uint64_t family, std::uint64_t number, std::size_t size_max = 16);

}  // namespace cairn_test
