// SPDX-License-Identifier: MIT
#include "store/relocation.h"

#include "store/marks.h"
#include "store/segment_format.h"
#include "store/space.h"

namespace cairn {
namespace {

// For a record that its key's slot does not lead to.
Status finish_move(const Directory &directory, Index &index, RecordReader &reader,
                   const ScannedRecord &original) {
    const RecordHeader &header = original.header;
    Index::Candidates candidates(index, header.key_hash);
    while (const auto found = candidates.next()) {
        const Slot slot = found->slot;
        if (slot.tentative()) continue;
        const ReadRecord other =
            reader.read_key(index.identity().cache_id, slot, original.head->key());
        if (other.outcome == ReadOutcome::unreadable) {
            // If it may not be read, it is no copy for anybody, and stays as it is.
            if (reader.segments().is_unreadable(slot.location().segment)) continue;
            return Error::io;
        }
        const bool is_copy = other.outcome == ReadOutcome::found && other.header.unmoved &&
                             other.header.stamp_ns == header.stamp_ns;
        if (!is_copy) continue;
        const Status marked = mark_moved(directory, {slot.location(), header.stamp_ns});
        // One that may not be written stays as it is: only if the index is lost, its entry is.
        return marked.error() == Error::denied ? Status() : marked;
    }
    return {};
}

}  // namespace

Result<std::optional<SegmentEntry>> next_entry(const Directory &directory, Index &index,
                                               RecordReader &reader, SegmentScan &scan) {
    TRY_ASSIGN(auto record, scan.next(reader));
    if (!record) return std::optional<SegmentEntry>();
    const std::uint64_t hash = index.hash(record->head->key());
    index.withdraw_tentative(hash, record->location);
    const auto found = index.slot_at(hash, record->location);
    SegmentEntry entry{std::move(*record), hash, {}, {}};
    if (found) {
        entry.slot = found->slot;
    } else {
        entry.finished = finish_move(directory, index, reader, entry.record);
    }
    return std::optional(std::move(entry));
}

Status relocate(const Directory &directory, Index &index, Writer &writer, const Relocation &entry) {
    RecordHeader header = entry.header;
    header.state = RecordState::live;
    header.given_up_in = 0;
    header.unmoved = true;
    TRY_ASSIGN(const Writer::Appended copy,
               writer.append(index, header, entry.key, entry.value, entry.purpose));
    if (Writer::was_deleted(copy)) {
        writer.release_segment();
        return Error::busy;
    }
    const Slot target =
        Slot::make(copy.location, size_class(header.record_size()), Slot::tag_of(header.key_hash));
    const bool moved = index.change_slot(header.key_hash, entry.from, [&](Slot old) {
        return target.with_hits(entry.hits(old.hits())).word();
    });
    if (moved) (void)mark_moved(directory, {copy.location, header.stamp_ns});
    return {};
}

Status keep_removal(Index &index, Writer &writer, const ScannedRecord &removed, std::uint64_t boot,
                    Account::Purpose purpose) {
    const Bytes key = removed.head->key();
    const RecordHeader &before = removed.header;
    const RecordHeader header = removal_of(before.key_hash, key.size(), before.stamp_ns, boot);
    TRY_ASSIGN(const Writer::Appended kept, writer.append(index, header, key, {}, purpose));
    if (!Writer::was_deleted(kept)) return {};
    writer.release_segment();
    return Error::busy;
}

Status sync_copies(const Directory &directory, const Index &index) {
    return index.was_synced() ? sync_segments(directory) : Status();
}

std::string retired_name(std::uint32_t segment) {
    return "discarded-" + segment_file_name(segment) + ".tmp";
}

Result<std::optional<std::string>> retire_segment(const Directory &directory, Index &index,
                                                  std::uint32_t segment) {
    // Under its new name it is no segment any more, even if the file is deleted much later.
    const std::string name = segment_file_name(segment);
    const std::string discarded = retired_name(segment);
    const Status status = directory.rename(name, discarded);
    if (!status.ok() && status.error() != Error::not_found) return status.error();
    index.count_retired();
    return status.ok() ? std::optional(discarded) : std::nullopt;
}

Status discard_retired(const Directory &directory, const Index &index, const std::string &name) {
    if (index.was_synced()) TRY(directory.sync());
    return discard_segment(directory, name);
}

}  // namespace cairn
