// Entries of an EGL display's program cache: the head by which a whole one is known.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/egl.md. The check ties an entry to its key: a binary under another key is
// as little whole as one that was cut. It is no signature: anybody can compute it.
//
// Thread safety: pure functions.
#pragma once

#include "base/bytes.h"

namespace cairn::egl_entry {

inline constexpr std::size_t kKeySize = 20;
inline constexpr std::size_t kMagicSize = 4;
inline constexpr std::size_t kSealSize = 16;
inline constexpr std::size_t kHeadSize = kMagicSize + kSealSize;

// REQUIRES: `entry` is larger than the head, the key has kKeySize bytes.
void seal(Bytes key, MutableBytes entry);
// For bytes of any size.
bool is_whole(Bytes key, Bytes entry);

}  // namespace cairn::egl_entry
