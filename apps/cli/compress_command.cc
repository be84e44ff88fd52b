// SPDX-License-Identifier: MIT
// `cairn compress`: makes caches smaller, also while applications use them.

#include "caches.h"
#include "command.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Nothing is lost, and a cache holds more below the same limit. An entry that is read from disk costs
some microseconds more. What an application is writing just now stays as it is.

Examples:
  cairn compress gl-0123456789abcdef
  cairn compress --application glmark2-es2
  cairn compress --all

Exit codes: 0 compressed (there may be nothing to do), 1 a cache does not exist or could not be
compressed, 2 wrong usage.)";

std::string compress_cache(const std::string &root, const std::string &identifier) {
    const Progress progress("Compressing " + identifier);
    const CacheHandle cache = open_cache(root, identifier, Access::read_write);
    const uint64_t before = cache_stats(cache).disk_bytes;
    require_ok(cache, cairn_compress(cache.get()), fmt::format("compress `{}`", identifier));
    const uint64_t after = cache_stats(cache).disk_bytes;
    uint64_t value_bytes = 0;
    uint64_t stored_bytes = 0;
    for_each_entry(cache, fmt::format("list `{}`", identifier), [&](const cairn_entry &entry) {
        value_bytes += entry.value_size;
        stored_bytes += entry.stored_size;
        return true;
    });
    return fmt::format("Compressed {}: {} of values take {}, gave back {}", identifier,
                       format_bytes(value_bytes), format_bytes(stored_bytes),
                       format_bytes(before > after ? before - after : 0));
}

Run define(Arguments &take) {
    auto selection = std::make_shared<Selection>();
    add_selection(take, *selection, "Caches, as `cairn ls` shows them", Asks::no);
    return [selection] { return change_selected(*selection, "compress", compress_cache); };
}

}  // namespace

const Command compress_command = {"compress", "Make caches smaller, an application's, or all",
                                  kFooter, define};

}  // namespace cairn::cli
