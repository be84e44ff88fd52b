// Time stamps of puts: ns since 1970, of which from format 2 on the lowest bits are a check of the
// others. So a damaged counter is not taken for the far future, behind which no put would count.
// Format: docs/formats/store.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "store/segment_format.h"

namespace cairn {

// Four microseconds. Of damaged words, one in 4096 passes.
inline constexpr unsigned kStampCheckBits = 12;

// Each rebuild sets the stamps a millisecond forward. Who knows nothing of that, as the last one is lost,
// begins so far ahead of the clock: its stamps have to be greater all the same, also than those of others
// who have begun so before.
inline constexpr std::uint64_t kStampMarginNs = 1'000'000'000;

// The stamp of a time in units of four microseconds.
constexpr std::uint64_t stamp_of_units(std::uint64_t units) {
    const std::uint64_t check = (units + 1) * 0x9E3779B97F4A7C15u >> (64 - kStampCheckBits);
    return units << kStampCheckBits | check;
}

constexpr bool is_stamp(std::uint32_t format, std::uint64_t word) {
    return format == kOldestFormat || stamp_of_units(word >> kStampCheckBits) == word;
}

// The first stamp at or after a time.
constexpr std::uint64_t stamp_at(std::uint32_t format, std::uint64_t time_ns) {
    if (format == kOldestFormat) return time_ns;
    const std::uint64_t units = time_ns >> kStampCheckBits;
    const std::uint64_t stamp = stamp_of_units(units);
    return stamp >= time_ns ? stamp : stamp_of_units(units + 1);
}

// The last stamp at or before a time.
constexpr std::uint64_t stamp_until(std::uint32_t format, std::uint64_t time_ns) {
    if (format == kOldestFormat) return time_ns;
    const std::uint64_t units = time_ns >> kStampCheckBits;
    const std::uint64_t stamp = stamp_of_units(units);
    return stamp <= time_ns ? stamp : stamp_of_units(units - 1);
}

static_assert(!is_stamp(kNewestFormat, 0) && !is_stamp(kNewestFormat, 0x5555'5555'5555'5555) &&
              !is_stamp(kNewestFormat, ~std::uint64_t{0}));

}  // namespace cairn
