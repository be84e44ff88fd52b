// Small files of a cache that others find whole or not at all.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

// Makes a file of `size` bytes that begins with `head`, all of whose blocks are there, in the place of
// whatever has that name. A process that is killed meanwhile leaves a temporary file.
Status make_small_file(const Directory &directory, const char *name, Bytes head,
                       std::uint64_t size);

}  // namespace cairn
