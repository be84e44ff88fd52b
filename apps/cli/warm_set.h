// A file of programs that were linked, to be shipped with an application: what `cairn export`
// writes and `cairn import` reads.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/formats/warm-set.md.
// Thread safety: pure functions. Failure: a file that is not whole in every byte gives nothing but
// the reason.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cairn::cli {

// The largest file that is read; no application ships more.
inline constexpr uint64_t kWarmSetSizeMax = uint64_t{1} << 31;

// The largest binary of an entry, which is the largest of a display's cache.
inline constexpr uint64_t kWarmBinarySizeMax = 0x4000000;

struct WarmEntry {
    std::array<uint8_t, 20> key = {};
    uint32_t cost_us = 0;
    std::string binary;
};

struct WarmSet {
    std::string identifier;  // of the cache that it was exported from
    uint64_t version = 0;    // of that cache's contents
    std::string about;
    std::vector<WarmEntry> entries;
};

std::string encode_warm_set(const WarmSet &set);

// The bytes that an entry takes in a file.
uint64_t encoded_size(const WarmEntry &entry);

// Whether more bytes could make it a file of ours.
bool begins_as_warm_set(std::string_view bytes);

// Nothing when `problem` says why.
std::optional<WarmSet> decode_warm_set(Bytes file, std::string &problem);

}  // namespace cairn::cli
