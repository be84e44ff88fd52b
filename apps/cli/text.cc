// SPDX-License-Identifier: MIT
#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <locale>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/bytes.h"

namespace cairn::cli {
namespace {

constexpr char32_t kNoCharacter = UINT32_MAX;

struct Character {
    std::string_view bytes;
    char32_t code;  // kNoCharacter: a byte that is no UTF-8

    bool is_safe() const;
};

// Takes a character off the front of a text that is not empty.
Character take_character(std::string_view &text) {
    static const auto &utf8 =
        std::use_facet<std::codecvt<char32_t, char8_t, std::mbstate_t>>(std::locale::classic());
    const auto *const begin = reinterpret_cast<const char8_t *>(text.data());
    const char8_t *end = begin;
    std::mbstate_t state = {};
    char32_t code = 0;
    char32_t *decoded = nullptr;
    (void)utf8.in(state, begin, begin + text.size(), end, &code, &code + 1, decoded);
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    if (end == begin || is_surrogate) {
        code = kNoCharacter;
        end = begin + 1;
    }
    const Character taken = {text.substr(0, static_cast<size_t>(end - begin)), code};
    text.remove_prefix(taken.bytes.size());
    return taken;
}

bool Character::is_safe() const {
    constexpr std::pair<char32_t, char32_t> kUnsafe[] = {
        {0x00, 0x1f},        // C0
        {0x7f, 0x9f},        // DEL, C1
        {0x61c, 0x61c},      // Arabic letter mark
        {0x200e, 0x200f},    // marks of direction
        {0x2028, 0x202e},    // ends of lines and paragraphs, embeddings and overrides of direction
        {0x2066, 0x2069},    // isolates of direction
        {0xfff9, 0xfffb},    // interlinear annotations
        {0xe0000, 0xe007f},  // tags, which nobody sees
        {kNoCharacter, kNoCharacter},
    };
    return std::none_of(std::begin(kUnsafe), std::end(kUnsafe), [&](const auto &range) {
        return code >= range.first && code <= range.second;
    });
}

// As \uXXXX.
std::string json_escaped(std::string_view character) {
    const std::string quoted = nlohmann::json(character).dump(-1, ' ', /*ensure_ascii=*/true);
    return quoted.substr(1, quoted.size() - 2);
}

// Edits that lead from one word to the other (optimal string alignment).
size_t distance(std::string_view one, std::string_view other) {
    std::vector<size_t> before_last, last(other.size() + 1), row(other.size() + 1);
    for (size_t j = 0; j <= other.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= one.size(); ++i) {
        before_last = last;
        last = row;
        row[0] = i;
        for (size_t j = 1; j <= other.size(); ++j) {
            const bool is_same = one[i - 1] == other[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same ? 0 : 1)});
            const bool is_exchanged =
                i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if (is_exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string format_bytes(uint64_t bytes) {
    static constexpr std::array<const char *, 6> kUnits = {"KiB", "MiB", "GiB",
                                                           "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double number = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    // 1023.95 would be printed as 1024.0.
    while (number >= 1023.95 && unit + 1 < kUnits.size()) {
        number /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", number, kUnits[unit]);
}

std::string format_duration_ns(uint64_t nanoseconds) {
    const double milliseconds = static_cast<double>(nanoseconds) / 1e6;
    if (nanoseconds == 0) return "0 ms";
    if (milliseconds < 0.9995) return fmt::format("{:.0f} us", std::max(1.0, milliseconds * 1e3));
    if (milliseconds < 999.95) return fmt::format("{:.1f} ms", milliseconds);
    if (milliseconds < 59'995) return fmt::format("{:.2f} s", milliseconds / 1e3);
    const uint64_t seconds = (nanoseconds + 500'000'000) / 1'000'000'000;
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

std::string format_cost_ns(uint64_t nanoseconds) {
    return nanoseconds == 0 ? "-" : format_duration_ns(nanoseconds);
}

std::string format_time(uint64_t milliseconds_since_1970) {
    const auto seconds = static_cast<std::time_t>(milliseconds_since_1970 / 1000);
    std::tm parts = {};
    std::array<char, 32> text = {};
    if (localtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        return "unknown";
    }
    return text.data();
}

std::string format_key(const void *key, size_t key_size, size_t size_max) {
    const std::string text =
        hexadecimal({static_cast<const std::byte *>(key), std::min(key_size, size_max)});
    return key_size > size_max ? text + ".." : text;
}

std::string format_count(uint64_t count, std::string_view singular, std::string_view plural) {
    return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

std::string printable_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const Character next = take_character(text);
        line += next.is_safe() ? next.bytes : "?";
    }
    return line;
}

std::string printable_text(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        lines.append(printable_line(line)).append("\n");
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return lines;
}

std::string shell_word(std::string_view text) {
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'') {
            word += "'\\''";
        } else {
            word += c;
        }
    }
    return word += '\'';
}

std::string printable_json(const nlohmann::ordered_json &json, int indent) {
    const std::string raw =
        json.dump(indent, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
    std::string text;
    for (std::string_view rest = raw; !rest.empty();) {
        const Character next = take_character(rest);
        // All that is unsafe is inside of strings, but for the line ends between the members.
        text += next.code == '\n' || next.is_safe() ? std::string(next.bytes)
                                                    : json_escaped(next.bytes);
    }
    return text;
}

std::string did_you_mean(std::string_view word, const Words &known) {
    constexpr size_t kWordMax = 128;  // nothing that is known is longer
    constexpr size_t kBeginning = 3;  // letters that tell a word
    std::string best;
    size_t best_distance = std::max<size_t>(1, std::min(word.size(), kWordMax) / 3) + 1;
    for (const std::string &candidate : known) {
        if (candidate == word) continue;  // that is what was said
        const bool begins = word.size() >= kBeginning && candidate.starts_with(word);
        const size_t edits = begins ? 1 : distance(word.substr(0, kWordMax), candidate);
        // A word of other letters altogether is not meant.
        if (edits < best_distance && edits < candidate.size()) {
            best = candidate;
            best_distance = edits;
        }
    }
    return best.empty() ? "" : fmt::format(" (did you mean `{}`?)", best);
}

}  // namespace cairn::cli
