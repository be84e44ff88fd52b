// The header of a segment file, which says what cache its records belong to.
// Format: docs/formats/store.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions over bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"

namespace cairn {

inline constexpr std::uint32_t kFormatVersion = 1;  // of all files of the store
inline constexpr std::size_t kSegmentHeaderSize = 64;

// Tells a cache from all others. Its index and all its segments have the same identity.
struct CacheIdentity {
    std::uint64_t cache_id = 0;   // random
    std::uint64_t version = 0;    // of the contents, chosen by the caller
    HashSeed hash_seed = {};      // random
    std::uint64_t name_hash = 0;  // of the cache's identifier, see cache_name_hash
    bool operator==(const CacheIdentity &) const = default;
};

std::uint64_t cache_name_hash(std::string_view identifier);

std::array<std::byte, kSegmentHeaderSize> encode_segment_header(const CacheIdentity &identity,
                                                                std::uint32_t segment);

// The identity in a segment's header, if the header is whole and belongs to that segment.
std::optional<CacheIdentity> decode_segment_header(Bytes bytes, std::uint32_t segment);

// "0000002a.val" for 42, and back; nullopt for other names.
std::string segment_file_name(std::uint32_t segment);
std::optional<std::uint32_t> segment_from_file_name(std::string_view name);

}  // namespace cairn
