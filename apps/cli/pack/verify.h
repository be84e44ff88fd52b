// Looks at every byte of a pack that matters.
// SPDX-License-Identifier: MIT
#pragma once

#include "pack/files.h"

namespace cairn::cli {

// What is damaged, a line each; nothing: it is whole. Shows its progress.
Words damages_of(const OpenPack &pack);

}  // namespace cairn::cli
