// SPDX-License-Identifier: MIT
// `cairn clear`: empties caches, also while applications use them.
#include <fmt/format.h>

#include <memory>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Applications that are running keep working; what they need next is compiled again.

Examples:
  cairn clear egl-0123456789abcdef
  cairn clear --all

Exit codes: 0 cleared, 1 a cache does not exist or could not be cleared, 2 wrong usage.)";

void clear_cache(const std::string &root, const std::string &identifier) {
    const CacheHandle cache = open_cache(root, identifier, Access::write);
    const cairn_stats before = cache_stats(cache);
    require_ok(cache, cairn_clear(cache.get()), fmt::format("clear `{}`", identifier));
    const cairn_stats after = cache_stats(cache);
    const uint64_t freed =
        before.disk_bytes > after.disk_bytes ? before.disk_bytes - after.disk_bytes : 0;
    fmt::print("Cleared {}: removed {}, gave back {}\n", identifier,
               format_count(before.entries, "entry", "entries"), format_bytes(freed));
}

int clear_all(const std::string &root) {
    const std::vector<std::string> identifiers = list_caches(root);
    if (identifiers.empty()) {
        fmt::print("Nothing to clear: no caches in {}\n", root);
    }
    int exit_code = kExitOk;
    for (const std::string &identifier : identifiers) {
        try {
            clear_cache(root, identifier);
        } catch (const Failure &failure) {
            fmt::print(stderr, "cairn: {}\n", failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

}  // namespace

void add_clear_command(CLI::App &app, int &exit_code) {
    struct Options {
        std::string dir;
        std::string cache;
        bool all = false;
    };
    CLI::App *command = app.add_subcommand("clear", "Remove all entries of one cache, or of all");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    CLI::Option *name =
        command
            ->add_option("CACHE", options->cache, "Identifier of a cache, as `cairn ls` shows it")
            ->type_name("");
    command->add_flag("--all", options->all, "Every cache in the directory")->excludes(name);
    add_dir_option(*command, options->dir);
    command->callback([options, &exit_code] {
        if (options->cache.empty() && !options->all) {
            throw Failure(kExitUsage,
                          "name the cache to clear (`cairn ls` lists them), or use --all");
        }
        const std::string root = resolve_root(options->dir);
        require_usable_root(root);
        if (options->all) {
            exit_code = clear_all(root);
        } else {
            clear_cache(root, options->cache);
        }
    });
}

}  // namespace cairn::cli
