// SPDX-License-Identifier: MIT
// "Did you mean": what somebody who mistyped a word may have meant.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli {

// The one of `known` that is nearest to `word`, by letters missing, added, wrong or exchanged, or
// that begins with it; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string> &known);

// " (did you mean `...`?)", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string> &known);

}  // namespace cairn::cli
