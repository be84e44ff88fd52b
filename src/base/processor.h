// Which vector instructions the processor has and the system lets programs use.
// SPDX-License-Identifier: MIT
//
// The loader has asked the processor already; asking again would cost a trap for each question in
// a virtual machine, tens of microseconds in every process.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
// glibc's header has C's name for it, which Clang does not know in C++.
#define _Bool bool
#include <sys/platform/x86.h>
#undef _Bool
#endif

namespace cairn {

inline bool has_avx2() {
#if defined(__x86_64__) || defined(__i386__)
    return CPU_FEATURE_ACTIVE(AVX2);
#else
    return false;
#endif
}

// The foundation and the forms of its instructions for vectors of 16 and 32 bytes.
inline bool has_avx512() {
#if defined(__x86_64__) || defined(__i386__)
    return CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512VL);
#else
    return false;
#endif
}

}  // namespace cairn
