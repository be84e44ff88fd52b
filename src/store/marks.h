// Marks on records: what has become of them since they were written, for rebuilds.
// SPDX-License-Identifier: MIT
//
// Format: docs/formats/store.md; who marks what: docs/decisions/007.
//
// Thread safety: any thread and process; nobody takes a mark back.
// Failure: as the kernel says; then damage may bring an entry back. A record that is gone needs no
// mark: that is no failure.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/file.h"
#include "store/record.h"
#include "store/slot.h"

namespace cairn {

// A record. The stamp is there because the number of a deleted segment may be in use again.
struct RecordId {
    Location location;
    std::uint64_t stamp_ns;
};

Status mark_state(const Directory &directory, const RecordId &record, RecordState state);
// That it was removed, in the system start `boot`.
Status mark_removed(const Directory &directory, const RecordId &record, std::uint64_t boot);
// That it was given up in the system start `boot`.
Status mark_given_up(const Directory &directory, const RecordId &record, GivenUp reason,
                     std::uint64_t boot);
// That the slot of its entry leads to it, a copy, now.
Status mark_moved(const Directory &directory, const RecordId &record);

}  // namespace cairn
