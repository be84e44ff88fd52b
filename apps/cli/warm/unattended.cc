// SPDX-License-Identifier: MIT
#include "warm/unattended.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kPressureMax = 10;     // percent of the last ten seconds
constexpr uint64_t kAvailableMin = 10;  // one part of so many of the memory

std::string text_of(const fs::path &path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::string all = text.str();
    while (all.ends_with('\n')) all.pop_back();
    return all;
}

// The number behind a word.
template <typename Number>
std::optional<Number> number_behind(std::string_view text, std::string_view word) {
    size_t at = text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    at = text.find_first_not_of(' ', at + word.size());
    if (at == std::string_view::npos) return std::nullopt;
    Number number = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + text.size(), number);
    return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// A battery gives, and no other supply is on. Batteries of mice and the like do not count.
bool is_on_battery(const fs::path &supplies) {
    bool gives = false;
    std::error_code error;
    for (const auto &supply : fs::directory_iterator(supplies, error)) {
        const std::string type = text_of(supply.path() / "type");
        if (type != "Battery" && text_of(supply.path() / "online") == "1") return false;
        gives |= type == "Battery" && text_of(supply.path() / "scope") != "Device" &&
                 text_of(supply.path() / "status") == "Discharging";
    }
    return gives;
}

bool is_memory_short(const fs::path &proc) {
    const auto pressure = number_behind<double>(text_of(proc / "pressure/memory"), "some avg10=");
    if (pressure && *pressure > kPressureMax) return true;
    const std::string memory = text_of(proc / "meminfo");
    const auto total = number_behind<uint64_t>(memory, "MemTotal:");
    const auto available = number_behind<uint64_t>(memory, "MemAvailable:");
    return total && available && *available < *total / kAvailableMin;
}

}  // namespace

std::string reason_to_rest(const std::string &sys, const std::string &proc) {
    if (is_on_battery(fs::path(sys) / "class/power_supply")) return "the machine runs on battery";
    if (is_memory_short(proc)) return "memory is short";
    return "";
}

}  // namespace cairn::cli
