// SPDX-License-Identifier: MIT
#include "store/relocation.h"

namespace cairn {
namespace {

constexpr unsigned kPlaceBits = kSegmentIdBits + kOffsetBits;

// The word for a location, with check bits: after damage or a system start it names none.
std::uint64_t word_of(std::uint64_t place, std::uint64_t boot) {
    return place | (place + 1 + boot) * 0x9E3779B97F4A7C15u << kPlaceBits;
}

std::uint64_t boot_of(const Index &index) {
    return index.counter(Counter::boot).load(std::memory_order_relaxed);
}

void announce(const Index &index, Counter counter, Location location) {
    const std::uint64_t place =
        std::uint64_t{location.segment} << kOffsetBits | location.offset / kRecordAlignment;
    index.counter(counter).store(word_of(place, boot_of(index)));
}

std::optional<Location> announced(const Index &index, Counter counter) {
    const std::uint64_t word = index.counter(counter).load();
    const std::uint64_t place = word & ((std::uint64_t{1} << kPlaceBits) - 1);
    if (word != word_of(place, boot_of(index))) return std::nullopt;
    const std::uint64_t offset = place & ((std::uint64_t{1} << kOffsetBits) - 1);
    return Location{static_cast<std::uint32_t>(place >> kOffsetBits), offset * kRecordAlignment};
}

// The copy may be lost with the power, so it replaces the original only until then.
void leave(const Index &index, const Writer &writer, Location original, std::uint64_t stamp_ns) {
    (void)writer.mark_replaced(original, stamp_ns, boot_of(index));
}

}  // namespace

Result<std::optional<Writer::Appended>> relocate(Index &index, Writer &writer,
                                                 const Relocation &entry) {
    auto copying = index.counter(Counter::copying);
    announce(index, Counter::copying_from, entry.from);
    auto appended =
        writer.append(index, entry.header, entry.key, entry.value, entry.purpose,
                      [&](Location location) { announce(index, Counter::copying, location); });
    if (!appended.ok()) {
        copying.store(0);  // an unfinished copy counts for nothing
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
    if (moved && entry.segment_may_stay) leave(index, writer, entry.from, entry.header.stamp_ns);
    copying.store(0);
    if (deleted) {
        writer.release_segment();
        return Error::busy;
    }
    if (!moved) return std::optional<Writer::Appended>();
    return std::optional(std::move(*appended));
}

bool is_being_moved(const Index &index, Location location) {
    if (index.counter(Counter::copying).load() == 0) return false;
    return announced(index, Counter::copying) == location ||
           announced(index, Counter::copying_from) == location;
}

// Of the two records only the one that a slot leads to counts from now on. No slot leads to either
// if the entry was replaced or dropped since.
Status finish_unfinished_move(Index &index, RecordReader &reader, const Writer &writer) {
    if (index.counter(Counter::copying).load() == 0) return {};
    if (const auto place = announced(index, Counter::copying)) {
        TRY(index.refresh());
        const ReadRecord copy = reader.read_any_key(index.identity().cache_id, *place);
        if (copy.outcome == ReadOutcome::unreadable) return Error::io;
        if (copy.outcome == ReadOutcome::found) {
            const RecordHeader &header = copy.header;
            const auto original = announced(index, Counter::copying_from);
            if (original && !index.leads_to(header.key_hash, *original)) {
                leave(index, writer, *original, header.stamp_ns);
            }
            if (!index.leads_to(header.key_hash, *place)) {
                TRY(writer.mark(*place, header.stamp_ns, RecordState::unused));
            }
        }
    }
    index.counter(Counter::copying).store(0);
    return {};
}

}  // namespace cairn
