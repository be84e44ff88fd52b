// The work of cairn-convert for the library: it lists the converters, or converts once.
// SPDX-License-Identifier: MIT
//
// The library (src/cache/conversion_worker.h) has the other end of standard input and output, which
// are one socket, and docs/convert.md has what is said on it. When it closes its end, the work is
// given up.
//
// Thread safety: the only thread of its process.
// Failure: an answer that says so.
#pragma once

#include <optional>
#include <vector>

#include "conversions/converter.h"

namespace cairn::conversions {

// The process's exit code; nothing where the arguments are not the library's.
std::optional<int> run_worker(const std::vector<const ShaderConverter *> &converters, int argc,
                              const char *const *argv);

}  // namespace cairn::conversions
