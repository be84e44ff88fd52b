// SPDX-License-Identifier: MIT
#include "remotes/http_index.h"

#include <algorithm>
#include <charconv>

#include "remotes/names.h"

namespace cairn::remotes {
namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

}  // namespace

std::optional<IndexTimes> parse_index(std::string_view text) {
    IndexTimes times;
    for (std::int64_t count = 0; !text.empty(); ++count) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const std::size_t blank = std::min(line.find(' '), line.size());
        const std::string_view name = line.substr(0, blank);
        const auto number = number_in(line.substr(std::min(blank + 1, line.size())));
        if (name == ".") {
            return text.empty() && number == count ? std::optional(times) : std::nullopt;
        }
        if (is_entry(name) && name != kIndexName) times.emplace(name, number);
    }
    return std::nullopt;
}

std::string index_text(const IndexTimes &times) {
    std::string text;
    for (const auto &[name, time] : times) {
        text.append(name).append(" ").append(time ? std::to_string(*time) : "-").append("\n");
    }
    return text.append(". ").append(std::to_string(times.size())).append("\n");
}

}  // namespace cairn::remotes
