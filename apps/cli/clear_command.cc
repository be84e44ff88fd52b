// SPDX-License-Identifier: MIT
// `cairn clear`: empties caches, also while applications use them.
#include <fmt/format.h>

#include "caches.h"
#include "change_command.h"
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

}  // namespace

void add_clear_command(CLI::App &app, int &exit_code) {
    add_change_command(
        app, {"clear", "Remove all entries of one cache, or of all", kFooter, clear_cache},
        exit_code);
}

}  // namespace cairn::cli
