// Calls on D3D12's shader cache sessions, in memory and on disk, beside a reference of them; the
// calls also change what all sessions may do.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "d3d12/sequence.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    constexpr size_t kInputMax = 2048;
    const auto result = d3d12_test::play_sequence({data, size < kInputMax ? size : kInputMax});
    if (!result.difference.empty()) {
        std::fprintf(stderr, "%s\n", result.difference.c_str());
        std::abort();
    }
    return 0;
}
