// Copies entries out of a segment that is being evicted or compressed, and moves their slots.
// SPDX-License-Identifier: MIT
//
// A copy has the stamp of its original, and a byte that says whether the slot has moved to it. So a
// process may die at any moment:
//  - before the slot has moved: the copy counts for nothing;
//  - before that byte says so: the original counts, until somebody goes over its segment again and
//    finishes the move. A removal or a later put finds the copy by its slot and marks that; of
//    records of one stamp the dead one counts.
//
// Thread safety: the caller holds the eviction lock, which excludes other threads, too.
#pragma once

#include <optional>

#include "base/result.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/writer.h"

namespace cairn {

// An entry to be relocated: where it is, and how to write its copy.
struct Relocation {
    Location from;
    RecordHeader header;
    Bytes key;
    Bytes value;  // as stored
    Writer::Purpose purpose;
    unsigned (*hits)(unsigned);  // from the original's hit count to the copy's
};

// Returns the copy if the slot leads to it now; nullopt: the entry was replaced or removed
// meanwhile. busy: the copy's segment was deleted meanwhile. Other errors as Writer::append();
// after an error the entry is where it was.
Result<std::optional<Writer::Appended>> relocate(Index &index, Writer &writer,
                                                 const Relocation &entry);

// For a record that its key's slot does not lead to: finishes its relocation if its process died
// after the slot had moved. io: a record cannot be read now. Else as Writer::mark().
Status finish_move(Index &index, RecordReader &reader, const Writer &writer,
                   const ScannedRecord &original);

}  // namespace cairn
