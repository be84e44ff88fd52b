// Small texts that people and systems write: configuration files, and lines for people.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

// The first `size_max` bytes of a file, which may be a link.
Result<std::string> read_text_file(const std::string &path, std::size_t size_max);
// The same of a file in a directory, which may be no link; errors as open_file().
Result<std::string> read_text_file(const Directory &directory, const std::string &name,
                                   std::size_t size_max);
// The paths of a directory's entries with this ending, sorted. Empty where there is no such
// directory.
std::vector<std::string> paths_in(const std::string &directory, std::string_view ending);
// Adds to the end of a file that is there, in one piece.
void append_to_file(const std::string &path, std::string_view text);
// In one piece; a text that cannot be written is lost.
void write_to_standard_error(std::string_view text);

}  // namespace cairn
