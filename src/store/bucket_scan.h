// Scans a bucket of the index: which slots may be of a key, and whether all are intact.
// SPDX-License-Identifier: MIT
//
// Reads each word at once, but not all at the same time. Read a match again, as an atomic, before
// following it.
//
// Two structures do the same: PortableScan everywhere, Sse2Scan on processors that have SSE2. There
// both are compiled, so that a test compares them. BucketScan is the one that the index uses.
//
// Thread safety: any thread, while others write.
// Ownership: none; the caller's slots are read during a call only.
// Failure: none.
#pragma once

#include <atomic>
#include <cstdint>

#include "store/index_format.h"
#include "store/slot.h"
#include "store/slot_place.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace cairn {

struct PortableScan {
    // Sets bit i when slot i has the tag.
    static std::uint32_t slots_with_tag(const std::uint64_t *slots, std::uint32_t tag) {
        std::uint32_t matches = 0;
        for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
            matches |= std::uint32_t{Slot(load(slots[i])).tag() == tag} << i;
        }
        return matches;
    }

    // Whether each slot is empty or intact, and in its place.
    static bool all_intact(const std::uint64_t *slots, BucketMasks masks) {
        bool intact = true;
        for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
            intact &= Slot(load(slots[i]) ^ masks.of(i)).intact();
        }
        return intact;
    }

  private:
    // This C++ has no atomic_ref to a constant word; the word is not written.
    static std::uint64_t load(const std::uint64_t &word) {
        return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t &>(word)).load();
    }
};

#ifdef __SSE2__

// Four slots at a time, their lower halves in one vector and their upper ones in another. The loops
// are unrolled, as look-ups do little else.
struct Sse2Scan {
    // Sets bit i when slot i has the tag, which is in the upper half.
    static std::uint32_t slots_with_tag(const std::uint64_t *slots, std::uint32_t tag) {
        // The compiler must not move these reads before our stores that the protocol puts first.
        // Behind a compare-and-swap the processor does not.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const auto *pairs = reinterpret_cast<const FourHalves *>(slots);
        const auto mask = static_cast<std::uint32_t>(Slot::tag_word(~0u) >> 32);
        const auto wanted = static_cast<std::uint32_t>(Slot::tag_word(tag) >> 32);
        std::uint32_t matches = 0;
#pragma GCC unroll 4
        for (unsigned i = 0; i < kSlotsPerBucket; i += 4) {
            const auto equal = (upper_halves(pairs + i / 2) & mask) == wanted;
            const int four = _mm_movemask_ps(reinterpret_cast<__m128>(equal));
            matches |= static_cast<std::uint32_t>(four) << i;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return matches;
    }

    // Whether each slot is empty or intact, and in its place.
    static bool all_intact(const std::uint64_t *slots, BucketMasks masks) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const auto *pairs = reinterpret_cast<const FourHalves *>(slots);
        __m128i damage[4];
#pragma GCC unroll 4
        for (unsigned i = 0; i < kSlotsPerBucket; i += 4) {
            damage[i / 4] = reinterpret_cast<__m128i>(
                Slot::damage_of(lower_halves(pairs + i / 2), upper_halves(pairs + i / 2)));
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
        // Of six bits each: a byte for each slot.
        const __m128i all = _mm_packus_epi16(_mm_packs_epi32(damage[0], damage[1]),
                                             _mm_packs_epi32(damage[2], damage[3]));
        const __m128i expected = _mm_set_epi64x(static_cast<long long>(masks.second_half),
                                                static_cast<long long>(masks.first_half));
        return _mm_movemask_epi8(_mm_cmpeq_epi8(all, expected)) == 0xFFFF;
    }

  private:
    using FourHalves = std::uint32_t __attribute__((vector_size(16), may_alias));

    static FourHalves lower_halves(const FourHalves *pairs) {
        return __builtin_shufflevector(pairs[0], pairs[1], 0, 2, 4, 6);
    }
    static FourHalves upper_halves(const FourHalves *pairs) {
        return __builtin_shufflevector(pairs[0], pairs[1], 1, 3, 5, 7);
    }
};

#endif

// To ThreadSanitizer a load of a vector is no atomic one.
#if defined(__SANITIZE_THREAD__)
#define CAIRN_SCAN_PORTABLE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAIRN_SCAN_PORTABLE 1
#endif
#endif

#if defined(__SSE2__) && !defined(CAIRN_SCAN_PORTABLE)
using BucketScan = Sse2Scan;
#else
using BucketScan = PortableScan;
#endif

}  // namespace cairn
