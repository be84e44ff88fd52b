// SPDX-License-Identifier: MIT
#include "cache/limit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "os/configuration.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr const char *kVariable = "CAIRN_LIMIT";
constexpr const char *kFileName = "limit";
constexpr std::string_view kFrontEndPrefix = "egl-";

std::optional<std::uint64_t> limit_of_environment(const Log &log) {
    const auto text = environment_variable(kVariable);
    if (!text || text->empty()) return std::nullopt;
    const auto limit = size_from_text(*text);
    if (!limit) {
        log.write(Severity::warning, "%s is no size like 512M or 4G: it counts for nothing",
                  kVariable);
    }
    return limit;
}

}  // namespace

std::optional<std::uint64_t> configured_limit(std::string_view application, const Log &log) {
    if (application.starts_with(kFrontEndPrefix)) {
        application.remove_prefix(kFrontEndPrefix.size());
    }
    auto limit = limit_of_environment(log);
    if (!limit) limit = Configuration::read(log).limit_bytes(application);
    if (limit) limit = std::max(*limit, kLimitLeast);
    return limit;
}

std::optional<std::uint64_t> recorded_limit(const Directory &directory) {
    const auto file = directory.open_file(kFileName, Access::read_only);
    if (!file.ok()) return std::nullopt;
    std::array<std::byte, 24> content = {};
    const auto size = file->read_at(0, content);
    if (!size.ok()) return std::nullopt;
    const auto *text = reinterpret_cast<const char *>(content.data());
    const char *end = text + size.value();
    std::uint64_t limit = 0;
    const auto read = std::from_chars(text, end, limit);
    const bool is_whole = read.ec == std::errc() && read.ptr + 1 == end && *read.ptr == '\n';
    return is_whole ? std::optional(limit) : std::nullopt;
}

bool record_limit(const Directory &directory, std::optional<std::uint64_t> limit_bytes) {
    if (recorded_limit(directory) == limit_bytes) return false;
    if (limit_bytes) {
        (void)directory.replace_file(kFileName, as_bytes(std::to_string(*limit_bytes) + "\n"));
    } else {
        (void)directory.remove_file(kFileName);
    }
    return true;
}

}  // namespace cairn
