// SPDX-License-Identifier: MIT
#include "store/index_format.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/checksum.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CAIRNIDX";
constexpr std::size_t kFormatOffset = 8;
constexpr std::size_t kCacheIdOffset = 16;
constexpr std::size_t kVersionOffset = 24;
constexpr std::size_t kHashSeedOffset = 32;
constexpr std::size_t kNameOffset = 48;
constexpr std::size_t kCheckOffset = 56;
constexpr std::uint64_t kCheckSeed = 2;

}  // namespace

std::array<std::byte, kIndexHeaderSize> encode_index_header(const CacheIdentity &identity) {
    std::array<std::byte, kIndexHeaderSize> bytes = {};
    std::copy_n(as_bytes(kMagic).begin(), kMagic.size(), bytes.begin());
    put_le(bytes, kFormatOffset, kFormatVersion);
    put_le(bytes, kCacheIdOffset, identity.cache_id);
    put_le(bytes, kVersionOffset, identity.version);
    std::copy(identity.hash_seed.begin(), identity.hash_seed.end(),
              bytes.begin() + kHashSeedOffset);
    put_le(bytes, kNameOffset, identity.name_hash);
    put_le(bytes, kCheckOffset, checksum(Bytes(bytes).first(kCheckOffset), kCheckSeed));
    return bytes;
}

std::optional<IndexHeader> decode_index_header(Bytes bytes) {
    if (bytes.size() < kIndexHeaderSize) return std::nullopt;
    bytes = bytes.first(kIndexHeaderSize);
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
    if (get_le<std::uint64_t>(bytes, kCheckOffset) !=
        checksum(bytes.first(kCheckOffset), kCheckSeed)) {
        return std::nullopt;
    }
    IndexHeader header = {};
    header.format_version = get_le<std::uint32_t>(bytes, kFormatOffset);
    header.identity.cache_id = get_le<std::uint64_t>(bytes, kCacheIdOffset);
    header.identity.version = get_le<std::uint64_t>(bytes, kVersionOffset);
    std::copy_n(bytes.begin() + kHashSeedOffset, header.identity.hash_seed.size(),
                header.identity.hash_seed.begin());
    header.identity.name_hash = get_le<std::uint64_t>(bytes, kNameOffset);
    return header;
}

}  // namespace cairn
