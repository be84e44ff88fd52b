// The decoders of everything that a cache reads from its files. What they accept must be what the
// encoders write.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/bytes.h"
#include "store/index_format.h"
#include "store/record.h"
#include "store/segment_format.h"
#include "store/slot.h"

namespace {

constexpr std::uint64_t kSeed = 42;
constexpr std::uint32_t kSegment = 7;

void require(bool holds) {
    if (!holds) std::abort();
}

void try_record(cairn::Bytes bytes) {
    const auto parsed = cairn::parse_record_header(bytes);
    const auto decoded = cairn::decode_record_header(bytes, kSeed);
    if (parsed) {
        require(parsed->key_size >= 1 && parsed->key_size <= cairn::kKeySizeMax);
        require(parsed->value_size <= cairn::kValueSizeMax);
    }
    if (!decoded) return;
    require(parsed.has_value());
    const auto key = bytes.subspan(cairn::kRecordHeaderSize, decoded->key_size);
    const auto again = cairn::encode_record_header(*decoded, key, kSeed);
    // Marks are made after writing; all else is as it was encoded.
    for (std::size_t i = 0; i < cairn::kRecordUnmovedOffset; i++) {
        require(again[i] == bytes[i] || i == cairn::kRecordStateOffset);
    }
}

void try_headers(cairn::Bytes bytes) {
    if (const auto identity = cairn::decode_segment_header(bytes, kSegment)) {
        const auto again = cairn::encode_segment_header(*identity, kSegment);
        require(std::equal(again.begin(), again.end(), bytes.begin()));
    }
    (void)cairn::decode_index_header(bytes);
}

void try_slot(cairn::Bytes bytes) {
    if (bytes.size() < 8) return;
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; i++) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    const cairn::Slot slot(word);
    require(slot.location().offset % cairn::kRecordAlignment == 0);
    if (slot.intact()) require(slot.with_hits(3).intact() && slot.with_hits(0).intact());
}

// Mutations rarely get a checksum right: the input also says what is written by the encoder and
// damaged at one place.
void damage_encoded_record(cairn::Bytes bytes) {
    if (bytes.size() < 12) return;
    cairn::RecordHeader header;
    const auto key = bytes.subspan(4, std::min<std::size_t>(bytes.size() - 4, 64));
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = header.raw_size = std::to_integer<std::uint32_t>(bytes[2]);
    std::byte record[cairn::kRecordHeaderSize + 64];
    const auto encoded = cairn::encode_record_header(header, key, kSeed);
    std::copy(encoded.begin(), encoded.end(), record);
    std::copy(key.begin(), key.end(), record + encoded.size());
    const cairn::Bytes whole(record, encoded.size() + key.size());
    require(cairn::decode_record_header(whole, kSeed).has_value());

    const auto place = std::to_integer<std::size_t>(bytes[0]) % whole.size();
    // The checksum does not cover marks, which are made after a record was written.
    const bool is_mark = place == cairn::kRecordStateOffset ||
                         (place >= cairn::kRecordUnmovedOffset && place < cairn::kRecordHeaderSize);
    if (bytes[1] == std::byte{0} || is_mark) return;
    record[place] ^= bytes[1];
    require(!cairn::decode_record_header(whole, kSeed).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    try_record(bytes);
    try_headers(bytes);
    try_slot(bytes);
    damage_encoded_record(bytes);
    return 0;
}
