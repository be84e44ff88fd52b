// SPDX-License-Identifier: MIT
#include "base/checksum.h"

#include <atomic>

#include "base/processor.h"

namespace cairn {

std::uint64_t checksum_baseline(const void *data, std::size_t size, std::uint64_t seed);
std::uint64_t checksum_avx2(const void *data, std::size_t size, std::uint64_t seed);
std::uint64_t checksum_avx512(const void *data, std::size_t size, std::uint64_t seed);

namespace {

using Kernel = std::uint64_t (*)(const void *, std::size_t, std::uint64_t);

Kernel choose_kernel() {
    if (has_avx512()) return checksum_avx512;
    if (has_avx2()) return checksum_avx2;
    return checksum_baseline;
}

std::uint64_t first_call(const void *data, std::size_t size, std::uint64_t seed);

// Chosen by the first call: in a static library an initialiser of the application may come before
// any of ours.
constinit std::atomic<Kernel> kernel = first_call;

std::uint64_t first_call(const void *data, std::size_t size, std::uint64_t seed) {
    const Kernel chosen = choose_kernel();
    kernel.store(chosen, std::memory_order_relaxed);
    return chosen(data, size, seed);
}

}  // namespace

std::uint64_t checksum(Bytes bytes, std::uint64_t seed) {
    return kernel.load(std::memory_order_relaxed)(bytes.data(), bytes.size(), seed);
}

}  // namespace cairn
