// Moves entries out of a segment that is being given up or compressed.
// SPDX-License-Identifier: MIT
//
// A copy of the record is written, then the slot follows by compare-and-swap. In between there are
// two whole records of one entry. A process that dies there would leave both, and a later removal
// marks only the one that the slot leads to: so the place of the copy stands in the index
// (Counter::carrying) for that time, and who moves the next entry first withdraws a copy that no
// slot leads to. As entries are moved and segments deleted under one lock, no segment goes before.
// A search of the segments publishes neither meanwhile.
//
// What was announced before a system start is void: nobody lives who moves it, and both records
// count until the search after the start has chosen.
//
// Afterwards the original counts as replaced, in this system start: its segment may stay, where
// nothing is deleted in the end. A segment that is being given up goes, whoever finishes that.
//
// Thread safety: the eviction lock is held by the caller, and excludes other threads, too.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/writer.h"

namespace cairn {

// What an entry that is to be moved is written with, and where it is.
struct Relocation {
    Location from;
    RecordHeader header;
    Bytes key;
    Bytes value;  // as stored
    Writer::Purpose purpose;
    bool segment_may_stay;       // of the original
    unsigned (*hits)(unsigned);  // the hit count of the moved entry
};

// The copy, if the slot leads to it now; nullopt: the entry was replaced or removed meanwhile.
// busy: the segment that the copy went to was deleted meanwhile. Other errors as Writer::append;
// after one the entry is where it was.
Result<std::optional<Writer::Appended>> relocate(Index &index, Writer &writer,
                                                 const Relocation &entry);

// Whether an entry is just being copied from or to a place, or was by somebody who died.
bool is_being_moved(const Index &index, Location location);

// Finishes what somebody who died was about to move, one way or the other. io: what it is cannot be
// told now.
Status finish_unfinished_move(Index &index, RecordReader &reader, const Writer &writer);

}  // namespace cairn
