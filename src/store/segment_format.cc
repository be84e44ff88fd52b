// SPDX-License-Identifier: MIT
#include "store/segment_format.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/checksum.h"
#include "store/slot.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CAIRNVAL";
constexpr std::string_view kSuffix = ".val";
constexpr std::size_t kNameDigits = 8;

constexpr std::size_t kFormatOffset = 8;
constexpr std::size_t kSegmentOffset = 12;
constexpr std::size_t kCacheIdOffset = 16;
constexpr std::size_t kVersionOffset = 24;
constexpr std::size_t kHashSeedOffset = 32;
constexpr std::size_t kNameOffset = 48;
constexpr std::size_t kCheckOffset = 56;
constexpr std::uint64_t kCheckSeed = 1;

}  // namespace

std::uint64_t cache_name_hash(std::string_view identifier) {
    return checksum(as_bytes(identifier), 3);
}

std::array<std::byte, kSegmentHeaderSize> encode_segment_header(const CacheIdentity &identity,
                                                                std::uint32_t segment) {
    std::array<std::byte, kSegmentHeaderSize> bytes = {};
    std::copy_n(as_bytes(kMagic).begin(), kMagic.size(), bytes.begin());
    put_le(bytes, kFormatOffset, kFormatVersion);
    put_le(bytes, kSegmentOffset, segment);
    put_le(bytes, kCacheIdOffset, identity.cache_id);
    put_le(bytes, kVersionOffset, identity.version);
    std::copy(identity.hash_seed.begin(), identity.hash_seed.end(),
              bytes.begin() + kHashSeedOffset);
    put_le(bytes, kNameOffset, identity.name_hash);
    put_le(bytes, kCheckOffset, checksum(Bytes(bytes).first(kCheckOffset), kCheckSeed));
    return bytes;
}

std::optional<CacheIdentity> decode_segment_header(Bytes bytes, std::uint32_t segment) {
    if (bytes.size() < kSegmentHeaderSize) return std::nullopt;
    bytes = bytes.first(kSegmentHeaderSize);
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
    if (get_le<std::uint32_t>(bytes, kFormatOffset) != kFormatVersion) return std::nullopt;
    if (get_le<std::uint32_t>(bytes, kSegmentOffset) != segment) return std::nullopt;
    if (get_le<std::uint64_t>(bytes, kCheckOffset) !=
        checksum(bytes.first(kCheckOffset), kCheckSeed)) {
        return std::nullopt;
    }
    CacheIdentity identity;
    identity.cache_id = get_le<std::uint64_t>(bytes, kCacheIdOffset);
    identity.version = get_le<std::uint64_t>(bytes, kVersionOffset);
    std::copy_n(bytes.begin() + kHashSeedOffset, identity.hash_seed.size(),
                identity.hash_seed.begin());
    identity.name_hash = get_le<std::uint64_t>(bytes, kNameOffset);
    return identity;
}

std::string segment_file_name(std::uint32_t segment) {
    char name[16];
    std::snprintf(name, sizeof name, "%08x.val", segment);
    return name;
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
