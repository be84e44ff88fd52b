// Publishes what this machine has of an application and nobody has published yet.
// SPDX-License-Identifier: MIT
//
// Packs are put first, then a manifest that lists them and all that this machine has published before, and then its
// older manifests are removed. So nothing is ever listed that is not there.
//
// Thread safety: used by main only; several processes may publish at once.
// Failure: a RemoteFailure; what was not listed yet is published by the next one. A Failure where this machine has no
// room for a pack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine.h"
#include "pack/plan.h"
#include "shelf.h"
#include "signature.h"

namespace cairn::fleet {

struct Pushed {
    std::uint64_t packs = 0, entries = 0, bytes = 0;  // that went
    cli::Words problems;                              // why something there did not count
};

// `parts`: what there is here of NAME for the driver of this text.
Pushed push(OpenRemote &remote, const Machine &machine, const std::string &name,
            const std::string &driver_text, std::vector<cli::PlannedPart> parts,
            const std::string &key_name);

}  // namespace cairn::fleet
