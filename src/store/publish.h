// Publishes a slot in the index: the protocol that store/index.h describes, for puts and for the
// rebuilding of an index.
// SPDX-License-Identifier: MIT
//
// Thread safety: any number of threads and processes at once; waits for none of them longer than
// some milliseconds.
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
    if_newer,  // replace an entry whose time stamp is smaller
};

// The record behind a slot: nullopt when it has not the key in question; corrupt when it is not
// whole; another error when that cannot be told.
struct SameKey {
    std::uint64_t stamp_ns;
};
using Examine = std::function<Result<std::optional<SameKey>>(Slot)>;

// The published slot of a key.
struct PublishedSlot {
    Index::Place place;
    Slot slot{0};
    std::uint64_t stamp_ns = 0;
};
Result<std::optional<PublishedSlot>> find_published(Index &index, std::uint64_t hash,
                                                    const Examine &examine);

struct Published {
    // outdated: there is a newer entry, which only a put that began later can have made.
    enum class Outcome { added, replaced, exists, outdated } outcome;
    std::uint64_t newer_stamp_ns = 0;  // with `outdated`
};

// Asked last: while our slot is tentative, and so keeps others from publishing the key (null), or
// before the slot of an older entry is replaced. false gives up, with the outcome `exists`.
using Confirm = std::function<Result<bool>(const PublishedSlot *older)>;

// Publishes `mine`. full: its buckets have no place; grow the index and try again.
Result<Published> publish(Index &index, std::uint64_t hash, Slot mine, PublishPolicy policy,
                          std::uint64_t stamp_ns, const Examine &examine,
                          const Confirm &confirm = nullptr);

}  // namespace cairn
