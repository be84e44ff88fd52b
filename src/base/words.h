// Lists of words with spaces between them, such as the names of extensions.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <string_view>

namespace cairn {

// Whether the list has the word, which has no space.
constexpr bool has_word(std::string_view words, std::string_view word) {
    while (!words.empty()) {
        const std::size_t size = std::min(words.find(' '), words.size());
        if (words.substr(0, size) == word) return true;
        words.remove_prefix(std::min(size + 1, words.size()));
    }
    return false;
}

}  // namespace cairn
