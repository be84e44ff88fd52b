// Counters in shared memory whose words check themselves: 48 bits of value and 16 bits of check.
// SPDX-License-Identifier: MIT
//
// Each change is one compare-and-swap, so any number of processes may add, and a process may be
// killed anywhere. A word that something else has written is recognised, but for one in 65,536, and
// counts as 0. A word of 0 is a count of 0, as in a new file.
//
// Thread safety: any thread and any process. Failure: none; a count stays at its largest value.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

namespace cairn {

inline constexpr std::uint64_t kCheckedMax = (std::uint64_t{1} << 48) - 1;

// `place` is another number for each word of a file: a word in a wrong place is damage, too.
constexpr std::uint64_t checked_word(std::uint64_t value, std::uint64_t place) {
    if (value == 0) return 0;
    std::uint64_t mixed = (value ^ (place + 1) * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
    return mixed >> 48 << 48 | value;
}

// nullopt: the word is damaged.
constexpr std::optional<std::uint64_t> checked_value(std::uint64_t word, std::uint64_t place) {
    const std::uint64_t value = word & kCheckedMax;
    return checked_word(value, place) == word ? std::optional(value) : std::nullopt;
}

inline std::uint64_t read_checked(const std::uint64_t &word, std::uint64_t place) {
    const std::uint64_t seen = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t &>(word))
                                   .load(std::memory_order_relaxed);
    return checked_value(seen, place).value_or(0);
}

inline void set_checked(std::uint64_t &word, std::uint64_t place, std::uint64_t value) {
    std::atomic_ref(word).store(checked_word(std::min(value, kCheckedMax), place),
                                std::memory_order_relaxed);
}

inline void add_checked(std::uint64_t &word, std::uint64_t place, std::uint64_t amount) {
    const std::atomic_ref<std::uint64_t> shared(word);
    std::uint64_t seen = shared.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
        const std::uint64_t value = checked_value(seen, place).value_or(0);
        next = checked_word(value + std::min(amount, kCheckedMax - value), place);
    } while (!shared.compare_exchange_weak(seen, next, std::memory_order_relaxed));
}

}  // namespace cairn
