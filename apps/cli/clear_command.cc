// SPDX-License-Identifier: MIT
// `cairn clear`: empties caches, or removes what was stored in a time, also while applications use
// them.
#include <cairn/cairn_program_cache.h>

#include <ctime>

#include "cache/driver_cache.h"
#include "caches.h"
#include "command.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Applications that are running keep working; what they need next is compiled again. `cairn rm` removes caches
altogether. TIME is 2026-01-31, 2026-01-31T12:00:00 (both local time), or @SECONDS since 1970.

Examples:
  cairn clear gl-0123456789abcdef
  cairn clear --all
  cairn clear --application glmark2-es2
  cairn clear --all --since 2026-01-31 --until 2026-02-01

Exit codes: 0 cleared (there may be nothing to do), 1 a cache does not exist or could not be cleared, or the
answer was no, 2 wrong usage.)";

struct Options {
    Selection selection;
    std::optional<std::string> since;
    std::optional<std::string> until;
};

std::optional<uint64_t> seconds_of(const std::string &text) {
    const bool is_number = text.size() > 1 && text.size() < 14 && text[0] == '@' &&
                           text.find_first_not_of("0123456789", 1) == std::string::npos;
    if (is_number) return std::stoull(text.substr(1));
    for (const char *format : {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"}) {
        std::tm time = {};
        const char *end = strptime(text.c_str(), format, &time);
        if (end == nullptr || *end != '\0') continue;
        time.tm_isdst = -1;
        const int day = time.tm_mday;
        const std::time_t seconds = std::mktime(&time);
        if (seconds >= 0 && time.tm_mday == day) return static_cast<uint64_t>(seconds);
    }
    return std::nullopt;
}

// In milliseconds since 1970.
uint64_t time_of(const char *option, const std::optional<std::string> &text,
                 uint64_t otherwise_ms) {
    if (!text) return otherwise_ms;
    const auto seconds = seconds_of(*text);
    if (!seconds) {
        throw Failure(kExitUsage,
                      "{} `{}`: no such time; write 2026-01-31, 2026-01-31T12:00:00 or "
                      "@SECONDS",
                      option, *text);
    }
    return *seconds * 1000;
}

std::string clear_cache(const CacheHandle &cache, const std::string &identifier) {
    const cairn_stats before = cache_stats(cache);
    require_ok(cache, cairn_clear(cache.get()), fmt::format("clear `{}`", identifier));
    const cairn_stats after = cache_stats(cache);
    const uint64_t freed =
        before.disk_bytes > after.disk_bytes ? before.disk_bytes - after.disk_bytes : 0;
    return fmt::format("Cleared {}: removed {}, gave back {}", identifier,
                       format_count(before.entries, "entry", "entries"), format_bytes(freed));
}

std::string clear_range(const CacheHandle &cache, const std::string &identifier, uint64_t begin_ms,
                        uint64_t end_ms) {
    uint64_t removed = 0;
    require_ok(cache, cairn_clear_range(cache.get(), begin_ms, end_ms, &removed),
               fmt::format("clear `{}`", identifier));
    return fmt::format("Cleared {}: removed {}", identifier,
                       format_count(removed, "entry", "entries"));
}

int clear(const Options &options) {
    const uint64_t begin_ms = time_of("--since", options.since, 0);
    const uint64_t end_ms = time_of("--until", options.until, UINT64_MAX);
    if (begin_ms > end_ms) throw Failure(kExitUsage, "--since is later than --until");
    const bool is_whole = !options.since && !options.until;
    const int exit_code =
        change_selected(options.selection, "clear", [&](const auto &root, const auto &identifier) {
            const Progress progress("Clearing " + identifier);
            const CacheHandle cache = open_cache(root, identifier, Access::read_write);
            return is_whole ? clear_cache(cache, identifier)
                            : clear_range(cache, identifier, begin_ms, end_ms);
        });
    if (is_whole) change_selected_driver_caches(options.selection, clear_driver_caches);
    return exit_code;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    add_selection(take, options->selection, "Caches, as `cairn ls` shows them", Asks::yes);
    take.value("--since", options->since, "Only what was stored at this time or later", "TIME");
    take.value("--until", options->until, "Only what was stored before this time", "TIME");
    return [options] { return clear(*options); };
}

}  // namespace

const Command clear_command = {
    "clear", "Remove the entries of caches, of an application's, or of all", kFooter, define};

}  // namespace cairn::cli
