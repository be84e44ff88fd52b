// SPDX-License-Identifier: MIT
// Numbers and foreign text as people read them, and suggestions for words that they mistyped.
// Thread safety: pure functions, except format_time, which reads the process's time zone.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli {

using Words = std::vector<std::string>;

// "0 B", "980 B", "1.5 KiB", "12.0 MiB".
std::string format_bytes(uint64_t bytes);

// "0 ms", "850 us", "12.3 ms", "1.25 s", "3 min 20 s".
std::string format_duration_ns(uint64_t nanoseconds);

// The same of what a program cost; "-": nobody knows.
std::string format_cost_ns(uint64_t nanoseconds);

// "2025-03-01 14:05:09", local time.
std::string format_time(uint64_t milliseconds_since_1970);

// Lower-case hexadecimal of the first `size_max` bytes, with ".." where something was left out.
std::string format_key(const void *key, size_t key_size, size_t size_max);

// "1 entry", "2 entries".
std::string format_count(uint64_t count, std::string_view singular, std::string_view plural);

// `text` as one line, with everything that could steer a terminal replaced by '?': control
// characters of 7 and 8 bits, line ends, marks of the direction of writing, and bytes that are no
// UTF-8. Letters of all languages stay.
std::string printable_line(std::string_view text);
// The same for each of its lines.
std::string printable_text(std::string_view text);

// `text` as one word of a shell, in quotes, whatever is in it.
std::string shell_word(std::string_view text);

// Text of a JSON value, in which the same characters are written as \uXXXX, so that nothing is
// lost. Each level is indented by so many; below 0: it is one line.
std::string printable_json(const nlohmann::ordered_json &json, int indent = 2);

// " (did you mean `...`?)" with the one of `known` that is nearest to `word`, by letters missing,
// added, wrong or exchanged, or that begins with it; nothing when none is near.
std::string did_you_mean(std::string_view word, const Words &known);

}  // namespace cairn::cli
