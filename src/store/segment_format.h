// The headers of segment and index files, which say what cache a file belongs to.
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

// All files of a cache have one format. This library uses those from the oldest to the newest, and
// makes new caches in the newest; see store/formats.h.
inline constexpr std::uint32_t kOldestFormat = 1;
inline constexpr std::uint32_t kNewestFormat = 2;
inline constexpr std::size_t kFileHeaderSize = 64;
inline constexpr std::size_t kSegmentHeaderSize = kFileHeaderSize;
inline constexpr std::size_t kIndexHeaderSize = kFileHeaderSize;

// Tells a cache from all others. Its index and all its segments have the same identity.
struct CacheIdentity {
    std::uint32_t format = kNewestFormat;
    std::uint64_t cache_id = 0;   // random
    std::uint64_t version = 0;    // of the contents, chosen by the caller
    HashSeed hash_seed = {};      // random; from format 2 on hash_seed_of(cache_id)
    std::uint64_t name_hash = 0;  // of the cache's identifier, see cache_name_hash
    bool operator==(const CacheIdentity &) const = default;
};

std::uint64_t cache_name_hash(std::string_view identifier);
HashSeed hash_seed_of(std::uint64_t cache_id);

// What the end of each record is combined with: it tells the identity to those who know version and
// name, where no header is left. 0 in format 1, whose records do not tell.
std::uint64_t trace_of(const CacheIdentity &identity);
// The identity, in the newest format, that leaves this trace.
CacheIdentity identity_of_trace(std::uint64_t trace, std::uint64_t version,
                                std::uint64_t name_hash);

using FileHeaderBytes = std::array<std::byte, kFileHeaderSize>;
FileHeaderBytes encode_segment_header(const CacheIdentity &identity, std::uint32_t segment);
FileHeaderBytes encode_index_header(const CacheIdentity &identity);

// The identity in a segment's header, if the header is whole and belongs to that segment.
std::optional<CacheIdentity> decode_segment_header(Bytes bytes, std::uint32_t segment);

// Whether it has the magic number of a segment.
bool begins_like_segment(Bytes bytes);

struct FileHeader {
    std::uint32_t number;    // the segment's; 0 in an index
    CacheIdentity identity;  // whose format may be any; of an unknown one it has no meaning
    bool is_known() const {
        return identity.format >= kOldestFormat && identity.format <= kNewestFormat;
    }
};
// The header of an index, of any format; nullopt if it is damaged.
std::optional<FileHeader> decode_index_header(Bytes bytes);

// "0000002a.val" for 42, and back; nullopt for other names.
std::string segment_file_name(std::uint32_t segment);
std::optional<std::uint32_t> segment_from_file_name(std::string_view name);

}  // namespace cairn
