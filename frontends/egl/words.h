// Lists of extensions: words between spaces, in texts that applications keep for ever.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/words.h"

namespace cairn::egl {

// The extensions that the front end adds.
inline constexpr const char *kControlExtension = "GL_ANGLE_program_cache_control";
inline constexpr const char *kEglControlExtension = "EGL_ANGLE_program_cache_control";

// `words` with `word` at its end, if it is not there.
std::string with_word(std::string_view words, std::string_view word);

// The same for each word of `more`; no word twice.
std::string with_words(std::string_view words, std::string_view more);

// Keeps the text for ever, as EGL and GL keep their strings; equal texts once.
const char *kept(const std::string &text);

}  // namespace cairn::egl
