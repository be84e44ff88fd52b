// SPDX-License-Identifier: MIT
#include "store/segment_format.h"

#include <algorithm>
#include <charconv>

#include "base/checksum.h"
#include "store/slot.h"

namespace cairn {
namespace {

// The two kinds of files differ in these.
struct Kind {
    std::string_view magic;
    std::uint64_t check_seed;
};
constexpr Kind kSegment = {"CAIRNVAL", 1};
constexpr Kind kIndex = {"CAIRNIDX", 2};

constexpr std::string_view kSuffix = ".val";
constexpr std::size_t kNameDigits = 8;

constexpr std::size_t kFormatOffset = 8;
constexpr std::size_t kNumberOffset = 12;
constexpr std::size_t kCacheIdOffset = 16;
constexpr std::size_t kVersionOffset = 24;
constexpr std::size_t kHashSeedOffset = 32;
constexpr std::size_t kNameOffset = 48;
constexpr std::size_t kCheckOffset = 56;

FileHeaderBytes encode(const Kind &kind, const CacheIdentity &identity, std::uint32_t number) {
    FileHeaderBytes bytes = {};
    std::ranges::copy(as_bytes(kind.magic), bytes.begin());
    put_le(bytes, kFormatOffset, identity.format);
    put_le(bytes, kNumberOffset, number);
    put_le(bytes, kCacheIdOffset, identity.cache_id);
    put_le(bytes, kVersionOffset, identity.version);
    std::ranges::copy(identity.hash_seed, bytes.begin() + kHashSeedOffset);
    put_le(bytes, kNameOffset, identity.name_hash);
    put_le(bytes, kCheckOffset, checksum(Bytes(bytes).first(kCheckOffset), kind.check_seed));
    return bytes;
}

std::optional<FileHeader> decode(const Kind &kind, Bytes bytes) {
    if (bytes.size() < kFileHeaderSize) return std::nullopt;
    if (!same_bytes(bytes.first(kind.magic.size()), as_bytes(kind.magic))) return std::nullopt;
    const std::uint64_t check = checksum(bytes.first(kCheckOffset), kind.check_seed);
    if (get_le<std::uint64_t>(bytes, kCheckOffset) != check) return std::nullopt;
    FileHeader header = {};
    header.identity.format = get_le<std::uint32_t>(bytes, kFormatOffset);
    header.number = get_le<std::uint32_t>(bytes, kNumberOffset);
    header.identity.cache_id = get_le<std::uint64_t>(bytes, kCacheIdOffset);
    header.identity.version = get_le<std::uint64_t>(bytes, kVersionOffset);
    std::copy_n(bytes.begin() + kHashSeedOffset, header.identity.hash_seed.size(),
                header.identity.hash_seed.begin());
    header.identity.name_hash = get_le<std::uint64_t>(bytes, kNameOffset);
    return header;
}

}  // namespace

std::uint64_t cache_name_hash(std::string_view identifier) {
    return checksum(as_bytes(identifier), 3);
}

HashSeed hash_seed_of(std::uint64_t cache_id) {
    std::array<std::byte, 8> bytes;
    put_le(bytes, 0, cache_id);
    HashSeed seed;
    put_le(seed, 0, checksum(bytes, 5));
    put_le(seed, 8, checksum(bytes, 6));
    return seed;
}

// With the version in it, no record of another one seems to be of this one.
std::uint64_t trace_of(const CacheIdentity &identity) {
    if (identity.format == kOldestFormat) return 0;
    std::array<std::byte, 16> bytes;
    put_le(bytes, 0, identity.version);
    put_le(bytes, 8, identity.name_hash);
    return identity.cache_id ^ checksum(bytes, 4);
}

CacheIdentity identity_of_trace(std::uint64_t trace, std::uint64_t version,
                                std::uint64_t name_hash) {
    CacheIdentity identity;
    identity.version = version;
    identity.name_hash = name_hash;
    identity.cache_id = trace ^ trace_of(identity);
    identity.hash_seed = hash_seed_of(identity.cache_id);
    return identity;
}

bool begins_like_segment(Bytes bytes) {
    const Bytes magic = as_bytes(kSegment.magic);
    return bytes.size() >= magic.size() && same_bytes(bytes.first(magic.size()), magic);
}

FileHeaderBytes encode_segment_header(const CacheIdentity &identity, std::uint32_t segment) {
    return encode(kSegment, identity, segment);
}

FileHeaderBytes encode_index_header(const CacheIdentity &identity) {
    return encode(kIndex, identity, 0);
}

std::optional<CacheIdentity> decode_segment_header(Bytes bytes, std::uint32_t segment) {
    const auto header = decode(kSegment, bytes);
    const bool ours = header && header->is_known();
    return ours && header->number == segment ? std::optional(header->identity) : std::nullopt;
}

std::optional<FileHeader> decode_index_header(Bytes bytes) {
    return decode(kIndex, bytes);
}

std::string segment_file_name(std::uint32_t segment) {
    // Not by printf(): each first hit comes here, and would touch pages of libc for that alone.
    std::string name(kNameDigits, '0');
    for (std::size_t i = kNameDigits; i-- > 0; segment >>= 4) {
        name[i] = "0123456789abcdef"[segment & 0xF];
    }
    return name.append(kSuffix);
}

std::optional<std::uint32_t> segment_from_file_name(std::string_view name) {
    if (name.size() != kNameDigits + kSuffix.size() || !name.ends_with(kSuffix)) {
        return std::nullopt;
    }
    std::uint32_t segment = 0;
    const char *end = name.data() + kNameDigits;
    const auto [rest, error] = std::from_chars(name.data(), end, segment, 16);
    if (error != std::errc() || rest != end || segment > kSegmentIdMax) return std::nullopt;
    if (segment_file_name(segment) != name) return std::nullopt;  // upper-case digits
    return segment;
}

}  // namespace cairn
