// Plans one pack of several: what they have of one cache becomes one part.
// SPDX-License-Identifier: MIT
//
// Thread safety: used by main only.
// Failure: a Failure for a part that says of itself what cannot be (see visit_entries). An entry that
// cannot be found is counted and left out.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/files.h"
#include "pack/plan.h"

namespace cairn::cli {

// The parts in the order in which the packs have them first. Where several packs have an entry with the
// same key, it is the first one's. An order of a start has the first pack's keys first. The plans keep
// the packs open. `lost` grows by the entries that packs are said to have and that cannot be found.
std::vector<PlannedPart> plan_merge(std::vector<OpenPack> packs, std::uint64_t &lost);

}  // namespace cairn::cli
