// SPDX-License-Identifier: MIT
// The packs that are installed below the root: `<root>/.packs/NAME/*.pack` (docs/packs.md).
// Thread safety: used by main only.
// Failure: a Failure that names the file and the reason.
#pragma once

#include "signature.h"
#include "text.h"

namespace cairn::cli {

// Removes an installed pack, and what was left unfinished of it, so that a power loss does not bring it
// back. One that is gone already is no failure.
void remove_pack(const std::string &path);

// Removes every installed pack whose trailer names this key, whether or not its signature fits, and
// returns their paths. Processes that have one open keep it until they end. What cannot be removed
// is a Failure, after all others are gone.
Words remove_packs_signed_by(const PublicKey &key);

}  // namespace cairn::cli
