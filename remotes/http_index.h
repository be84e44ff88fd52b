// The list of a folder on a web server: the object `index`.
// SPDX-License-Identifier: MIT
//
// A line `NAME TIME` for each name, sorted, where a folder's name ends in a slash, and TIME is the server's clock (its
// Date header, in seconds since 1970) when the object was put, or `-`. The last line is `. COUNT`, the number of lines
// before it. So an index that was cut is noticed: writing what is left would lose the rest.
//
// Thread safety: pure functions.
// Failure: nullopt for what is no index, or was cut. Lines that no index of ours has are left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::remotes {

inline constexpr std::string_view kIndexName = "index";
// The longest name, a slash, a blank, a number and a line's end.
inline constexpr std::uint64_t kIndexLineSizeMax = 128 + 1 + 1 + 20 + 1;

// When each name was put, by the server's clock, if that is known.
using IndexTimes = std::map<std::string, std::optional<std::int64_t>>;

std::optional<IndexTimes> parse_index(std::string_view text);
std::string index_text(const IndexTimes &times);

}  // namespace cairn::remotes
