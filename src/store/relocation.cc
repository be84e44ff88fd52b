// SPDX-License-Identifier: MIT
#include "store/relocation.h"

namespace cairn {
namespace {

constexpr unsigned kPlaceBits = kSegmentIdBits + kOffsetBits;

// The word for a place: after damage it must not name another one.
std::uint64_t word_of(std::uint64_t place) {
    return place | (place + 1) * 0x9E3779B97F4A7C15u << kPlaceBits;
}

std::uint64_t announcement(Location location) {
    return word_of(std::uint64_t{location.segment} << kOffsetBits |
                   location.offset / kRecordAlignment);
}

std::optional<Location> announced(std::uint64_t word) {
    const std::uint64_t place = word & ((std::uint64_t{1} << kPlaceBits) - 1);
    if (word != word_of(place)) return std::nullopt;
    const std::uint64_t offset = place & ((std::uint64_t{1} << kOffsetBits) - 1);
    return Location{static_cast<std::uint32_t>(place >> kOffsetBits), offset * kRecordAlignment};
}

}  // namespace

Result<std::optional<Writer::Appended>> relocate(Index &index, Writer &writer,
                                                 const Relocation &entry) {
    auto carrying = index.counter(Counter::carrying);
    auto appended =
        writer.append(index, entry.header, entry.key, entry.value, entry.purpose,
                      [&](Location location) { carrying.store(announcement(location)); });
    if (!appended.ok()) {
        carrying.store(0);  // what there is of it has no end
        return appended.error();
    }
    const Location location = appended->location;
    const Slot target = Slot::make(location, size_class(entry.header.record_size()),
                                   Slot::tag_of(entry.header.key_hash));
    const bool deleted = Writer::was_deleted(*appended);
    const bool moved =
        !deleted && index.change_slot(entry.header.key_hash, entry.from, [&](Slot old) {
            return target.with_hits(entry.hits(old.hits())).word();
        });
    if (!moved) (void)writer.mark(location, entry.header.stamp_ns, RecordState::unused);
    carrying.store(0);
    if (deleted) {
        writer.release_segment();
        return Error::busy;
    }
    if (!moved) return std::optional<Writer::Appended>();
    return std::optional(std::move(*appended));
}

Status withdraw_unfinished_copy(Index &index, RecordReader &reader, const Writer &writer) {
    const std::uint64_t word = index.counter(Counter::carrying).load();
    if (word == 0) return {};
    if (const auto place = announced(word)) {
        TRY(index.refresh());
        RecordHeader header;
        const ReadBlob copy = reader.read_any_key(index.identity().cache_id, *place, header);
        if (copy.outcome == ReadOutcome::unreadable) return Error::io;
        Index::Place slot;
        const bool unfinished =
            copy.outcome == ReadOutcome::found && !index.slot_at(header.key_hash, *place, slot);
        if (unfinished) TRY(writer.mark(*place, header.stamp_ns, RecordState::unused));
    }
    index.counter(Counter::carrying).store(0);
    return {};
}

}  // namespace cairn
