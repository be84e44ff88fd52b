// SPDX-License-Identifier: MIT
#include "pinning.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "caches.h"
#include "output.h"

namespace cairn::dashboard {
namespace {

struct Found {
    std::string key;
    std::uint32_t cost_us;
};

struct BlobFreer {
    void operator()(cairn_blob *blob) const { cairn_blob_free(blob); }
};

}  // namespace

std::uint64_t pin_entries(const std::string &root, const std::string &identifier, Pin pin) {
    const cli::CacheHandle cache = cli::open_cache(root, identifier, Access::read_write);
    const cairn_stats stats = cli::cache_stats(cache);
    std::vector<Found> wanted;
    std::uint64_t stored_bytes = 0;
    cli::for_each_entry(cache, fmt::format("list `{}`", identifier), [&](const cairn_entry &entry) {
        const bool is_pinned = (entry.flags & CAIRN_PUT_PINNED) != 0;
        if (is_pinned == (pin == Pin::yes)) return true;
        wanted.push_back({{static_cast<const char *>(entry.key), entry.key_size}, entry.cost_us});
        stored_bytes += entry.value_size + entry.key_size;
        return true;
    });
    // The old records go only later: pinning may not be what makes eviction begin.
    if (stats.limit_bytes != CAIRN_NONE && stats.disk_bytes + stored_bytes > stats.limit_bytes) {
        throw cli::Failure(
            cli::kExitFailure,
            "`{}` has no room for that: storing its entries again takes {} below a limit of {}; "
            "raise the limit of the application first",
            identifier, cli::format_bytes(stored_bytes), cli::format_bytes(stats.limit_bytes));
    }
    std::uint64_t count = 0;
    for (const Found &each : wanted) {
        cairn_blob *read = nullptr;
        if (cairn_get(cache.get(), each.key.data(), each.key.size(), &read) != CAIRN_OK) continue;
        const std::unique_ptr<cairn_blob, BlobFreer> blob(read);
        cairn_put_options options = {};
        options.size = sizeof options;
        options.flags = pin == Pin::yes ? std::uint32_t{CAIRN_PUT_PINNED} : 0;
        options.cost_us = each.cost_us;
        cli::require_ok(cache,
                        cairn_put(cache.get(), each.key.data(), each.key.size(),
                                  cairn_blob_data(read), cairn_blob_size(read), &options),
                        fmt::format("store an entry of `{}` again", identifier));
        ++count;
    }
    return count;
}

}  // namespace cairn::dashboard
