// Drives the public C interface with operations read from bytes and compares every answer with that
// of a std::map.
// SPDX-License-Identifier: MIT
//
// The same body is the model test (bytes from a seeded generator) and the fuzz target (bytes from
// libFuzzer).
//
// Thread safety: externally synchronised.
// Failure: the first wrong answer ends the run and is described in the result.
#pragma once

#include <cstddef>
#include <string>

#include "support/cache.h"

namespace cairn_test {

struct ModelResult {
    std::string failure;         // "" when every answer was right
    std::size_t operations = 0;  // done
};

// `root` is a directory that holds no cache named "model". The first bytes choose disk or memory
// mode and the limits; the rest are operations, of which at most `operations_max` are done.
ModelResult run_store_model(ByteView input, const std::string &root, std::size_t operations_max);

}  // namespace cairn_test
