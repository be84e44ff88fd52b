// Fetches a pack that a manifest lists and looks whether it is what it should be, for pulls and for questions.
// SPDX-License-Identifier: MIT
//
// Thread safety: one thread for each shelf.
// Failure: a RemoteFailure where the remote fails, and a Failure that says why a pack does not count.
#pragma once

#include <optional>
#include <string>

#include "machine.h"
#include "shelf.h"

namespace cairn::fleet {

// A pack that counts: whole, signed by this key, and all of its parts are of NAME and of the driver with this text.
// nullopt: it is not there, or is not what was listed, which the shelf's problems say.
std::optional<TemporaryPack> fetch_pack(Shelf &shelf, const ListedPack &pack,
                                        const cli::PublicKey &signer, const std::string &name,
                                        const std::string &driver_text);

}  // namespace cairn::fleet
