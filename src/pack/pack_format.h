// The bytes of a pack: its header with a row for each part, the slots of an index, and records.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/formats/pack.md. Thread safety: pure functions.
// Failure: what is not whole in every byte decodes to nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cairn {

inline constexpr std::uint32_t kPackFormatVersion = 1;
inline constexpr std::size_t kPackHeaderSize = 8192;
inline constexpr std::size_t kPackRowSize = 128;
inline constexpr std::size_t kPackPartsMax = kPackHeaderSize / kPackRowSize - 1;
inline constexpr std::size_t kPackTrailerSize = 128;  // the signature, behind the body
inline constexpr std::size_t kPackSlotSize = 16;
inline constexpr std::size_t kPackSlotsPerBucket = 4;
inline constexpr std::size_t kPackBucketSize = kPackSlotSize * kPackSlotsPerBucket;
inline constexpr std::size_t kPackRecordHeaderSize = 32;
inline constexpr std::uint64_t kPackUnit = 16;  // records and sections begin at multiples of it
inline constexpr std::uint32_t kPackSlotsMax = 1u << 24;
inline constexpr std::uint32_t kPackProbesMax = 4096;    // far more than chance makes necessary
inline constexpr std::size_t kPackTextMax = 128u << 10;  // of a part, and of the whole pack
inline constexpr std::size_t kPackDictionaryMax = 128u << 10;

// What a part has entries of. A reader passes over parts of other kinds.
enum class PackKind : std::uint32_t {
    entries = 1,       // of a cache
    driver_files = 2,  // of a driver's own cache: the keys are names below its directory
};

// Decides whether a part is of a cache: a digest of the part's kind, the cache's identifier, the
// version of its contents, and the text of its generation, which is empty for other caches.
using PackIdentity = std::array<std::byte, 32>;
struct PackSubject {
    PackKind kind = PackKind::entries;
    std::string_view identifier;
    std::uint64_t version = 0;
    std::string_view generation;
};
PackIdentity identity_of(const PackSubject &subject);

struct PackRow {
    PackKind kind = PackKind::entries;
    PackIdentity identity = {};
    std::uint64_t text_offset = 0;  // see PackPartText
    std::uint32_t text_size = 0;
    std::uint32_t entry_count = 0;
    std::uint64_t index_offset = 0;
    std::uint32_t bucket_count = 0;  // a power of two
    std::uint32_t probes_max = 0;    // buckets that a look-up reads at most
    std::uint64_t order_offset = 0;  // numbers of slots, in the order of a start
    std::uint32_t order_count = 0;
    std::uint32_t dictionary_size = 0;    // 0: there is none
    std::uint64_t dictionary_offset = 0;  // of two copies, one behind the other
    std::uint64_t dictionary_check = 0;
    std::uint64_t content_id = 0;  // differs when an entry does
    std::uint64_t text_check = 0;

    std::uint64_t seed() const { return get_le<std::uint64_t>(identity, 0); }
    std::uint32_t slot_count() const {
        return bucket_count * static_cast<std::uint32_t>(kPackSlotsPerBucket);
    }
    std::uint64_t index_size() const { return std::uint64_t{bucket_count} * kPackBucketSize; }
};

struct PackHeader {
    std::uint64_t body_size = 0;  // of the file without its trailer
    std::uint64_t about_offset = 0;
    std::uint32_t about_size = 0;
    std::uint64_t about_check = 0;
    std::vector<PackRow> rows;
};

using PackHeaderBytes = std::array<std::byte, kPackHeaderSize>;
// REQUIRES: at most kPackPartsMax rows.
PackHeaderBytes encode_pack_header(const PackHeader &header);
// Checks the checksum and the numbers against one another, and not against a file.
std::optional<PackHeader> decode_pack_header(Bytes bytes);
// Whether this begins a pack of another format version.
bool is_other_pack_version(Bytes bytes);

// The text of a part: "IDENTIFIER\nVERSION\n", then that of the generation.
std::string encode_part_text(const PackSubject &subject);
// The views are of `text`.
std::optional<PackSubject> decode_part_text(std::string_view text, PackKind kind);

// Where a key's record is.
struct PackSlot {
    std::uint32_t tag = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // of the record; both are multiples of kPackUnit
};
using PackSlotBytes = std::array<std::byte, kPackSlotSize>;
// `number` is the slot's place in its part.
PackSlotBytes encode_pack_slot(const PackSlot &slot, std::uint32_t number);
std::optional<PackSlot> decode_pack_slot(Bytes bytes, std::uint32_t number);
bool is_empty_pack_slot(Bytes bytes);

// Decides the bucket by its low half, and is the tag in its high half.
std::uint64_t pack_key_hash(Bytes key, std::uint64_t seed);
inline std::uint32_t pack_tag(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32);
}

enum class PackCodec : std::uint8_t { raw, zstd, zstd_with_dictionary };

struct PackRecord {
    PackCodec codec = PackCodec::raw;
    bool pinned = false;
    std::uint32_t key_size = 0;
    std::uint32_t value_size = 0;  // as stored
    std::uint32_t raw_size = 0;
    std::uint32_t cost_us = 0;

    std::size_t value_offset() const {
        return align_up(kPackRecordHeaderSize + std::size_t{key_size}, kPackUnit);
    }
    std::uint64_t size() const {
        return align_up(std::uint64_t{value_offset()} + value_size, kPackUnit);
    }
};

// Lays out a record; the value is as stored. Returns its check.
std::uint64_t encode_pack_record(const PackRecord &record, Bytes key, Bytes value,
                                 std::uint64_t offset, std::uint64_t seed, MutableBytes out);
// The header alone, so far as the numbers in it are possible in so many bytes. Not verified.
std::optional<PackRecord> look_at_pack_record(Bytes beginning, std::uint64_t record_size);
// Verifies the whole record, which lies at this offset of the file.
std::optional<PackRecord> decode_pack_record(Bytes record, std::uint64_t offset,
                                             std::uint64_t seed);

}  // namespace cairn
