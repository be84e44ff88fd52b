// The hash that entries are stored under, and hashes that names are made of.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace cairn::d3d12 {

using KeyHash = std::array<uint8_t, 32>;
// Tests inject weak ones, to have different keys meet.
using KeyHashFunction = KeyHash (*)(Bytes key);

// BLAKE2b-256. All zeros when memory cannot be had: different keys are told apart all the same.
KeyHash hash_key(Bytes key);

// Hexadecimal digits that stand for a text in a name.
inline constexpr size_t kShortHashSize = 12;
std::string short_hash(std::string_view text);

struct HashOfKeyHash {
    size_t operator()(const KeyHash &hash) const {
        size_t word;
        std::memcpy(&word, hash.data(), sizeof word);
        return word;
    }
};

}  // namespace cairn::d3d12
