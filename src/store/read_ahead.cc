// Look-ups for reading ahead.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <unordered_map>

#include "store/space.h"
#include "store/store.h"

namespace cairn {

namespace {

// The value of the first published slot for which read(slot) finds the key.
template <typename Read>
BlobRef first_found(Index &index, std::uint64_t hash, Read read) {
    BlobRef found;
    index.probe(hash, [&](Index::Place, Slot slot) {
        if (!slot.tentative()) found = read(slot).blob;
        return static_cast<bool>(found);
    });
    return found;
}

}  // namespace

BlobRef Store::peek(Bytes key) {
    Index &index = this->index();
    return first_found(index, index.hash(key), [&](Slot slot) {
        return reader_.read(index.identity().cache_id, slot, key);
    });
}

BlobRef Store::get_cached(Bytes key) {
    Index &index = this->index();
    const std::uint64_t hash = index.hash(key);
    if (!index.is_cached(hash)) return {};
    BlobRef found = first_found(index, hash, [&](Slot slot) {
        return reader_.read_cached(index.identity().cache_id, slot, key);
    });
    if (!found) return found;
    count(hits);
    count(bytes_read, found->value().size());
    return found;
}

BlobRef Store::key_at(Location location) {
    return reader_.read_any_key(index().identity().cache_id, location).blob;
}

std::vector<Location> Store::newest(std::size_t count_max) {
    std::vector<Location> places;
    const auto use = measure_disk_use(directory_);
    if (!use.ok()) return places;
    std::unordered_map<std::uint32_t, std::uint64_t> modified_ns;
    for (const SegmentFile &file : use->segments) modified_ns[file.segment] = file.modified_ns;
    Index &index = this->index();
    index.for_each([&](Index::Place, Slot slot) {
        if (modified_ns.contains(slot.location().segment)) places.push_back(slot.location());
        return places.size() == count_max;
    });
    std::sort(places.begin(), places.end(), [&](const Location &a, const Location &b) {
        if (a.segment == b.segment) return a.offset > b.offset;
        const std::uint64_t a_ns = modified_ns[a.segment], b_ns = modified_ns[b.segment];
        return a_ns != b_ns ? a_ns > b_ns : a.segment > b.segment;
    });
    return places;
}

}  // namespace cairn
