// Words between separators: lists of extensions, of paths, of options.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace cairn {

// The words between separators; empty ones are left out.
std::vector<std::string> split(std::string_view words, char separator);

// `words` with `word` at its end, if it is not there.
std::string with_word(std::string_view words, std::string_view word);

// The same for each word of `more`; no word twice.
std::string with_words(std::string_view words, std::string_view more);

// Keeps the text for ever, as EGL and GL keep their strings; equal texts once.
const char *kept(const std::string &text);

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings);

}  // namespace cairn
