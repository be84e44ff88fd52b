// The order in which a start used its entries, in a file for the next one: docs/formats/order.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions without state. Several processes may write: each puts its own start
// first and keeps the other keys of the file behind it. Of two that write at one moment one counts.
// Failure: a file that cannot be written stays as it is. One that is not exactly what was written is
// none. Its keys are only looked up, so that a forged one can do no more than name other entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "os/file.h"

namespace cairn {

inline constexpr const char *kOrderFileName = "order";
inline constexpr std::size_t kOrderKeysMax = 4096;
inline constexpr std::size_t kOrderKeyMax = 1024;          // bytes; longer keys are left out
inline constexpr std::size_t kOrderBytesMax = 512u << 10;  // of the file

inline constexpr unsigned kStartsMax = 255;  // that are told apart

using StartOrder = std::vector<std::string>;  // keys, first used first

struct OrderedKey {
    std::string_view key;
    // How many starts have not used it since one did, kStartsMax at most.
    std::uint8_t starts_ago = 0;
};

// The file with these keys, as far as they fit.
std::vector<std::byte> encode_order(const std::vector<OrderedKey> &keys);
// The keys in a file's bytes, which must outlive them.
std::optional<std::vector<OrderedKey>> decode_order(Bytes bytes);
// The check that the file must have. REQUIRES: 24 bytes or more.
std::uint64_t order_check(Bytes file);

// What the last `starts` have used, in the order in a cache's directory; empty where there is none.
StartOrder read_order(const Directory &directory, unsigned starts = kStartsMax + 1);

enum class OrderWrite {
    first,  // of its start: the keys that it has not used are one start older
    again
};
// Puts `start` before those keys of the file that are not in it. Does not write a file that would
// stay the same, or of whose keys it used few and no other. Whether it wrote one.
Result<bool> write_order(const Directory &directory, const StartOrder &start, OrderWrite which);
void forget_order(const Directory &directory);

}  // namespace cairn
