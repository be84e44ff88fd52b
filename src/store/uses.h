// How often and when a key was looked up, and what its entry is worth for that.
// SPDX-License-Identifier: MIT
//
// Time passes as eviction needs it: in eighths of a turnover, in which segments of as many bytes as the
// cache may hold are retired. So a cache that nobody writes to forgets nothing.
//
// An entry's worth is the logarithm of (look-ups * cost per byte), less what it has lost since it was
// looked up last. How it loses, a Taste says: never, where programs come back however late (loops; starts
// of many applications by turns); soon, where only those come back that were in use lately (shaders
// that are being edited); or slowly, so that one of twice the worth stays for about twice as long. A
// taste also says how much look-ups count.
// docs/decisions/015 has the figures.
//
// Thread safety: values and pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdint>

namespace cairn {

// Modulo 32 turnovers.
using UseTime = std::uint8_t;
inline constexpr unsigned kUseTimesPerTurnover = 8;
inline constexpr unsigned kUsesMax = 15;

struct Uses {
    unsigned count = 0;  // at most kUsesMax; 0: not known
    UseTime last = 0;
    bool operator==(const Uses &) const = default;
};

// Turnovers are added up in parts of 2^-24. Each process adds by its own limit, so another limit changes
// how fast time passes, and not what time it is.
inline constexpr unsigned kTurnoverBits = 24;
constexpr UseTime use_time(std::uint64_t turned) {
    return static_cast<UseTime>((turned * kUseTimesPerTurnover) >> kTurnoverBits);
}
// By the bytes that were retired: a turnover at most.
constexpr std::uint64_t turned_by(std::uint64_t bytes, std::uint64_t limit_bytes) {
    constexpr std::uint64_t kTurnover = std::uint64_t{1} << kTurnoverBits;
    if (bytes >= limit_bytes) return kTurnover;
    if (bytes < UINT64_MAX >> kTurnoverBits) return (bytes << kTurnoverBits) / limit_bytes;
    return bytes / std::max<std::uint64_t>(limit_bytes >> kTurnoverBits, 1);
}

// 0 for times of the future, as after damage.
constexpr unsigned age_of(UseTime last, UseTime now) {
    const auto age = static_cast<UseTime>(now - last);
    return age < 192 ? age : 0;
}

// Four times the logarithm to base 2, rounded down; 0 for 0.
constexpr unsigned quarter_log2(std::uint64_t number) {
    if (number == 0) return 0;
    const unsigned octave = static_cast<unsigned>(std::bit_width(number)) - 1;
    // The number between 1 and 2, in units of 2^-16.
    const std::uint64_t part = octave > 16 ? number >> (octave - 16) : number << (16 - octave);
    unsigned quarters = 0;
    for (const std::uint64_t begin : {77936u, 92682u, 110218u}) quarters += part >= begin ? 1 : 0;
    return octave * 4 + quarters;
}

// The middle of what has this quarter_log2(), of at most so many octaves.
constexpr std::uint64_t bytes_of(unsigned quarters, unsigned octaves_max = 40) {
    constexpr std::array<std::uint64_t, 4> kMiddle = {71456, 84976, 101054, 120175};
    const std::uint64_t middle = kMiddle[quarters % 4];
    const unsigned octave = std::min(quarters / 4, octaves_max);
    return octave > 16 ? middle << (octave - 16) : middle >> (16 - octave);
}

// Of the cost per byte. 0: the cost is not known.
constexpr unsigned density_of(std::uint32_t cost_us, std::uint64_t size_bytes) {
    if (cost_us == 0) return 0;
    const std::uint64_t scaled =
        (std::uint64_t{cost_us} << 20) / std::max<std::uint64_t>(size_bytes, 1);
    return std::max(quarter_log2(scaled), 1u);
}

// How entries lose worth: ten octaves in each turnover; an octave whenever the time since, with half a
// turnover added, has doubled; not at all. What is known of times ends at 24 turnovers (see age_of()):
// well before that all is lost, so that nothing unused is taken for new then.
enum class Aging : std::uint8_t { soon, slowly, never };
// What counts of look-ups: all, or their square root, where those of long ago say little of what comes next.
enum class Counting : std::uint8_t { all, root };

// Where no cost is known at all: a microsecond for each byte.
inline constexpr unsigned kDensityAtFirst = 80;

// What the default policy goes by.
struct Taste {
    Aging aging;
    int threshold = INT_MIN;           // entries of a greater worth stay
    unsigned lots = 0;                 // and of those of that worth so many of 256
    unsigned usual = kDensityAtFirst;  // of an entry whose cost is not known
    Counting counting = Counting::all;
    bool operator==(const Taste &) const = default;
};

// Decides between entries of one worth, in the same way each time: where all are alike, a part of them
// stays for good, instead of each for a while.
constexpr unsigned lot_of(std::uint64_t key_hash) {
    return static_cast<unsigned>(key_hash >> 44 & 0xFF);
}

constexpr bool stays(int worth, unsigned lot, const Taste &taste) {
    return worth > taste.threshold || (worth == taste.threshold && lot < taste.lots);
}

// Of each count of uses.
inline constexpr auto kQuartersOfUses = [] {
    std::array<std::uint8_t, kUsesMax + 1> quarters = {};
    for (unsigned i = 0; i <= kUsesMax; ++i)
        quarters[i] = static_cast<std::uint8_t>(quarter_log2(i));
    return quarters;
}();

// In quarters of an octave.
constexpr unsigned lost_of(unsigned age, Aging aging) {
    constexpr unsigned kHalf = kUseTimesPerTurnover / 2, kLong = 16 * kUseTimesPerTurnover;
    if (aging == Aging::slowly && age >= kLong) aging = Aging::soon;
    switch (aging) {
        case Aging::soon:
            return 5 * age;
        case Aging::slowly:
            return quarter_log2(age + kHalf) - quarter_log2(kHalf);
        case Aging::never:
            break;
    }
    return 0;
}

// Of each age, in one step.
inline constexpr auto kLost = [] {
    std::array<std::array<std::uint16_t, 256>, 3> lost = {};
    for (const Aging aging : {Aging::soon, Aging::slowly, Aging::never}) {
        auto &of_age = lost[static_cast<unsigned>(aging)];
        for (unsigned age = 0; age < of_age.size(); ++age)
            of_age[age] = static_cast<std::uint16_t>(lost_of(age, aging));
    }
    return lost;
}();

// Of an entry that was looked up just now.
constexpr int worth_at_first(unsigned uses, unsigned density, unsigned usual, Counting counting) {
    const unsigned of_uses = kQuartersOfUses[std::clamp(uses, 1u, kUsesMax)];
    return static_cast<int>((counting == Counting::root ? of_uses / 2 : of_uses) +
                            (density == 0 ? usual : density));
}

// `age` is that of age_of().
constexpr int worth_of(unsigned uses, unsigned density, unsigned age, const Taste &taste) {
    return worth_at_first(uses, density, taste.usual, taste.counting) -
           kLost[static_cast<unsigned>(taste.aging)][age % 256];
}

// The uses of an entry whose slot has counted `hits` since its record was written. When these hits were
// is told by what is left of them (see fade()); one that was left was, at best, in the middle.
constexpr Uses uses_with(Uses written, unsigned hits, UseTime now) {
    const unsigned age = age_of(written.last, now);
    constexpr unsigned kHalf = kUseTimesPerTurnover / 2;
    unsigned since = age;
    if (hits == 3) since = std::min(age, kHalf / 2);
    if (hits == 2) since = std::min(age, kHalf * 3 / 2);
    if (hits == 1) since = std::max(std::min(age, kHalf * 2), age / 2);
    return {std::min(std::max(written.count, 1u) + hits, kUsesMax),
            static_cast<UseTime>(now - since)};
}

// What half a turnover leaves of a slot's count of hits.
constexpr unsigned fade(unsigned hits) {
    return hits > 1 ? hits - 1 : hits;
}

}  // namespace cairn
