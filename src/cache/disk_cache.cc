// SPDX-License-Identifier: MIT
#include "cache/disk_cache.h"

#include "cache/layer_file.h"
#include "cache/start_order.h"
#include "os/root.h"

namespace cairn {

Result<Directory> DiskCache::directory() const {
    TRY_ASSIGN(const Directory root, open_root(place_.root, Create::no, Log()));
    return root.open_directory(place_.identifier);
}

// What others see of the cache shrinks last: who notices that it was cleared finds nothing old.
Status DiskCache::clear() {
    const auto own = directory();
    if (own.ok()) {
        const auto hidden = hide_layers(own.value(), 0, UINT64_MAX);
        if (!hidden.ok()) return hidden.error();
        forget_order(own.value());
    }
    return store_->clear();
}

Result<std::uint64_t> DiskCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    std::uint64_t hidden = 0;
    if (const auto own = directory(); own.ok()) {
        TRY_ASSIGN(hidden, hide_layers(own.value(), begin_ns, end_ns));
        forget_order(own.value());  // it does not say when a key was used
    }
    TRY_ASSIGN(const std::uint64_t removed, store_->clear_range(begin_ns, end_ns));
    return removed + hidden;
}

}  // namespace cairn
