// One pass over a bucket of the index: which slots may be of a key, and whether all are as they
// should be. SPDX-License-Identifier: MIT
//
// Each word is read at once, but not all at the same time. What matches has to be read again, as an
// atomic, before it is followed.
//
// Thread safety: any thread, while others write.
#pragma once

#include <atomic>
#include <cstdint>

#include "store/index_format.h"
#include "store/slot.h"

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(thread_sanitizer)
#define CAIRN_SCAN_SSE2 1
#endif
#else
#define CAIRN_SCAN_SSE2 1
#endif
#endif

#ifdef CAIRN_SCAN_SSE2
#include <emmintrin.h>
#endif

namespace cairn {

struct BucketScan {
    std::uint32_t matches = 0;  // bit i: slot i has the tag
    bool zero = false;          // some word may be zero
    std::uint64_t all = 0;      // the exclusive-or of all words
};

#ifdef CAIRN_SCAN_SSE2

// The upper half of each word decides: the tag lies there, and it is hardly ever zero in a good
// one.
inline BucketScan scan_bucket(const std::uint64_t *slots, std::uint32_t tag) {
    // Not before the stores of ours that a protocol puts ahead of it; the processor keeps to that
    // behind a compare-and-swap.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const auto *pairs = reinterpret_cast<const __m128i *>(slots);
    const __m128i mask = _mm_set1_epi64x(static_cast<long long>(Slot::tag_word(~0u)));
    const __m128i wanted = _mm_set1_epi64x(static_cast<long long>(Slot::tag_word(tag)));
    __m128i all = _mm_setzero_si128();
    __m128i zeroes = _mm_setzero_si128();
    BucketScan scan;
    for (unsigned i = 0; i < kSlotsPerBucket / 2; ++i) {
        const __m128i pair = _mm_load_si128(pairs + i);
        const __m128i equal = _mm_cmpeq_epi32(_mm_and_si128(pair, mask), wanted);
        const int matches = _mm_movemask_pd(_mm_castsi128_pd(equal));
        scan.matches |= static_cast<std::uint32_t>(matches) << (2 * i);
        zeroes = _mm_or_si128(zeroes, _mm_cmpeq_epi32(pair, _mm_setzero_si128()));
        all = _mm_xor_si128(all, pair);
    }
    scan.zero = _mm_movemask_pd(_mm_castsi128_pd(zeroes)) != 0;
    all = _mm_xor_si128(all, _mm_unpackhi_epi64(all, all));
    scan.all = static_cast<std::uint64_t>(_mm_cvtsi128_si64(all));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return scan;
}

#else

inline BucketScan scan_bucket(std::uint64_t *slots, std::uint32_t tag) {
    BucketScan scan;
    for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
        const std::uint64_t word = std::atomic_ref<std::uint64_t>(slots[i]).load();
        scan.matches |= std::uint32_t{Slot(word).tag() == tag} << i;
        scan.zero |= word >> 32 == 0;
        scan.all ^= word;
    }
    return scan;
}

#endif

}  // namespace cairn
