// Publishes a slot in the index by the protocol in store/index.h.
// SPDX-License-Identifier: MIT
//
// Thread safety: any number of threads and processes at once; waits some milliseconds at most.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "store/index.h"

namespace cairn {

enum class PublishPolicy {
    replace,  // unless its time stamp is greater
    if_absent,
};

// Returns the stamp of the record behind a slot; nullopt: it has another key than the one in
// question. corrupt: it is damaged; another error: it cannot be read now.
using Examine = std::function<Result<std::optional<std::uint64_t>>(Slot)>;

// The published slot of a key.
struct PublishedSlot {
    Index::Place place;
    Slot slot{0};
    std::uint64_t stamp_ns = 0;
};
Result<std::optional<PublishedSlot>> find_published(Index &index, std::uint64_t hash,
                                                    const Examine &examine);

struct Published {
    // unchanged: a slot leads to that record already. outdated: there is an entry with a greater
    // stamp; only a later put can have made it.
    enum class Outcome { added, replaced, unchanged, exists, outdated } outcome;
    PublishedSlot other = {};  // with `replaced` the older entry, with `outdated` the newer one
};

// Publishes `mine`. full: its buckets have no free place; grow the index and try again.
Result<Published> publish(Index &index, std::uint64_t hash, Slot mine, PublishPolicy policy,
                          std::uint64_t stamp_ns, const Examine &examine);

}  // namespace cairn
