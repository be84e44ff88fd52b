// Some tests try each system call, or each pair of settings. Their short form takes a part, another one for each
// error; CAIRN_TEST_LONG=1 takes all (`make test LONG=1`). Under AddressSanitizer they take a smaller part.
// SPDX-License-Identifier: MIT
//
// Thread safety: reads the environment.
#pragma once

#include <cstdlib>

namespace cairn_test {

inline bool is_long_form() {
    return std::getenv("CAIRN_TEST_LONG") != nullptr;
}

// Under AddressSanitizer all that starts processes takes some ten times as long.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kIsSlow = true;
#else
inline constexpr bool kIsSlow = false;
#endif

}  // namespace cairn_test
