// SPDX-License-Identifier: MIT
#include "os/processor.h"

#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include "base/processor.h"
#endif

namespace cairn {
namespace {

std::string hexadecimal_number(unsigned long number) {
    std::array<char, 2 * sizeof number> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), number, 16).ptr;
    return {digits.begin(), end};
}

#if defined(__x86_64__) || defined(__i386__)

// A register of CPUID that the loader has read already: asking again would cost a trap in a virtual
// machine. And the bits of it that compilers look at (LLVM's getHostCPUFeatures, Mesa's
// util_cpu_caps), or may one day. Left out are those for systems, which say nothing about code.
enum Register : unsigned { kEax, kEbx, kEcx, kEdx };
struct Source {
    unsigned leaf;
    Register from;
    std::uint32_t bits;
};
constexpr Source kSources[] = {
    {CPUID_INDEX_1, kEcx, 0x7ed8'3203},         // SSE3 to RDRAND, with OSXSAVE
    {CPUID_INDEX_1, kEdx, 0x0780'8100},         // CMPXCHG8B, CMOV, MMX, FXSR, SSE, SSE2
    {CPUID_INDEX_1, kEbx, 0x0000'ff00},         // the size of a line that CLFLUSH flushes
    {CPUID_INDEX_7, kEbx, ~0x0200'9004u},       // not SGX, monitoring, allocation, tracing
    {CPUID_INDEX_7, kEcx, ~0x4100'0004u},       // not UMIP, bus lock detection, SGX
    {CPUID_INDEX_7, kEdx, 0x03ff'd1ffu},        // not the mitigations that microcode brings
    {CPUID_INDEX_80000001, kEcx, 0x2021'8961},  // LAHF, LZCNT, SSE4A, PREFETCHW, XOP to MWAITX
    // MMX extensions, long mode, 3DNow!. And bit 0, which tells the makers apart: AMD's and Hygon's
    // repeat bits of leaf 1 here. QEMU does the same, which gives a processor that it makes up, such
    // as `qemu64`, the maker of the one below. Leaf 0 has the maker's name, and costs a trap.
    {CPUID_INDEX_80000001, kEdx, 0xe0c0'0001},
    {CPUID_INDEX_D_ECX_1, kEax, 0x0000'000b},   // XSAVEOPT, XSAVEC, XSAVES
    {CPUID_INDEX_80000008, kEbx, 0x0000'0201},  // CLZERO, WBNOINVD
    {CPUID_INDEX_7_ECX_1, kEax, ~0u},           // AVX-VNNI, AVX512-BF16 and newer ones
    {CPUID_INDEX_19, kEbx, 0x0000'0005},        // the key locker
    {CPUID_INDEX_14_ECX_0, kEbx, 0x0000'0010},  // PTWRITE
};

std::uint32_t read_register(unsigned leaf, Register from) {
    return __x86_get_cpuid_feature_leaf(leaf)->cpuid_array[from];
}

// The registers that the system saves for programs, without which they may not be used.
std::uint32_t saved_registers() {
    constexpr std::uint32_t kHasXgetbv = 1u << 27;
    if ((read_register(CPUID_INDEX_1, kEcx) & kHasXgetbv) == 0) return 0;
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    constexpr std::uint32_t kOfVectors = 0x0006'00e6;  // SSE, AVX, AVX-512, AMX
    return low & kOfVectors;
}

std::string text_of_processor() {
    // The stepping, its lowest four bits, changes no code.
    const std::uint32_t signature = read_register(CPUID_INDEX_1, kEax);
    unsigned family = (signature >> 8) & 15;
    unsigned model = (signature >> 4) & 15;
    if (family == 6 || family == 15) model += ((signature >> 16) & 15) << 4;
    if (family == 15) family += (signature >> 20) & 255;
    std::string text =
        "x86 family " + std::to_string(family) + " model " + std::to_string(model) + ", features ";
    for (const auto &[leaf, from, bits] : kSources) {
        text += hexadecimal_number(read_register(leaf, from) & bits) + ".";
    }
    return text + hexadecimal_number(saved_registers());
}

#else

std::string text_of_processor() {
    const auto *platform = reinterpret_cast<const char *>(getauxval(AT_PLATFORM));
    return std::string(platform == nullptr ? "?" : platform) + ", features " +
           hexadecimal_number(getauxval(AT_HWCAP)) + "." + hexadecimal_number(getauxval(AT_HWCAP2));
}

#endif

}  // namespace

std::string processor_text() {
    return text_of_processor();
}

// As Mesa counts them.
ProcessorCount count_processors() {
    ProcessorCount count = {0, ::sysconf(_SC_NPROCESSORS_CONF)};
    cpu_set_t usable;
    count.usable = ::sched_getaffinity(::getpid(), sizeof usable, &usable) == 0
                       ? CPU_COUNT(&usable)
                       : ::sysconf(_SC_NPROCESSORS_ONLN);
    count.usable = std::max(count.usable, 1L);
    count.configured = std::max(count.configured, count.usable);
    return count;
}

}  // namespace cairn
