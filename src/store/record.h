// The record: an entry in a segment, with everything needed to check it and to rebuild the index
// from it. Format: docs/formats/store.md, "Record".
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions over bytes.
// Failure: decoding answers nullopt to anything that is not exactly what was encoded at that place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "store/slot.h"

namespace cairn {

inline constexpr std::size_t kRecordHeaderSize = 64;
inline constexpr std::uint32_t kKeySizeMax = 65536;
inline constexpr std::uint32_t kValueSizeMax = (1u << 30) - 1;
inline constexpr std::uint32_t kRecordMagic = 0x43455243;  // "CREC"
inline constexpr std::size_t kRecordStateOffset = 4;
inline constexpr std::size_t kRecordCheckOffset = 48;
inline constexpr std::size_t kRecordReplacedOffset = 56;
// A record ends with its header's check once more: whoever goes from record to record can tell one
// whose writer died half-way, in whose place the next writer's records are.
inline constexpr std::size_t kRecordEndSize = 8;

// What a rebuilding of the index makes of a record. Not covered by its checksum, as it changes
// after the record was written: the codes differ in four bits or more, and one with a wrong bit is
// read as what it was. What is damaged worse, as by a power loss while it changed, counts as
// removed: no older value comes back.
enum class RecordState : std::uint8_t {
    live = 0x0F,     // may be published
    removed = 0xF0,  // by a call: neither this record nor an older one of its key may be published
    unused = 0x55,   // was never published: as if it were not there
};

enum class Codec : std::uint8_t { none = 0, zstd = 1 };

struct RecordHeader {
    RecordState state = RecordState::live;
    Codec codec = Codec::none;
    bool pinned = false;
    bool carried = false;          // was carried over from a segment that was given up
    bool incompressible = false;   // compressing was tried, and saved nothing
    std::uint32_t key_size = 0;    // bytes
    std::uint32_t value_size = 0;  // bytes as stored
    std::uint32_t raw_size = 0;    // bytes as given by the caller
    std::uint32_t cost_us = 0;
    std::uint64_t stamp_ns = 0;  // time of the put; later puts to the cache have greater ones
    std::uint64_t key_hash = 0;
    std::uint64_t value_check = 0;
    // The system start (Counter::boot) in which a newer record took its place; 0: none did. Until
    // the next start it is as if it were not there. After that the newer one may be lost with the
    // power, and this one counts again. Like the state not covered by the checksum, and read as
    // what it is nearest to.
    std::uint64_t replaced_in = 0;

    bool was_replaced(std::uint64_t boot) const;
    // Where the value begins, from the record's begin. A value is aligned to 16 bytes.
    std::uint64_t value_offset() const { return align_up(kRecordHeaderSize + key_size, 16); }
    std::uint64_t record_size() const {
        return align_up(value_offset() + value_size + kRecordEndSize, kRecordAlignment);
    }
};

// Ties a record to its place: copied elsewhere, it does not verify.
std::uint64_t record_seed(std::uint64_t cache_id, Location location);

// The end mark that belongs to a record's header.
inline Bytes record_end(Bytes header) {
    return header.subspan(kRecordCheckOffset, kRecordEndSize);
}

std::array<std::byte, kRecordHeaderSize> encode_record_header(const RecordHeader &header, Bytes key,
                                                              std::uint64_t seed);

// The header at the begin of `bytes`, if its fields are possible ones; the checksum is not looked
// at.
std::optional<RecordHeader> parse_record_header(Bytes bytes);

// The header at the begin of `bytes`, which hold the key behind it, if both verify.
std::optional<RecordHeader> decode_record_header(Bytes bytes, std::uint64_t seed);

std::uint64_t value_checksum(Bytes value);

}  // namespace cairn
