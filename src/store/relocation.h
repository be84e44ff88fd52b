// Takes a segment apart, for the evictor and the compactor.
// SPDX-License-Identifier: MIT
//
// They go over its entries with next_entry(), copy those that stay with relocate(), which has their
// slots lead to the copies, and take the segment out of the cache with retire_segment().
//
// A copy has the stamp of its original, and a byte that says whether the slot has moved to it. So a
// process may die at any moment:
//  - before the slot has moved: the copy counts for nothing;
//  - before that byte says so: the original counts, until somebody goes over its segment again and
//    finishes the move. A removal or a later put finds the copy by its slot and marks that; of
//    records of one stamp the dead one counts.
//
// Why readers are safe: a slot changes from the original to the copy, or to empty, by
// compare-and-swap. The file is deleted only when no slot leads to it, and a process that has it
// open can go on reading. A reader that comes too late finds no file, sees that the slot has
// changed, and looks again.
//
// Thread safety: nobody writes to the segment meanwhile. For relocate() and retire_segment() the
// caller holds the eviction lock, which excludes other threads, too.
// Failure: system errors; an entry that was not copied is where it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/writer.h"

namespace cairn {

// A record of a segment that is being taken apart.
struct SegmentEntry {
    ScannedRecord record;
    std::uint64_t key_hash;
    std::optional<Slot> slot;  // that leads to the record; nullopt: it is not the entry of its key
    // Whether no move to a copy is left unfinished. io: the copy cannot be read now; or as
    // mark_moved().
    Status finished;
};
// The next record of a segment without a writer; nullopt at the end. Withdraws tentative slots that
// lead to it, and finishes the move to a copy whose process died after the slot had moved. Errors
// as SegmentScan::next().
Result<std::optional<SegmentEntry>> next_entry(const Directory &directory, Index &index,
                                               RecordReader &reader, SegmentScan &scan);

// An entry to be relocated: where it is, and how to write its copy.
struct Relocation {
    Location from;
    RecordHeader header;
    Bytes key;
    Bytes value;  // as stored
    Account::Purpose purpose;
    unsigned (*hits)(unsigned);  // from the original's hit count to the copy's
};
// After success the slot leads to the copy, or the entry was replaced or removed meanwhile. busy:
// the copy's segment was deleted meanwhile. Other errors as Writer::append(); after an error the
// entry is where it was.
Status relocate(const Directory &directory, Index &index, Writer &writer, const Relocation &entry);

// Writes a record that says the same of older records of its key as one that was removed in the system
// start `boot`. Errors as relocate().
Status keep_removal(Index &index, Writer &writer, const ScannedRecord &removed, std::uint64_t boot,
                    Account::Purpose purpose);

// Durable entries stay durable: syncs the copies before the originals go, unless the cache was
// never synced.
Status sync_copies(const Directory &directory, const Index &index);
// The name of a segment's file from then on, until it is deleted.
std::string retired_name(std::uint32_t segment);
// Takes a segment that no slot leads to out of the cache. Returns the name of the file to be
// deleted; nullopt: another process deleted it.
Result<std::optional<std::string>> retire_segment(const Directory &directory, Index &index,
                                                  std::uint32_t segment);
// Deletes that file. A power loss must not bring its name back once it is cut: some of the records
// would be gone, and older ones of their keys still there. So this syncs the directory first, unless
// the cache was never synced. After an error the file is left to Writer::remove_litter().
Status discard_retired(const Directory &directory, const Index &index, const std::string &name);

}  // namespace cairn
