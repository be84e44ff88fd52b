// SPDX-License-Identifier: MIT
// The packs that are installed below the root: `<root>/.packs/NAME/*.pack` (docs/packs.md).
// Thread safety: used by main only.
// Failure: a Failure that names the file and the reason.
#pragma once

#include <string>
#include <string_view>

#include "signature.h"
#include "text.h"

namespace cairn::cli {

// Removes an installed pack, and what was left unfinished of it, so that a power loss does not bring it
// back. One that is gone already is no failure.
void remove_pack(const std::string &path);

// The packs that Cairn merges from what several keys have signed are files whose names begin so. Nobody has
// signed them: their text has a line for each signer, this and the fingerprint of the key.
inline constexpr std::string_view kFleetPackBeginning = "fleet-";
inline constexpr std::string_view kSignedByLine = "Signed by: ";

// Removes every installed pack whose trailer names this key, whether or not its signature fits, and
// those that were merged from packs of this key; returns their paths. Processes that have one open keep
// it until they end. What cannot be removed is a Failure, after all others are gone.
Words remove_packs_signed_by(const PublicKey &key);

}  // namespace cairn::cli
