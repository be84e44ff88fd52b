// The index slot: one 64-bit word that says where an entry's record is. Format:
// docs/formats/store.md, "Slot".
// SPDX-License-Identifier: MIT
//
// Thread safety: values; the index holds them in atomics.
//
// A word is kEmptySlot, or intact (its check bits agree), or damaged. Zero is damaged, so a zeroed
// page of an index does not pass for an empty one.
#pragma once

#include <cstdint>

namespace cairn {

inline constexpr std::uint64_t kRecordAlignment = 64;  // bytes
inline constexpr unsigned kOffsetBits = 20;  // in units of kRecordAlignment: 64 MiB per segment
inline constexpr unsigned kSegmentIdBits = 17;
inline constexpr std::uint32_t kSegmentIdMax =
    (1u << kSegmentIdBits) - 2;  // kEmptySlot has the last

// From this number on, segments hold entries that stayed when others were evicted.
inline constexpr std::uint32_t kFirstKeptSegment = kSegmentIdMax / 2;

// Where a record is.
struct Location {
    std::uint32_t segment;
    std::uint64_t offset;  // bytes, a multiple of kRecordAlignment
    bool operator==(const Location &) const = default;
};

// A slot holds an upper bound of its record's size, so that one read fetches the whole record: 63
// classes in steps of an eighth, from 256 bytes to 60 KiB. For larger records the reader fetches
// the header first.
inline constexpr unsigned kSizeClassBits = 6;
inline constexpr unsigned kLargeSizeClass = (1u << kSizeClassBits) - 1;

constexpr std::uint32_t size_class_bytes(unsigned size_class) {
    return (8 + size_class % 8) << (size_class / 8 + 5);
}

constexpr unsigned size_class(std::uint64_t record_size) {
    for (unsigned i = 0; i < kLargeSizeClass; ++i) {
        if (record_size <= size_class_bytes(i)) return i;
    }
    return kLargeSizeClass;
}

class Slot {
  public:
    static constexpr unsigned kTagBits = 12;
    static constexpr unsigned kCheckShift = 58;
    static constexpr std::uint32_t kCheckOfZero = 0x2A;  // keeps zero from being valid

    constexpr explicit Slot(std::uint64_t word) : word_(word) {}

    static constexpr Slot make(Location location, unsigned size_class, std::uint32_t tag) {
        std::uint64_t word = location.offset / kRecordAlignment;
        word |= std::uint64_t{location.segment} << kSegmentShift;
        word |= std::uint64_t{size_class} << kSizeShift;
        word |= std::uint64_t{tag} << kTagShift;
        return Slot(with_check(word));
    }

    constexpr std::uint64_t word() const { return word_; }
    constexpr Location location() const {
        return {static_cast<std::uint32_t>(word_ >> kSegmentShift) & ((1u << kSegmentIdBits) - 1),
                (word_ & ((1u << kOffsetBits) - 1)) * kRecordAlignment};
    }
    constexpr unsigned size_class() const { return (word_ >> kSizeShift) & kLargeSizeClass; }
    constexpr std::uint32_t tag() const { return (word_ >> kTagShift) & ((1u << kTagBits) - 1); }
    constexpr bool tentative() const { return (word_ >> kTentativeShift) & 1; }
    constexpr unsigned hits() const { return (word_ >> kHitsShift) & 3; }

    // The check bits do not cover the hit count, which readers change.
    constexpr bool intact() const {
        return damage_of(static_cast<std::uint32_t>(word_),
                         static_cast<std::uint32_t>(word_ >> 32)) == 0;
    }

    constexpr Slot as_tentative() const {
        return Slot(with_check(word_ | std::uint64_t{1} << kTentativeShift));
    }
    constexpr Slot with_hits(unsigned hits) const {
        return Slot((word_ & ~(std::uint64_t{3} << kHitsShift)) | std::uint64_t{hits}
                                                                      << kHitsShift);
    }

    // 0 for the two halves of an intact word: numbers of 32 bits, or vectors of them; of a word in an
    // index, the six bits of its place (store/slot_place.h). Bit i of the upper half is bit i + 32 of
    // the word; folding puts it where it puts bit i + 2.
    template <typename Half>
    static constexpr Half damage_of(Half low, Half high) {
        const Half covered = low ^ ((high & kCoveredHigh) << 2);
        const Half folded = covered ^ (covered >> 12) ^ (covered >> 24);
        return ((folded ^ (folded >> 6)) & 0x3Fu) ^ (high >> (kCheckShift - 32)) ^ kCheckOfZero;
    }

    // The bits of a hash that a slot keeps. The index chooses the bucket by other bits.
    static constexpr std::uint32_t tag_of(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash >> (64 - kTagBits));
    }

    // A word with a tag and nothing else.
    static constexpr std::uint64_t tag_word(std::uint32_t tag) {
        return std::uint64_t{tag & ((1u << kTagBits) - 1)} << kTagShift;
    }

  private:
    static constexpr unsigned kSegmentShift = kOffsetBits;
    static constexpr unsigned kSizeShift = kSegmentShift + kSegmentIdBits;
    static constexpr unsigned kHitsShift = kSizeShift + kSizeClassBits;
    static constexpr unsigned kTentativeShift = kHitsShift + 2;
    static constexpr unsigned kTagShift = kTentativeShift + 1;
    static_assert(kCheckShift == kTagShift + kTagBits);
    static constexpr unsigned kCheckBits = 64 - kCheckShift;
    static_assert(kCheckBits == 6);
    static_assert(kTagShift >= 32, "store/bucket_scan.h compares halves of words");

    static constexpr std::uint32_t kCoveredHigh =
        ((1u << (kCheckShift - 32)) - 1) & ~(3u << (kHitsShift - 32));

    // Folds the covered bits to six, so that each of them changes the result.
    static constexpr std::uint64_t with_check(std::uint64_t word) {
        word &= (std::uint64_t{1} << kCheckShift) - 1;
        const std::uint64_t check =
            damage_of(static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32));
        return word | check << kCheckShift;
    }

    std::uint64_t word_;
};

static_assert(!Slot(0).intact());

// An initialised slot without an entry.
inline constexpr std::uint64_t kEmptySlot =
    Slot::make({kSegmentIdMax + 1, ((1u << kOffsetBits) - 1) * kRecordAlignment}, kLargeSizeClass,
               (1u << Slot::kTagBits) - 1)
        .word();

// Whether a word of an index is an empty slot, whatever its place.
constexpr bool is_empty_word(std::uint64_t word) {
    return (word ^ kEmptySlot) << (64 - Slot::kCheckShift) == 0;
}

}  // namespace cairn
