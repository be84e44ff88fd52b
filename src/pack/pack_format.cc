// SPDX-License-Identifier: MIT
#include "pack/pack_format.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "base/checksum.h"
#include "base/hash.h"
#include "os/root.h"
#include "store/codec.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CAIRNPCK";
constexpr std::uint32_t kRecordMagic = 0x43525043;  // "CPRC"
constexpr std::uint64_t kHeaderSeed = 4;
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
constexpr std::uint32_t kKeySizeMax = 65536;
constexpr std::uint32_t kValueSizeMax = (1u << 30) - 1;

// Places in the head, which takes the place of a row.
constexpr std::size_t kVersionAt = 8, kPartCountAt = 12, kBodySizeAt = 16, kAboutOffsetAt = 24;
constexpr std::size_t kAboutSizeAt = 32, kAboutCheckAt = 40, kCheckAt = 120;

std::uint64_t header_check(const PackHeaderBytes &bytes) {
    PackHeaderBytes copy = bytes;
    put_le(MutableBytes(copy), kCheckAt, std::uint64_t{0});
    return checksum(copy, kHeaderSeed);
}

void encode_row(const PackRow &row, MutableBytes out) {
    put_le(out, 0, static_cast<std::uint32_t>(row.kind));
    std::copy(row.identity.begin(), row.identity.end(), out.begin() + 8);
    put_le(out, 40, row.text_offset);
    put_le(out, 48, row.text_size);
    put_le(out, 52, row.entry_count);
    put_le(out, 56, row.index_offset);
    put_le(out, 64, row.bucket_count);
    put_le(out, 68, row.probes_max);
    put_le(out, 72, row.order_offset);
    put_le(out, 80, row.order_count);
    put_le(out, 84, row.dictionary_size);
    put_le(out, 88, row.dictionary_offset);
    put_le(out, 96, row.dictionary_check);
    put_le(out, 104, row.content_id);
    put_le(out, 112, row.text_check);
}

PackRow decode_row(Bytes in) {
    PackRow row;
    row.kind = static_cast<PackKind>(get_le<std::uint32_t>(in, 0));
    std::copy_n(in.begin() + 8, row.identity.size(), row.identity.begin());
    row.text_offset = get_le<std::uint64_t>(in, 40);
    row.text_size = get_le<std::uint32_t>(in, 48);
    row.entry_count = get_le<std::uint32_t>(in, 52);
    row.index_offset = get_le<std::uint64_t>(in, 56);
    row.bucket_count = get_le<std::uint32_t>(in, 64);
    row.probes_max = get_le<std::uint32_t>(in, 68);
    row.order_offset = get_le<std::uint64_t>(in, 72);
    row.order_count = get_le<std::uint32_t>(in, 80);
    row.dictionary_size = get_le<std::uint32_t>(in, 84);
    row.dictionary_offset = get_le<std::uint64_t>(in, 88);
    row.dictionary_check = get_le<std::uint64_t>(in, 96);
    row.content_id = get_le<std::uint64_t>(in, 104);
    row.text_check = get_le<std::uint64_t>(in, 112);
    return row;
}

bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t body_size) {
    return offset <= body_size && size <= body_size - offset;
}

// Whether what the row names lies in the body, and is no larger than we make it.
bool is_possible(const PackRow &row, std::uint64_t body_size) {
    return std::has_single_bit(row.bucket_count) && row.slot_count() <= kPackSlotsMax &&
           row.bucket_count <= kPackSlotsMax && row.entry_count <= row.slot_count() &&
           row.probes_max >= 1 && row.probes_max <= std::min(row.bucket_count, kPackProbesMax) &&
           row.order_count <= row.slot_count() && row.text_size <= kPackTextMax &&
           row.dictionary_size <= kPackDictionaryMax &&
           fits(row.text_offset, row.text_size, body_size) &&
           fits(row.index_offset, row.index_size(), body_size) &&
           fits(row.order_offset, std::uint64_t{row.order_count} * 4, body_size) &&
           fits(row.dictionary_offset, std::uint64_t{row.dictionary_size} * 2, body_size);
}

std::uint64_t slot_check(Bytes bytes, std::uint32_t number) {
    // 24 bits of the second word are the check itself.
    return checksum(bytes.first(13), number) & 0xff'ffff;
}

std::uint64_t record_check(Bytes record, const PackRecord &header, std::uint64_t offset,
                           std::uint64_t seed) {
    const std::uint64_t of_header = checksum(record.first(24), seed ^ (offset * kGolden));
    return checksum(
        record.subspan(kPackRecordHeaderSize, header.value_offset() - kPackRecordHeaderSize +
                                                  std::size_t{header.value_size}),
        of_header);
}

bool is_possible(const PackRecord &record, std::uint64_t record_size) {
    if (record.key_size == 0 || record.key_size > kKeySizeMax ||
        record.value_size > kValueSizeMax || record.size() != record_size) {
        return false;
    }
    if (record.codec == PackCodec::raw) return record.raw_size == record.value_size;
    return may_compress(record.raw_size) && record.value_size < record.raw_size &&
           record.raw_size / kCompressionRatioMax <= record.value_size;
}

}  // namespace

PackIdentity identity_of(const PackSubject &subject) {
    std::array<std::byte, 24> numbers = {};
    put_le(MutableBytes(numbers), 0, static_cast<std::uint32_t>(subject.kind));
    put_le(MutableBytes(numbers), 4, static_cast<std::uint32_t>(subject.identifier.size()));
    put_le(MutableBytes(numbers), 8, subject.version);
    put_le(MutableBytes(numbers), 16, std::uint64_t{subject.generation.size()});
    Blake2b hash;
    hash.add(as_bytes("cairn-pack-part/1"));
    hash.add(numbers);
    hash.add(as_bytes(subject.identifier));
    hash.add(as_bytes(subject.generation));
    return hash.finish();
}

PackHeaderBytes encode_pack_header(const PackHeader &header) {
    assert(header.rows.size() <= kPackPartsMax);
    PackHeaderBytes bytes = {};
    const MutableBytes out(bytes);
    std::copy_n(as_bytes(kMagic).begin(), kMagic.size(), bytes.begin());
    put_le(out, kVersionAt, kPackFormatVersion);
    put_le(out, kPartCountAt, static_cast<std::uint32_t>(header.rows.size()));
    put_le(out, kBodySizeAt, header.body_size);
    put_le(out, kAboutOffsetAt, header.about_offset);
    put_le(out, kAboutSizeAt, header.about_size);
    put_le(out, kAboutCheckAt, header.about_check);
    for (std::size_t i = 0; i < header.rows.size(); ++i) {
        encode_row(header.rows[i], out.subspan((i + 1) * kPackRowSize, kPackRowSize));
    }
    put_le(out, kCheckAt, header_check(bytes));
    return bytes;
}

bool is_other_pack_version(Bytes bytes) {
    return bytes.size() >= kVersionAt + 4 &&
           same_bytes(bytes.first(kMagic.size()), as_bytes(kMagic)) &&
           get_le<std::uint32_t>(bytes, kVersionAt) != kPackFormatVersion;
}

std::optional<PackHeader> decode_pack_header(Bytes bytes) {
    if (bytes.size() != kPackHeaderSize || is_other_pack_version(bytes) ||
        !same_bytes(bytes.first(kMagic.size()), as_bytes(kMagic))) {
        return std::nullopt;
    }
    PackHeaderBytes copy;
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    if (header_check(copy) != get_le<std::uint64_t>(bytes, kCheckAt)) return std::nullopt;
    PackHeader header;
    const auto count = get_le<std::uint32_t>(bytes, kPartCountAt);
    header.body_size = get_le<std::uint64_t>(bytes, kBodySizeAt);
    header.about_offset = get_le<std::uint64_t>(bytes, kAboutOffsetAt);
    header.about_size = get_le<std::uint32_t>(bytes, kAboutSizeAt);
    header.about_check = get_le<std::uint64_t>(bytes, kAboutCheckAt);
    if (count > kPackPartsMax || header.about_size > kPackTextMax ||
        !fits(header.about_offset, header.about_size, header.body_size)) {
        return std::nullopt;
    }
    for (std::size_t i = 1; i <= count; ++i) {
        const PackRow row = decode_row(bytes.subspan(i * kPackRowSize, kPackRowSize));
        if (!is_possible(row, header.body_size)) return std::nullopt;
        header.rows.push_back(row);
    }
    return header;
}

std::string encode_part_text(const PackSubject &subject) {
    return std::string(subject.identifier) + "\n" + std::to_string(subject.version) + "\n" +
           std::string(subject.generation);
}

std::optional<PackSubject> decode_part_text(std::string_view text, PackKind kind) {
    const std::size_t first = text.find('\n');
    const std::size_t second = first == std::string_view::npos ? first : text.find('\n', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    PackSubject subject = {kind, text.substr(0, first), 0, text.substr(second + 1)};
    const char *const end = text.data() + second;
    const auto read = std::from_chars(text.data() + first + 1, end, subject.version);
    if (read.ec != std::errc() || read.ptr != end || !valid_identifier(subject.identifier)) {
        return std::nullopt;
    }
    return subject;
}

PackSlotBytes encode_pack_slot(const PackSlot &slot, std::uint32_t number) {
    PackSlotBytes bytes = {};
    const MutableBytes out(bytes);
    put_le(out, 0, slot.tag);
    put_le(out, 4, static_cast<std::uint32_t>(slot.size / kPackUnit));
    const std::uint64_t place = slot.offset / kPackUnit;
    put_le(out, 8, place);
    put_le(out, 8, place | slot_check(bytes, number) << 40);
    return bytes;
}

bool is_empty_pack_slot(Bytes bytes) {
    return get_le<std::uint64_t>(bytes, 0) == 0 && get_le<std::uint64_t>(bytes, 8) == 0;
}

std::optional<PackSlot> decode_pack_slot(Bytes bytes, std::uint32_t number) {
    const auto second = get_le<std::uint64_t>(bytes, 8);
    if (is_empty_pack_slot(bytes) || second >> 40 != slot_check(bytes, number)) {
        return std::nullopt;
    }
    return PackSlot{get_le<std::uint32_t>(bytes, 0), (second & 0xff'ffff'ffff) * kPackUnit,
                    std::uint64_t{get_le<std::uint32_t>(bytes, 4)} * kPackUnit};
}

std::uint64_t pack_key_hash(Bytes key, std::uint64_t seed) {
    return checksum(key, seed);
}

std::uint64_t encode_pack_record(const PackRecord &record, Bytes key, Bytes value,
                                 std::uint64_t offset, std::uint64_t seed, MutableBytes out) {
    assert(out.size() == record.size() && key.size() == record.key_size);
    std::fill(out.begin(), out.end(), std::byte{0});
    put_le(out, 0, kRecordMagic);
    out[4] = static_cast<std::byte>(record.codec);
    out[5] = static_cast<std::byte>(record.pinned);
    put_le(out, 8, record.key_size);
    put_le(out, 12, record.value_size);
    put_le(out, 16, record.raw_size);
    put_le(out, 20, record.cost_us);
    std::copy(key.begin(), key.end(), out.begin() + kPackRecordHeaderSize);
    std::copy(value.begin(), value.end(),
              out.begin() + static_cast<std::ptrdiff_t>(record.value_offset()));
    const std::uint64_t check = record_check(out, record, offset, seed);
    put_le(out, 24, check);
    return check;
}

std::optional<PackRecord> look_at_pack_record(Bytes beginning, std::uint64_t record_size) {
    if (beginning.size() < kPackRecordHeaderSize || record_size < kPackRecordHeaderSize ||
        get_le<std::uint32_t>(beginning, 0) != kRecordMagic) {
        return std::nullopt;
    }
    const auto codec = std::to_integer<unsigned>(beginning[4]);
    const auto flags = std::to_integer<unsigned>(beginning[5]);
    if (codec > 2 || flags > 1 || get_le<std::uint16_t>(beginning, 6) != 0) return std::nullopt;
    const PackRecord record = {
        static_cast<PackCodec>(codec),        flags != 0,
        get_le<std::uint32_t>(beginning, 8),  get_le<std::uint32_t>(beginning, 12),
        get_le<std::uint32_t>(beginning, 16), get_le<std::uint32_t>(beginning, 20)};
    return is_possible(record, record_size) ? std::optional(record) : std::nullopt;
}

std::optional<PackRecord> decode_pack_record(Bytes record, std::uint64_t offset,
                                             std::uint64_t seed) {
    const auto header = look_at_pack_record(record, record.size());
    if (!header || record_check(record, *header, offset, seed) != get_le<std::uint64_t>(record, 24))
        return std::nullopt;
    return header;
}

}  // namespace cairn
