// SPDX-License-Identifier: MIT
#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace cairn::cli {

std::string format_bytes(uint64_t bytes) {
    static constexpr std::array<const char *, 6> kUnits = {"KiB", "MiB", "GiB",
                                                           "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        return fmt::format("{} B", bytes);
    }
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
    if (nanoseconds == 0) {
        return "0 ms";
    }
    if (milliseconds < 0.9995) {
        return fmt::format("{:.0f} us", std::max(1.0, milliseconds * 1e3));
    }
    if (milliseconds < 999.95) {
        return fmt::format("{:.1f} ms", milliseconds);
    }
    if (milliseconds < 59'995) {
        return fmt::format("{:.2f} s", milliseconds / 1e3);
    }
    const uint64_t seconds = (nanoseconds + 500'000'000) / 1'000'000'000;
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
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
    const auto *bytes = static_cast<const unsigned char *>(key);
    std::string text;
    for (size_t i = 0; i < std::min(key_size, size_max); ++i) {
        text += fmt::format("{:02x}", bytes[i]);
    }
    return key_size > size_max ? text + ".." : text;
}

std::string format_count(uint64_t count, std::string_view singular, std::string_view plural) {
    return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

std::string printable_line(std::string_view text) {
    std::string line(text.substr(0, text.find('\n')));
    for (char &character : line) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte < 0x20 || byte == 0x7f) {
            character = '?';
        }
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

}  // namespace cairn::cli
