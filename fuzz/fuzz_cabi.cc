// Sequences of calls of the C interface, compared with a model. An input is configuration, then
// operations.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "model/store_model.h"
#include "support/temp_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    constexpr std::size_t kOperationsMax = 400;
    const cairn_test::TempDirectory directory;
    const auto result = cairn_test::run_store_model({data, size}, directory.path(), kOperationsMax);
    if (!result.failure.empty()) {
        std::fprintf(stderr, "%s\n", result.failure.c_str());
        std::abort();
    }
    return 0;
}
