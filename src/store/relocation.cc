// SPDX-License-Identifier: MIT
#include "store/relocation.h"

namespace cairn {

Result<std::optional<Writer::Appended>> relocate(Index &index, Writer &writer,
                                                 const Relocation &entry) {
    RecordHeader header = entry.header;
    header.unmoved = true;
    TRY_ASSIGN(Writer::Appended copy,
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
    if (!moved) return std::optional<Writer::Appended>();
    (void)writer.mark_moved(copy.location, header.stamp_ns);
    return std::optional(std::move(copy));
}

Status finish_move(Index &index, RecordReader &reader, const Writer &writer,
                   const ScannedRecord &original) {
    const RecordHeader &header = original.header;
    std::optional<Location> copy;
    Status status;
    index.probe(header.key_hash, [&](Index::Place, Slot slot) {
        if (slot.tentative()) return false;
        const ReadRecord other =
            reader.read_key(index.identity().cache_id, slot, original.head->key());
        if (other.outcome == ReadOutcome::unreadable) status = Error::io;
        const bool is_copy = other.outcome == ReadOutcome::found && other.header.unmoved &&
                             other.header.stamp_ns == header.stamp_ns;
        if (is_copy) copy = slot.location();
        return copy.has_value() || !status.ok();
    });
    if (copy) return writer.mark_moved(*copy, header.stamp_ns);
    return status;
}

}  // namespace cairn
