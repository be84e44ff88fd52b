// The bytes of the file of counters: docs/formats/counters.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions of values; rows of a mapped file are shared, see counters.h.
// Ownership: plain memory. Failure: none; what is not whole is told from what is by its check.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/checksum.h"
#include "history/tally.h"

namespace cairn {

inline constexpr std::uint64_t kCountersMagic = 0x3154'4e55'4f43'4e43;  // "CNCOUNT1"
inline constexpr std::size_t kCounterNameMax = 64;
inline constexpr std::size_t kCounterSlotBytes = 512;
// The file grows by chunks of 64 slots, up to 64 of them. The first slot of all is the header.
inline constexpr std::size_t kCounterChunkSlots = 64;
inline constexpr std::size_t kCounterChunkBytes = kCounterChunkSlots * kCounterSlotBytes;
inline constexpr std::size_t kCounterChunksMax = 64;
inline constexpr std::size_t kCounterSlotsMax = kCounterChunksMax * kCounterChunkSlots;
// Rows of the days before are folded into one for each application.
inline constexpr std::uint64_t kCounterDays = 90;
// The row of an application that is of no single day.
inline constexpr std::uint64_t kEarlierDay = 0;
// The byte that a process locks while it changes more than the words of a tally, and the one that
// keeps processes apart which share the open file after a fork. Both are behind the contents.
inline constexpr std::uint64_t kCountersLockByte = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kCountersForkLockByte = kCountersLockByte + 1;

// Whose numbers a row has. The name is padded with zeros.
struct CounterIdentity {
    std::uint64_t generation = 0;
    std::array<char, kCounterNameMax> application = {};

    CounterIdentity() = default;
    // A longer name is cut.
    CounterIdentity(std::string_view name, std::uint64_t number) : generation(number) {
        std::copy_n(name.begin(), std::min(name.size(), kCounterNameMax), application.begin());
    }
    std::string name() const {
        return {application.data(), strnlen(application.data(), application.size())};
    }
    // What the checks of its rows begin with.
    std::uint64_t seed() const {
        return checksum(std::as_bytes(std::span(this, 1)), kCountersMagic);
    }
};
static_assert(sizeof(CounterIdentity) == 72);

// The check of a row of this day; never 0.
inline std::uint64_t counter_check(std::uint64_t seed, std::uint64_t day) {
    return std::max<std::uint64_t>(1, checksum(std::as_bytes(std::span(&day, 1)), seed));
}

// 32-bit compilers align less than atomic accesses need.
struct alignas(8) CounterRow {
    std::uint64_t day;  // since 1970, UTC
    CounterIdentity identity;
    std::uint64_t check;  // of the above; any other value: the row is free
    Tally tally;
    std::array<std::uint64_t, 13> reserved;

    std::uint64_t right_check() const { return counter_check(identity.seed(), day); }
};
static_assert(sizeof(CounterRow) == kCounterSlotBytes);
static_assert(offsetof(CounterRow, check) == 80 && offsetof(CounterRow, tally) == 88);

// What the row in slot `to` is about to become: an earlier row with these words. The one in slot
// `from` is free then, unless it is the same.
struct CounterFold {
    std::uint64_t from;
    std::uint64_t to;
    std::array<char, kCounterNameMax> application;
    Tally tally;
    std::uint64_t check;  // of the above; any other value: there is nothing to finish

    std::uint64_t right_check() const {
        const Bytes all = std::as_bytes(std::span(this, 1));
        return std::max<std::uint64_t>(1, checksum(all.first(offsetof(CounterFold, check)), 1));
    }
    // Whether it is to be done, in a file of so many slots.
    bool is_whole(std::size_t slots) const {
        return check != 0 && check == right_check() && from > 0 && to > 0 && from < slots &&
               to < slots;
    }
    CounterIdentity identity() const { return {{application.data(), application.size()}, 0}; }
};

struct alignas(8) CounterHeader {
    std::uint64_t magic;
    CounterFold fold;
    std::array<std::uint64_t, 12> reserved;
};
static_assert(sizeof(CounterHeader) == kCounterSlotBytes);

}  // namespace cairn
