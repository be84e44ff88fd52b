// The cache that docs/formats/store.md shows in hexadecimal: one entry, `teapot` -> `I am a
// teapot.`.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "store/index_format.h"
#include "store/record.h"
#include "store/segment_format.h"
#include "store/slot_place.h"
#include "store/stamp.h"

namespace cairn_test {

inline cairn::CacheIdentity example_identity() {
    cairn::CacheIdentity identity;
    identity.cache_id = 0x1122334455667788;
    identity.version = 3;
    identity.name_hash = cairn::cache_name_hash("example");
    identity.hash_seed = cairn::hash_seed_of(identity.cache_id);
    return identity;
}

inline constexpr std::string_view kExampleKey = "teapot";
inline constexpr std::string_view kExampleValue = "I am a teapot.";
inline constexpr cairn::Location kExampleLocation = {7, 64};

inline std::vector<std::byte> example_index_header() {
    const auto bytes = cairn::encode_index_header(example_identity());
    return {bytes.begin(), bytes.end()};
}

inline cairn::RecordHeader example_record() {
    cairn::RecordHeader header;
    header.pinned = true;
    header.key_size = kExampleKey.size();
    header.value_size = kExampleValue.size();
    header.raw_size = kExampleValue.size();
    header.cost_us = 1500;
    header.stamp_ns = cairn::stamp_at(cairn::kNewestFormat, 1'700'000'000'000'000'000);
    header.key_hash = cairn::keyed_hash(cairn::as_bytes(kExampleKey), example_identity().hash_seed);
    header.value_check = cairn::value_checksum(cairn::as_bytes(kExampleValue));
    return header;
}

// Header and record.
inline std::vector<std::byte> example_segment() {
    const auto head = cairn::encode_segment_header(example_identity(), kExampleLocation.segment);
    std::vector<std::byte> bytes(head.begin(), head.end());
    const auto key = cairn::as_bytes(kExampleKey);
    const auto value = cairn::as_bytes(kExampleValue);
    const auto header = example_record();
    const auto record = cairn::encode_record_header(
        header, key, cairn::record_seed(example_identity().cache_id, kExampleLocation));
    bytes.insert(bytes.end(), record.begin(), record.end());
    bytes.insert(bytes.end(), key.begin(), key.end());
    bytes.resize(kExampleLocation.offset + header.value_offset());
    bytes.insert(bytes.end(), value.begin(), value.end());
    bytes.resize(kExampleLocation.offset + header.record_size() - cairn::kRecordEndSize);
    const auto end = cairn::record_end(record, cairn::trace_of(example_identity()));
    bytes.insert(bytes.end(), end.begin(), end.end());
    return bytes;
}

inline cairn::Slot example_slot() {
    const auto header = example_record();
    return cairn::Slot::make(kExampleLocation, cairn::size_class(header.record_size()),
                             cairn::Slot::tag_of(header.key_hash));
}

// What the index file has in the first slot of the entry's bucket in the first level.
inline std::uint64_t example_word_in_file() {
    const std::uint64_t bucket = example_record().key_hash % cairn::kFirstLevelBuckets;
    const auto masks = cairn::bucket_masks(example_identity().format, 0, bucket);
    return example_slot().word() ^ masks.of(0);
}

}  // namespace cairn_test
