// SPDX-License-Identifier: MIT
#include "store/record.h"

#include <algorithm>
#include <bit>

#include "base/checksum.h"
#include "store/codec.h"

namespace cairn {
namespace {

constexpr std::size_t kCodecOffset = 5;
constexpr std::size_t kFlagsOffset = 6;
constexpr std::size_t kKeySizeOffset = 8;
constexpr std::size_t kValueSizeOffset = 12;
constexpr std::size_t kRawSizeOffset = 16;
constexpr std::size_t kCostOffset = 20;
constexpr std::size_t kStampOffset = 24;
constexpr std::size_t kKeyHashOffset = 32;
constexpr std::size_t kValueCheckOffset = 40;

constexpr std::uint16_t kFlagPinned = 1;
constexpr std::uint16_t kFlagCopied = 2;
constexpr std::uint16_t kFlagIncompressible = 4;
constexpr std::uint16_t kFlagRemoval = 8;
// Above them.
constexpr unsigned kUsesShift = 4, kUsedShift = 8;

// The lowest byte of given_up_in is not written.
constexpr std::uint64_t kGivenUpBits = ~std::uint64_t{0xFF};

// For GivenUp::replaced it is the number of the system start; for GivenUp::left that and this, which
// differs from 0 in half of the bits, as numbers of starts do from one another.
constexpr std::uint64_t kLeft = 0x5A96'C33C'A569'F000;

// Numbers of system starts are random: two of them differ in about 28 bits, and in 12 or fewer once
// in a hundred thousand times. So a damaged number can be told from another start.
bool is_nearly(std::uint64_t given_up_in, std::uint64_t expected) {
    constexpr int kFewBits = 12;
    const int wrong_bits = std::popcount((given_up_in ^ expected) & kGivenUpBits);
    return wrong_bits <= kFewBits && wrong_bits < std::popcount(given_up_in & kGivenUpBits);
}

int distance(std::byte octet, RecordState state) {
    return std::popcount(std::to_integer<unsigned>(octet ^ static_cast<std::byte>(state)));
}

RecordState parse_state(std::byte octet) {
    if (octet == static_cast<std::byte>(RecordState::unused)) return RecordState::unused;
    return distance(octet, RecordState::live) <= 1 ? RecordState::live : RecordState::removed;
}

std::uint16_t flags_of(const RecordHeader &header) {
    const unsigned given = (header.pinned ? kFlagPinned : 0u) | (header.copied ? kFlagCopied : 0u) |
                           (header.incompressible ? kFlagIncompressible : 0u) |
                           (header.removal ? kFlagRemoval : 0u);
    const unsigned count = header.uses.count, last = header.uses.last;
    return static_cast<std::uint16_t>(given | count << kUsesShift | last << kUsedShift);
}

// Whether codec and sizes can go together.
bool sizes_fit(const RecordHeader &header) {
    if (header.value_size > kValueSizeMax) return false;
    if (header.codec == Codec::none) return header.raw_size == header.value_size;
    return header.codec == Codec::zstd && may_compress(header.raw_size) &&
           header.value_size < header.raw_size &&
           header.raw_size <= std::uint64_t{header.value_size} * kCompressionRatioMax;
}

// Covers the key, and the header without the checksum itself and what changes later, also in
// records of older libraries.
std::uint64_t header_checksum(Bytes header, Bytes key, std::uint64_t seed) {
    std::array<std::byte, kRecordHeaderSize> covered;
    std::copy_n(header.begin(), covered.size(), covered.begin());
    covered[kRecordStateOffset] = std::byte{0};
    put_le<std::uint64_t>(covered, kRecordCheckOffset, 0);
    put_le<std::uint64_t>(covered, kRecordUnmovedOffset, 0);
    return checksum(key, checksum(covered, seed));
}

}  // namespace

bool RecordHeader::was_replaced(std::uint64_t boot) const {
    return boot != 0 && is_nearly(given_up_in, boot);
}

bool RecordHeader::was_left(std::uint64_t boot) const {
    return boot != 0 && is_nearly(given_up_in, boot ^ kLeft);
}

std::array<std::byte, 7> given_up_bytes(GivenUp reason, std::uint64_t boot) {
    std::array<std::byte, 8> word;
    put_le(word, 0, reason == GivenUp::left ? boot ^ kLeft : boot);
    std::array<std::byte, 7> bytes;
    std::copy(word.begin() + 1, word.end(), bytes.begin());
    return bytes;
}

RecordHeader removal_of(std::uint64_t key_hash, std::size_t key_size, std::uint64_t stamp_ns,
                        std::uint64_t boot) {
    RecordHeader header;
    header.state = RecordState::removed;
    header.removal = true;
    header.given_up_in = boot;
    header.key_hash = key_hash;
    header.key_size = static_cast<std::uint32_t>(key_size);
    header.stamp_ns = stamp_ns;
    header.value_check = value_checksum({});
    return header;
}

std::uint64_t record_seed(std::uint64_t cache_id, Location location) {
    const std::uint64_t place = std::uint64_t{location.segment} << 32 | location.offset;
    return cache_id ^ (place * 0x9E3779B97F4A7C15u);
}

std::array<std::byte, kRecordEndSize> record_end(Bytes header, std::uint64_t trace) {
    std::array<std::byte, kRecordEndSize> end;
    put_le(end, 0, get_le<std::uint64_t>(header, kRecordCheckOffset) ^ trace);
    return end;
}

std::uint64_t trace_in(Bytes header, Bytes end) {
    return get_le<std::uint64_t>(header, kRecordCheckOffset) ^ get_le<std::uint64_t>(end, 0);
}

std::array<std::byte, kRecordHeaderSize> encode_record_header(const RecordHeader &header, Bytes key,
                                                              std::uint64_t seed) {
    assert(key.size() == header.key_size);
    std::array<std::byte, kRecordHeaderSize> bytes = {};
    put_le(bytes, 0, kRecordMagic);
    bytes[kRecordStateOffset] = static_cast<std::byte>(header.state);
    bytes[kCodecOffset] = static_cast<std::byte>(header.codec);
    put_le(bytes, kFlagsOffset, flags_of(header));
    put_le(bytes, kKeySizeOffset, header.key_size);
    put_le(bytes, kValueSizeOffset, header.value_size);
    put_le(bytes, kRawSizeOffset, header.raw_size);
    put_le(bytes, kCostOffset, header.cost_us);
    put_le(bytes, kStampOffset, header.stamp_ns);
    put_le(bytes, kKeyHashOffset, header.key_hash);
    put_le(bytes, kValueCheckOffset, header.value_check);
    put_le(bytes, kRecordCheckOffset, header_checksum(bytes, key, seed));
    bytes[kRecordUnmovedOffset] = header.unmoved ? kUnmoved : kMoved;
    const auto given_up = given_up_bytes(GivenUp::replaced, header.given_up_in);
    std::ranges::copy(given_up, bytes.begin() + kRecordGivenUpOffset);
    return bytes;
}

std::optional<RecordHeader> parse_record_header(Bytes bytes) {
    if (bytes.size() < kRecordHeaderSize) return std::nullopt;
    if (get_le<std::uint32_t>(bytes, 0) != kRecordMagic) return std::nullopt;
    RecordHeader header;
    header.state = parse_state(bytes[kRecordStateOffset]);
    header.codec = static_cast<Codec>(bytes[kCodecOffset]);
    const auto flags = get_le<std::uint16_t>(bytes, kFlagsOffset);
    header.pinned = (flags & kFlagPinned) != 0;
    header.copied = (flags & kFlagCopied) != 0;
    header.incompressible = (flags & kFlagIncompressible) != 0;
    header.removal = (flags & kFlagRemoval) != 0;
    header.uses = {(flags >> kUsesShift) & kUsesMax, static_cast<UseTime>(flags >> kUsedShift)};
    header.key_size = get_le<std::uint32_t>(bytes, kKeySizeOffset);
    header.value_size = get_le<std::uint32_t>(bytes, kValueSizeOffset);
    header.raw_size = get_le<std::uint32_t>(bytes, kRawSizeOffset);
    header.cost_us = get_le<std::uint32_t>(bytes, kCostOffset);
    header.stamp_ns = get_le<std::uint64_t>(bytes, kStampOffset);
    header.key_hash = get_le<std::uint64_t>(bytes, kKeyHashOffset);
    header.value_check = get_le<std::uint64_t>(bytes, kValueCheckOffset);
    header.given_up_in = get_le<std::uint64_t>(bytes, kRecordUnmovedOffset) & kGivenUpBits;
    // What a power loss has left of `removed`.
    if (header.state == RecordState::unused && header.given_up_in != 0)
        header.state = RecordState::removed;
    const auto unmoved = std::to_integer<unsigned>(bytes[kRecordUnmovedOffset]);
    header.unmoved = std::popcount(unmoved) > 4 && header.given_up_in == 0;
    if (!sizes_fit(header)) return std::nullopt;
    if (header.key_size == 0 || header.key_size > kKeySizeMax) return std::nullopt;
    return header;
}

std::optional<RecordHeader> decode_record_header(Bytes bytes, std::uint64_t seed) {
    const auto header = parse_record_header(bytes);
    if (!header || bytes.size() < kRecordHeaderSize + header->key_size) return std::nullopt;
    const Bytes key = bytes.subspan(kRecordHeaderSize, header->key_size);
    const auto expected = get_le<std::uint64_t>(bytes, kRecordCheckOffset);
    if (header_checksum(bytes, key, seed) != expected) return std::nullopt;
    return header;
}

std::uint64_t value_checksum(Bytes value) {
    // With this seed, an empty value's checksum is not a well-known constant.
    return checksum(value, 0x6E726961632D7631u);
}

}  // namespace cairn
