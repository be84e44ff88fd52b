// SPDX-License-Identifier: MIT
// `cairn clear`: empties caches, or removes what was stored in a time, also while applications use
// them.
#include <cairn/cairn_program_cache.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "cache/generations.h"
#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Applications that are running keep working; what they need next is compiled again.
TIME is 2026-01-31, 2026-01-31T12:00:00 (both local time), or @SECONDS since 1970.

Examples:
  cairn clear egl-0123456789abcdef
  cairn clear --all
  cairn clear --application egl
  cairn clear --all --since 2026-01-31 --until 2026-02-01

Exit codes: 0 cleared, 1 a cache does not exist or could not be cleared, 2 wrong usage.)";

struct Options {
    std::string dir;
    std::string cache;
    bool all = false;
    std::string application;
    std::optional<std::string> since;
    std::optional<std::string> until;

    bool has_range() const { return since || until; }
};

// [begin, end) in milliseconds since 1970.
struct Range {
    uint64_t begin_ms = 0;
    uint64_t end_ms = UINT64_MAX;
};

std::optional<uint64_t> seconds_of(const std::string &text) {
    const bool is_number = text.size() > 1 && text.size() < 14 && text[0] == '@' &&
                           text.find_first_not_of("0123456789", 1) == std::string::npos;
    if (is_number) {
        return std::stoull(text.substr(1));
    }
    for (const char *format : {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"}) {
        std::tm time = {};
        const char *end = strptime(text.c_str(), format, &time);
        if (end == nullptr || *end != '\0') {
            continue;
        }
        time.tm_isdst = -1;
        const int day = time.tm_mday;
        const std::time_t seconds = std::mktime(&time);
        if (seconds >= 0 && time.tm_mday == day) {
            return static_cast<uint64_t>(seconds);
        }
    }
    return std::nullopt;
}

uint64_t time_of(const char *option, const std::optional<std::string> &text,
                 uint64_t otherwise_ms) {
    if (!text) {
        return otherwise_ms;
    }
    const auto seconds = seconds_of(*text);
    if (!seconds) {
        throw Failure(kExitUsage,
                      fmt::format("{} `{}`: no such time; write 2026-01-31, 2026-01-31T12:00:00 or "
                                  "@SECONDS",
                                  option, *text));
    }
    return *seconds * 1000;
}

Range range_of(const Options &options) {
    Range range;
    range.begin_ms = time_of("--since", options.since, range.begin_ms);
    range.end_ms = time_of("--until", options.until, range.end_ms);
    if (range.begin_ms > range.end_ms) {
        throw Failure(kExitUsage, "--since is later than --until");
    }
    return range;
}

void clear_cache(const std::string &root, const std::string &identifier) {
    const CacheHandle cache = open_cache(root, identifier, Access::write);
    const cairn_stats before = cache_stats(cache);
    require_ok(cache, cairn_clear(cache.get()), fmt::format("clear `{}`", identifier));
    const cairn_stats after = cache_stats(cache);
    const uint64_t freed =
        before.disk_bytes > after.disk_bytes ? before.disk_bytes - after.disk_bytes : 0;
    print_line(fmt::format("Cleared {}: removed {}, gave back {}", identifier,
                           format_count(before.entries, "entry", "entries"), format_bytes(freed)));
}

void clear_range(const std::string &root, const std::string &identifier, const Range &range) {
    const CacheHandle cache = open_cache(root, identifier, Access::write);
    uint64_t removed = 0;
    require_ok(cache, cairn_clear_range(cache.get(), range.begin_ms, range.end_ms, &removed),
               fmt::format("clear `{}`", identifier));
    print_line(fmt::format("Cleared {}: removed {}", identifier,
                           format_count(removed, "entry", "entries")));
}

std::vector<std::string> chosen(const Options &options, const std::string &root) {
    if (options.all) {
        return list_caches(root);
    }
    if (options.application.empty()) {
        return {options.cache};
    }
    std::vector<std::string> identifiers;
    const auto directory = Directory::open(root);
    if (directory.ok()) {
        for (const KnownGeneration &each : list_generations(directory.value())) {
            if (each.application == options.application) {
                identifiers.push_back(each.identifier);
            }
        }
    }
    std::sort(identifiers.begin(), identifiers.end());
    return identifiers;
}

int clear(const Options &options) {
    if (options.cache.empty() && !options.all && options.application.empty()) {
        throw Failure(kExitUsage, "name the cache to clear (`cairn ls` lists them), or use --all");
    }
    const Range range = range_of(options);
    const std::string root = resolve_root(options.dir);
    require_usable_root(root);
    const std::vector<std::string> identifiers = chosen(options, root);
    if (identifiers.empty()) {
        print_line(fmt::format(
            "Nothing to clear: no caches in {}{}", root,
            options.application.empty() ? "" : fmt::format(" of `{}`", options.application)));
    }
    int exit_code = kExitOk;
    for (const std::string &identifier : identifiers) {
        try {
            options.has_range() ? clear_range(root, identifier, range)
                                : clear_cache(root, identifier);
        } catch (const Failure &failure) {
            complain(failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

}  // namespace

void add_clear_command(CLI::App &app, int &exit_code) {
    CLI::App *command = app.add_subcommand(
        "clear", "Remove the entries of one cache, of an application's, or of all");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    CLI::Option *name =
        command
            ->add_option("CACHE", options->cache, "Identifier of a cache, as `cairn ls` shows it")
            ->type_name("");
    CLI::Option *application =
        command
            ->add_option("--application", options->application,
                         "Every program cache of an application, such as `egl`")
            ->type_name("NAME")
            ->excludes(name);
    command->add_flag("--all", options->all, "Every cache in the directory")
        ->excludes(name)
        ->excludes(application);
    // Also when it is empty, as an unset variable is: not everything is meant then.
    command
        ->add_option_function<std::string>(
            "--since", [options](const std::string &text) { options->since = text; },
            "Only what was stored at this time or later")
        ->type_name("TIME");
    command
        ->add_option_function<std::string>(
            "--until", [options](const std::string &text) { options->until = text; },
            "Only what was stored before this time")
        ->type_name("TIME");
    add_dir_option(*command, options->dir);
    command->callback([options, &exit_code] { exit_code = clear(*options); });
}

}  // namespace cairn::cli
