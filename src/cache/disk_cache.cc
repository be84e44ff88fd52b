// SPDX-License-Identifier: MIT
#include "cache/disk_cache.h"

#include <new>

namespace cairn {
namespace {

// Entries whose places are known at once while the newest are visited.
constexpr std::size_t kNewestMax = 1'000'000;

}  // namespace

Result<std::unique_ptr<DiskCache>> DiskCache::open(const StoreOptions &options) {
    TRY_ASSIGN(std::unique_ptr<Store> store, Store::open(options));
    std::unique_ptr<DiskCache> cache(new (std::nothrow) DiskCache(std::move(store)));
    if (cache == nullptr) return Error::no_memory;
    return cache;
}

void DiskCache::visit_newest(const std::function<bool(Bytes)> &visit) {
    for (const Location location : store_->newest(kNewestMax)) {
        const BlobRef entry = store_->key_at(location);
        if (entry && !visit(entry->key())) return;
    }
}

}  // namespace cairn
