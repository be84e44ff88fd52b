// The record: an entry in a segment, with all that is needed to check it and to rebuild the index.
// Format: docs/formats/store.md, "Record".
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions over bytes.
// Failure: decoding returns nullopt for all but what was encoded for that location.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "store/slot.h"
#include "store/uses.h"

namespace cairn {

inline constexpr std::size_t kRecordHeaderSize = 64;
inline constexpr std::uint32_t kKeySizeMax = 65536;
inline constexpr std::uint32_t kValueSizeMax = (1u << 30) - 1;
inline constexpr std::uint32_t kRecordMagic = 0x43455243;  // "CREC"
inline constexpr std::size_t kRecordStateOffset = 4;
inline constexpr std::size_t kRecordCheckOffset = 48;
inline constexpr std::size_t kRecordUnmovedOffset = 56;
inline constexpr std::size_t kRecordGivenUpOffset = 57;
// A record ends with its header's check again, combined with the trace of its cache. A record without
// that end was torn: its writer died, and the records of the next writer may begin inside it.
inline constexpr std::size_t kRecordEndSize = 8;

// What a rebuild is to make of a record. This is said after the record was written, in bytes that the
// checksum does not cover. Each thing has bytes of its own: saying one takes back no other.
//
// Of the records of a key, the one with the greatest stamp counts: it is the entry if it is live, else
// there is none. A copy has the stamp of its original; if one of the two is dead, both are.
//
// The codes differ in four bits or more, and a reader corrects one wrong bit of `live`. All else, as a
// power loss during the change may leave it, counts as `removed`: no older value comes back.
enum class RecordState : std::uint8_t {
    live = 0x0F,     // unless it was given up
    removed = 0xF0,  // dead
    unused = 0x55,   // never published, ignored; exactly this, and not given up
};

// At kRecordUnmovedOffset. A reader corrects three wrong bits.
inline constexpr std::byte kUnmoved{0xFF};
inline constexpr std::byte kMoved{0x00};

enum class Codec : std::uint8_t { none = 0, zstd = 1 };

struct RecordHeader {
    RecordState state = RecordState::live;
    Codec codec = Codec::none;
    bool pinned = false;
    bool copied = false;           // a copy, from a segment that was evicted
    bool incompressible = false;   // compressing it saved nothing
    bool removal = false;          // never an entry: says that older ones were removed
    Uses uses;                     // when it was written
    std::uint32_t key_size = 0;    // bytes
    std::uint32_t value_size = 0;  // bytes as stored
    std::uint32_t raw_size = 0;    // bytes as given by the caller
    std::uint32_t cost_us = 0;
    std::uint64_t stamp_ns = 0;  // time of the put; later puts have greater ones
    std::uint64_t key_hash = 0;
    std::uint64_t value_check = 0;
    bool unmoved = false;  // a copy that its entry's slot does not lead to yet, ignored
    // Says in which system start this record was given up, see given_up_bytes(). 0: it was not. Until the
    // next start it is dead or ignored. After that it is live, as the other record may be lost with the
    // power. Of a record that is `removed`: in which start that was; 0: it is not known.
    std::uint64_t given_up_in = 0;

    // For a newer one; for another copy of the same. Both correct a few wrong bits.
    bool was_replaced(std::uint64_t boot) const;
    bool was_left(std::uint64_t boot) const;

    // Where the value begins, from the begin of the record. Values are aligned to 16 bytes.
    std::size_t value_offset() const { return align_up(kRecordHeaderSize + key_size, 16); }
    std::uint64_t record_size() const { return size_with(value_size); }
    // As if the value were not compressed.
    std::uint64_t raw_record_size() const { return size_with(raw_size); }

  private:
    std::uint64_t size_with(std::uint32_t bytes) const {
        return align_up(std::uint64_t{value_offset()} + bytes + kRecordEndSize, kRecordAlignment);
    }
};

// A record that is never an entry, and says that the older ones of its key were removed, in the system start
// `boot`.
RecordHeader removal_of(std::uint64_t key_hash, std::size_t key_size, std::uint64_t stamp_ns,
                        std::uint64_t boot);

// Ties a record to its location: a copy of its bytes elsewhere does not verify.
std::uint64_t record_seed(std::uint64_t cache_id, Location location);

enum class GivenUp {
    replaced,  // a newer record is the entry: dead
    left,      // another copy is: ignored
};
// What is written at kRecordGivenUpOffset.
std::array<std::byte, 7> given_up_bytes(GivenUp reason, std::uint64_t boot);

// The end that belongs to a record's header. `trace`: of the cache, see trace_of().
std::array<std::byte, kRecordEndSize> record_end(Bytes header, std::uint64_t trace);
// The trace that a record with this end has.
std::uint64_t trace_in(Bytes header, Bytes end);

std::array<std::byte, kRecordHeaderSize> encode_record_header(const RecordHeader &header, Bytes key,
                                                              std::uint64_t seed);

// The header at the begin of `bytes`, if its fields are possible; does not check the checksum.
std::optional<RecordHeader> parse_record_header(Bytes bytes);

// The header at the begin of `bytes`, if it and the key behind it verify.
std::optional<RecordHeader> decode_record_header(Bytes bytes, std::uint64_t seed);

std::uint64_t value_checksum(Bytes value);

}  // namespace cairn
