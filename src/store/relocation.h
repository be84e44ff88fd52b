// Copies entries out of a segment that is being evicted or compressed, and moves their slots.
// SPDX-License-Identifier: MIT
//
// Relocating writes a copy, then moves the slot to it by compare-and-swap. In between there are two
// whole records of one entry. If a process died there, a later removal would mark only the one that
// the slot leads to, and the other could come back. So Counter::copying names the copy's location
// for that time, and the next process that relocates first marks a copy that no slot leads to.
// Relocating and retiring take the same lock, so no segment is retired before that. A rebuild
// publishes neither record meanwhile.
//
// A system start makes the announcement void: the process is dead, and both records count until the
// rebuild after the start has chosen one.
//
// Afterwards the original is marked as replaced in this system start if its segment may stay, as
// after a compression that failed. A victim never stays: some process finishes the eviction.
//
// Thread safety: the caller holds the eviction lock, which excludes other threads, too.
#pragma once

#include <optional>

#include "base/result.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/writer.h"

namespace cairn {

// An entry to be relocated: where it is, and how to write its copy.
struct Relocation {
    Location from;
    RecordHeader header;
    Bytes key;
    Bytes value;  // as stored
    Writer::Purpose purpose;
    bool segment_may_stay;       // the original's
    unsigned (*hits)(unsigned);  // from the original's hit count to the copy's
};

// Returns the copy if the slot leads to it now; nullopt: the entry was replaced or removed
// meanwhile. busy: the copy's segment was deleted meanwhile. Other errors as Writer::append();
// after an error the entry is where it was.
Result<std::optional<Writer::Appended>> relocate(Index &index, Writer &writer,
                                                 const Relocation &entry);

// Whether the record at a location is an original or a copy of an unfinished relocation.
bool is_being_moved(const Index &index, Location location);

// Finishes a relocation of a process that died. io: the copy cannot be read now.
Status finish_unfinished_move(Index &index, RecordReader &reader, const Writer &writer);

}  // namespace cairn
