// What a slot's check bits say of its place: a slot that damage has moved is damaged, even if its word is whole.
// Format: docs/formats/store.md, "Slot".
// SPDX-License-Identifier: MIT
//
// In the file the check bits of a slot are combined, by exclusive-or, with six bits that differ from
// place to place. All code but the index sees words without them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "store/index_format.h"
#include "store/slot.h"

namespace cairn {

// The six bits of each slot of a bucket: a byte each, that of the first slot lowest.
struct BucketMasks {
    std::uint64_t first_half = 0;
    std::uint64_t second_half = 0;

    // What the word of a slot is combined with.
    constexpr std::uint64_t of(std::size_t slot) const {
        const std::uint64_t half = slot < 8 ? first_half : second_half;
        return (half >> (slot % 8 * 8) & 0x3F) << Slot::kCheckShift;
    }
};

// Of a bucket in a level. Before format 2 they are 0. They are never those with which a word of zeros would
// be an intact slot.
constexpr BucketMasks bucket_masks(std::uint32_t format, unsigned level, std::uint64_t bucket) {
    if (format < 2) return {};
    constexpr std::uint64_t kEach = 0x0101010101010101;
    // 0x2A becomes 0x15. The sum sets the upper bit of each byte that differs from it; there is no carry.
    const auto without_zero = [](std::uint64_t bits) {
        const std::uint64_t six = bits & (0x3F * kEach);
        const std::uint64_t differ = (six ^ (Slot::kCheckOfZero * kEach)) + 0x7F * kEach;
        return six ^ ((~differ >> 7 & kEach) * 0x3F);
    };
    std::uint64_t mixed = (bucket << 3 | level) + 1;
    mixed *= 0x9E3779B97F4A7C15;
    mixed ^= mixed >> 32;
    mixed *= 0xD6E8FEB86659FD93;
    mixed ^= mixed >> 32;
    return {without_zero(mixed), without_zero(mixed * 0xA24BAED4963EE407 >> 1)};
}

// What the word of a slot is combined with. Slots are numbered through a level.
constexpr std::uint64_t slot_mask(std::uint32_t format, unsigned level, std::uint64_t slot) {
    return bucket_masks(format, level, slot / kSlotsPerBucket).of(slot % kSlotsPerBucket);
}

}  // namespace cairn
