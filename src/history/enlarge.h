// Replaces a history with room for few links by one for many, which knows the same. For a cache whose
// limit was raised.
// SPDX-License-Identifier: MIT
//
// The new file is whole before it has the name. Afterwards the old one is made void, so that
// processes which have it mapped come along. What they note in between is forgotten.
//
// Thread safety: any number of processes may be at it: one does it, the others find it done.
// Failure: the old file stays in use. Throws where there is no memory.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

// `small` was opened as `info` says. Ok: the file `history` is another one now. too_large: it would
// exceed `size_max`.
Status enlarge_history(const Directory &cache, const File &small, const FileInfo &info,
                       std::uint64_t size_max);

}  // namespace cairn
