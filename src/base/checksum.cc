// SPDX-License-Identifier: MIT
#include "base/checksum.h"

#if defined(__x86_64__)
// glibc's header has C's name for it, which Clang does not know in C++.
#define _Bool bool
#include <sys/platform/x86.h>
#undef _Bool
#endif

namespace cairn {

std::uint64_t checksum_baseline(const void *data, std::size_t size, std::uint64_t seed);
std::uint64_t checksum_avx2(const void *data, std::size_t size, std::uint64_t seed);
std::uint64_t checksum_avx512(const void *data, std::size_t size, std::uint64_t seed);

namespace {

using Kernel = std::uint64_t (*)(const void *, std::size_t, std::uint64_t);

Kernel choose_kernel() {
#if defined(__x86_64__)
    // The loader has asked the processor already; asking again would cost a trap for each question
    // in a virtual machine, tens of microseconds in every process.
    if (CPU_FEATURE_ACTIVE(AVX512F)) return checksum_avx512;
    if (CPU_FEATURE_ACTIVE(AVX2)) return checksum_avx2;
#endif
    return checksum_baseline;
}

// Runs of a loader's initialisation, before any call can come; constant from then on.
const Kernel kernel = choose_kernel();

}  // namespace

std::uint64_t checksum(Bytes bytes, std::uint64_t seed) {
    return kernel(bytes.data(), bytes.size(), seed);
}

}  // namespace cairn
