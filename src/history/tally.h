// The numbers that are kept of look-ups: of a run, and of a day.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread and any process. Ownership: plain memory, of a mapped file.
// Failure: a damaged number counts as 0 (base/checked_word.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/checked_word.h"
#include "history/outcome.h"

namespace cairn {

// Places of words in a Tally. Those of outcomes come first: counts, then times.
enum class Number : std::uint8_t {
    first_count = 0,
    first_ns = kOutcomes,
    saved_ns = 2 * kOutcomes,  // the recorded cost of what was found, less the time spent
    stored,                    // entries
    store_failed,
    bytes_read,  // of program binaries
    bytes_written,
    evicted,  // entries, by these processes
    starts,   // processes that looked something up
    reserved,
};
inline constexpr std::size_t kNumbers = 40;
static_assert(static_cast<std::size_t>(Number::reserved) < kNumbers);

constexpr Number count_of(Outcome outcome) {
    return static_cast<Number>(static_cast<std::size_t>(Number::first_count) +
                               static_cast<std::size_t>(outcome));
}
// The time that links with this outcome took, compiles included.
constexpr Number ns_of(Outcome outcome) {
    return static_cast<Number>(static_cast<std::size_t>(Number::first_ns) +
                               static_cast<std::size_t>(outcome));
}

// A copy of the numbers.
struct Numbers {
    std::array<std::uint64_t, kNumbers> values = {};

    std::uint64_t operator[](Number which) const { return values[static_cast<std::size_t>(which)]; }
    std::uint64_t count(Outcome outcome) const { return (*this)[count_of(outcome)]; }
    std::uint64_t ns(Outcome outcome) const { return (*this)[ns_of(outcome)]; }
    std::uint64_t hits() const;
    std::uint64_t lookups() const;  // hits and all others
    Numbers &operator+=(const Numbers &other);
};

// 32-bit compilers align less than atomic accesses need, also of copies.
struct alignas(8) Tally {
    std::array<std::uint64_t, kNumbers> words;

    void add(Number which, std::uint64_t amount) {
        const auto place = static_cast<std::size_t>(which);
        if (amount != 0) add_checked(words[place], place, amount);
    }
    Numbers read() const;
};
static_assert(sizeof(Tally) == kNumbers * 8);

}  // namespace cairn
